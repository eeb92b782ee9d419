import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createKey, digestOf, parseKey } from '../../shared/kernel/auth/key.ts'
import { scopes } from '../../shared/kernel/auth/scope.ts'
import { createSql, type Sql } from '../../shared/kernel/sql/client.ts'
import { migrate } from '../../shared/kernel/sql/migrate.ts'
import { findKey, insertKey } from '../../shared/store/keys.ts'
import { parseConfig, type UpstreamName } from '../gateway/env.ts'
import { build } from './build.ts'
import { startCronTicker } from './cron-ticker.ts'
import { type DataFolder, emptyDataFolder, takeDataFolder } from './data-folder.ts'
import { startDatabaseEndpoint } from './database/endpoint.ts'
import { mountPorts, PortError, requireFreePorts } from './ports.ts'
import { fromRoot } from './root.ts'
import { credentialSettings } from './sandbox-credentials.ts'
import { startWorkers, type Workers } from './workers.ts'

export type LaunchOptions = {
  readonly host: string
  readonly port: number
  readonly databasePort: number
  readonly dataFolder: string
  /** A Postgres to use instead of the embedded one. */
  readonly databaseUrl?: string | undefined
  /** Starts from nothing: empties the data folder first. */
  readonly fresh: boolean
  /** Settings by name, as the README lists them. */
  readonly settings: Readonly<Record<string, string>>
  readonly log: (line: string) => void
}

export type Running = {
  readonly url: string
  readonly key: string
  /** A connection string for `psql` and for the Neon driver. */
  readonly databaseUrl: string
  readonly dataFolder: string
  readonly workers: Workers
  readonly stop: () => Promise<void>
}

/** Starts everything on this machine: the database endpoint, the schema, a first key, the three Workers, the cron ticker. */
export async function launch(options: LaunchOptions): Promise<Running> {
  const { host, port, databasePort, log } = options
  const bindings = bindingsFrom(options)
  const folder = takeDataFolder(options.dataFolder)
  const stops: (() => unknown)[] = [folder.release]
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end()
  }
  try {
    if (options.fresh) emptyDataFolder(folder)
    if (databasePort >= port && databasePort <= port + mountPorts.length) {
      throw new PortError(
        `port ${databasePort} is one of the mounts' (${port} to ${port + mountPorts.length}); choose another with --database-port`,
      )
    }
    await requireFreePorts(host, [
      { port, flag: '--port' },
      ...mountPorts.map(({ offset }) => ({ port: port + offset, flag: '--port' })),
    ])
    await requireFreePorts('127.0.0.1', [{ port: databasePort, flag: '--database-port' }])
    const [database] = await Promise.all([
      startDatabaseEndpoint({
        port: databasePort,
        host: '127.0.0.1',
        password: readOrMake(folder, 'database-password', () => randomBytes(24).toString('base64url')),
        backend: options.databaseUrl
          ? { kind: 'postgres', url: options.databaseUrl }
          : { kind: 'pglite', dataDir: folder.file('postgres'), queryTimeoutMs: statementLimitMs },
      }),
      build(),
    ])
    stops.push(() => database.close())
    const sql = createSql(database.url)
    await migrate(sql, readMigrations())
    const key = await ensureKey(sql, folder)
    const stateFolder = folder.file('state')
    mkdirSync(stateFolder, { recursive: true, mode: 0o700 })
    const workers = await startWorkers({ host, port, stateFolder, bindings: bindings(database.url), log })
    stops.push(() => workers.stop())
    const onCronError = (error: unknown) =>
      log(JSON.stringify({ level: 'error', message: 'a cron firing failed', error: String(error) }))
    stops.push(startCronTicker(workers.crons, workers.scheduled, onCronError))
    return {
      url: `http://${authority(host, port)}`,
      key,
      databaseUrl: database.url,
      dataFolder: folder.path,
      workers,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** One statement holds up everybody on the embedded engine; a client that knows better sets `statement_timeout`. */
const statementLimitMs = 60_000

/** Migrations of the tidegate schema, in order. */
export const readMigrations = (): { name: string; text: string }[] => {
  const folder = fromRoot('shared/store/migrations')
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ name, text: readFileSync(`${folder}/${name}`, 'utf8') }))
}

const sandboxSettings = [
  'TIME_SCALE',
  'SANDBOX_SEED',
  'SANDBOX_ALWAYS_OPEN',
  'MST_SCHEME_ALIASES',
  'PLACEMENT_REJECT_STATUS',
  'SELF_TRADE',
]

/** What each script gets, once the database's address is known. Checked first: a wrong setting stops the start. */
function bindingsFrom({ host, settings }: LaunchOptions) {
  const open = isLoopback(host) ? '1' : '0'
  const chosen = { ANONYMOUS: open, SANDBOX_CONTROL: open, ...settings }
  const config = parseConfig(chosen)
  // The sandbox's own keys are for the sandbox: a real upstream gets its credential from the user, or none.
  const ofSandbox = Object.entries(credentialSettings).filter(
    ([name]) => config.upstreams[name.slice('CREDENTIAL_'.length) as UpstreamName] === 'sandbox',
  )
  const only = (test: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(settings).filter(([name]) => test(name)))
  return (databaseUrl: string) => ({
    gateway: { ...Object.fromEntries(ofSandbox), ...chosen, DATABASE_URL: databaseUrl },
    relay: only((name) => name.startsWith('FEED_')),
    sandbox: only((name) => sandboxSettings.includes(name)),
  })
}

const settingNames =
  /^(UPSTREAM_|CREDENTIAL_|HOST_|FEED_|JOBS_|SANDBOX_|MST_|ANONYMOUS$|TIME_SCALE$|PLACEMENT_REJECT_STATUS$|SELF_TRADE$|VAULT_KEY$|TRUSTED_PROXIES$)/

/** The settings of Tidegate among the variables of a process. */
export const settingsFrom = (env: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      settingNames.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  )

/** The key kept in the folder, known to the database, which may be another one than last time. */
async function ensureKey(sql: Sql, folder: DataFolder): Promise<string> {
  const made = await createKey((count) => new Uint8Array(randomBytes(count)))
  const text = readOrMake(folder, 'key', () => made.text)
  const key = parseKey(text)
  if (!key)
    throw new Error(`${folder.file('key')} does not hold a Tidegate key; remove the file, or start with --fresh`)
  if (!(await findKey(sql, key.id))) {
    await insertKey(sql, { id: key.id, name: 'first key', digest: await digestOf(key.secret), scopes: [...scopes] })
  }
  return text
}

function readOrMake({ file }: DataFolder, name: string, make: () => string): string {
  try {
    return readFileSync(file(name), 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const text = make()
    writeFileSync(file(name), `${text}\n`, { mode: 0o600 })
    return text
  }
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127\./.test(host)

const authority = (host: string, port: number): string => {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `${name.includes(':') ? `[${name}]` : name}:${port}`
}
