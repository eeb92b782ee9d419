import type { Socket } from 'node:net'
import pg from 'pg'
import { fatalError, type SqlError } from '../sql-error.ts'
import type { CancelKey, Startup } from '../wire/startup.ts'

/** A connection with the server, past its start-up, with nobody else reading it. */
export type Upstream = {
  readonly socket: Socket
  readonly parameters: ReadonlyMap<string, string>
  readonly key: CancelKey
}

const connectTimeoutMs = 10_000

/** What `pg` has and its types do not say: https://github.com/brianc/node-postgres `lib/connection.js`, 8.23. */
type RawConnection = NodeJS.EventEmitter & {
  stream: Socket
  connect(port: number, host: string): void
  requestSsl(): void
  cancel(processId: number, secretKey: number): void
}
type RawClient = pg.Client & {
  readonly connection: RawConnection
  readonly processID: number
  readonly secretKey: number
  readonly ssl: boolean | object
}

/**
 * Connects with the credentials and the TLS settings of the URL. The start-up is done by `pg`; its socket is then taken
 * over.
 *
 * @param database undefined: the URL's own
 * @throws {SqlError} 08006 when the server does not answer, 57P03 while it starts; what it says of the request itself as it is
 */
export async function connectUpstream(
  url: string,
  database: string | undefined,
  { options, settings }: Pick<Startup, 'options' | 'settings'>,
): Promise<Upstream> {
  const client = new pg.Client({
    connectionString: databaseUrl(url, database),
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: settings.get('application_name') ?? 'tidegate',
    ...withOptions(url, options, settings),
  }) as RawClient
  const parameters = new Map<string, string>()
  const { connection } = client
  connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) =>
    parameters.set(parameterName, parameterValue),
  )
  client.on('error', () => undefined) // after the start-up the socket's own events tell
  try {
    await client.connect()
  } catch (error) {
    connection.stream.destroy()
    throw toSqlError(error, client)
  }
  const socket = connection.stream
  for (const event of ['data', 'end', 'close', 'error', 'readable'] as const) socket.removeAllListeners(event)
  socket.pause()
  socket.on('error', () => undefined) // "close" follows
  return { socket, parameters, key: { processId: client.processID, secretKey: client.secretKey } }
}

type ParameterStatus = { readonly parameterName: string; readonly parameterValue: string }

/** Sends a CancelRequest on a connection of its own, with TLS where the session has it. The server answers nothing. */
export function cancelUpstream(url: string, { processId, secretKey }: CancelKey): void {
  const { host, port, ssl } = new pg.Client(url) as RawClient
  const connection = new (pg.Connection as unknown as new (options: object) => RawConnection)({ ssl })
  const done = () => connection.stream.destroy()
  connection.on('error', done)
  connection.once('end', done)
  const cancel = () => connection.cancel(processId, secretKey)
  if (ssl) {
    connection.once('connect', () => connection.requestSsl())
    connection.once('sslconnect', cancel)
  } else connection.once('connect', cancel)
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}` as unknown as number, '')
  else connection.connect(port, host)
  setTimeout(done, connectTimeoutMs).unref()
}

function databaseUrl(url: string, database: string | undefined): string {
  if (database === undefined) return url
  const own = new URL(url)
  own.pathname = `/${encodeURIComponent(database)}`
  return own.href
}

/** Parameters that `pg` knows by other means. */
const notAsOption = new Set(['application_name', 'client_encoding'])

/** Run-time parameters of a client as `options`, after those of the URL, which it may so override. */
function withOptions(url: string, options: string, settings: ReadonlyMap<string, string>): { options?: string } {
  const escaped = (text: string) => text.replace(/[\\\s]/g, '\\$&')
  const own = [...settings].flatMap(([name, value]) =>
    notAsOption.has(name) ? [] : `-c ${escaped(`${name}=${value}`)}`,
  )
  const all = [new URL(url).searchParams.get('options') ?? '', options, ...own].filter(Boolean).join(' ')
  return all === '' ? {} : { options: all }
}

/** Server errors about who we are, not about what the client wants: these are the endpoint's configuration. */
const ourFault = /^(28|08|53300)/

function toSqlError(error: unknown, { host, port }: RawClient): SqlError {
  const where = `${host}:${port}`
  const { code, message, errors } = error as { code?: string; message?: string; errors?: readonly { code?: string }[] }
  if (error instanceof pg.DatabaseError && code !== undefined) {
    if (ourFault.test(code))
      return fatalError('08006', `the database server at ${where} refused the connection: ${message} (${code})`)
    return fatalError(code, String(message))
  }
  const reason = code ?? errors?.[0]?.code
  const what = reason ? (reasons[reason] ?? reason) : String(message)
  return fatalError('08006', `the database server at ${where} cannot be reached: ${what}`)
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED)',
  ENOTFOUND: 'there is no such host (ENOTFOUND)',
  ETIMEDOUT: 'it does not answer (ETIMEDOUT)',
  EHOSTUNREACH: 'there is no way to it (EHOSTUNREACH)',
}
