// `npm start`: everything on this machine, until it is told to end.
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { launch, type Running, settingsFrom } from './launch.ts'
import { mountPorts } from './ports.ts'
import { sandboxCredentials } from './sandbox-credentials.ts'

type Flags = { port: number; host: string; data: string; databasePort: number; databaseUrl?: string; fresh: boolean }

const portNumber = (text: string): number => {
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > 65_535)
    throw new InvalidArgumentError('a whole number from 1 to 65535 is expected.')
  return Number(text)
}

const flags = new Command('tidegate start')
  .description(manifest.description)
  .option('--port <number>', 'port of the gateway; the mounts take the eight after it', portNumber, 8787)
  .option('--host <address>', 'address to listen on', '127.0.0.1')
  .option('--data <folder>', 'folder of the key, the database and the state', '.tidegate')
  .option('--database-port <number>', 'port of the database (Postgres wire, and HTTP)', portNumber, 5481)
  .option('--database-url <url>', 'a Postgres to use instead of the embedded one', process.env.DATABASE_URL)
  .option('--fresh', 'empty the data folder first', false)
  .parse()
  .opts<Flags>()

let running: Running | undefined
let ending = false

async function end(code: number): Promise<void> {
  if (ending) return
  ending = true
  // What does not end in order is ended: the engine and the runtime notice that this process is gone.
  setTimeout(() => process.exit(code), 5_000).unref()
  await running?.stop().catch((error) => console.error(String(error)))
  process.exit(code)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(0))
// The launcher is gone, perhaps by SIGKILL.
process.on('disconnect', () => end(0))

const startedAtMs = performance.now()
let logFile: number | undefined
const log = (line: string) => {
  if (logFile !== undefined) writeSync(logFile, `${line}\n`)
}

try {
  running = await launch({
    host: flags.host,
    port: flags.port,
    databasePort: flags.databasePort,
    dataFolder: flags.data,
    databaseUrl: flags.databaseUrl,
    fresh: flags.fresh,
    settings: settingsFrom(process.env),
    log,
  })
  logFile = openSync(join(running.dataFolder, 'log'), 'a', 0o600)
  process.on('exit', () => logFile !== undefined && closeSync(logFile))
  console.log(greeting(running, performance.now() - startedAtMs))
} catch (error) {
  console.error(`Tidegate cannot start: ${error instanceof Error ? error.message : String(error)}`)
  await end(1)
}

function greeting({ url, key, databaseUrl, dataFolder }: Running, elapsedMs: number): string {
  const { CLOUD, MST, CLOB } = sandboxCredentials
  const ports = mountPorts.map(({ mount, offset }) => `${mount.toLowerCase()} ${flags.port + offset}`)
  const bearer = `-H "Authorization: Bearer ${key}"`
  const socket = `${url.replace(/^http/, 'ws')}/feed?symbols=ORBT,ORB-USD`
  const job = {
    name: 'open markets',
    schedule: '* * * * *',
    task: { kind: 'poll', upstream: 'gamma', path: '/markets?closed=false', sink: { kind: 'documents' } },
  }
  return `
Tidegate ${manifest.version} is ready at ${url} (${(elapsedMs / 1000).toFixed(1)} s)

  key        ${key}   (kept in ${join(dataFolder, 'key')})
  own ports  ${ports.join(', ')}
  Postgres   ${databaseUrl}
  log        ${join(dataFolder, 'log')}
  sandbox    cloud  ${CLOUD.access_key} ${CLOUD.secret_key}
             mst    ${MST.token}
             clob   ${CLOB.api_key} of ${CLOB.address}

Five lines to try:

1. A control-plane call; the gateway adds Basic
curl ${bearer} ${url}/cloud/public/api/v1/projects/prjalpha01/services

2. The managed service; the gateway adds svcv1
curl ${bearer} ${url}/mst/v1/me

3. An order-book call; the gateway signs it (L2)
curl ${bearer} ${url}/clob/auth/api-keys

4. Live prices on a websocket
node functions/cli/with-node.mjs -e "new WebSocket('${socket}').onmessage = ({ data }) => console.log(data)"

5. A job that polls every minute, and its rows
curl ${bearer} -H "Content-Type: application/json" -d '${JSON.stringify(job)}' ${url}/jobs
psql "${databaseUrl}" -c "select upstream, path, fetched_at from tidegate.documents"
`
}
