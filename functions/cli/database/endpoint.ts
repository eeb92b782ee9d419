import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { resolve } from 'node:path'
import type { Duplex } from 'node:stream'
import { createWebSocketStream, WebSocketServer } from 'ws'
import { AppError } from '../../../shared/kernel/errors.ts'
import type { DatabaseBackend } from './backend.ts'
import { answerSql } from './http/sql-route.ts'
import { embeddedName } from './names.ts'
import { openPglite } from './pglite/backend.ts'
import { templatePlace } from './pglite/template.ts'
import { openPostgres } from './postgres/backend.ts'
import { scramVerifier } from './wire/scram.ts'
import { serveWire } from './wire/serve.ts'
import type { Credentials } from './wire/startup.ts'

export type BackendOptions =
  | {
      readonly kind: 'pglite'
      /** Folder of the database; made when it is not there. */
      readonly dataDir: string
      /** File that new databases are made from; made when it is not there. Default: in the cache of the packages. */
      readonly templatePath?: string | undefined
      /** Default of `statement_timeout`; none unless given. */
      readonly queryTimeoutMs?: number | undefined
      /** Default of `idle_in_transaction_session_timeout`: 30 s, since one client's transaction keeps all others waiting. */
      readonly idleInTransactionTimeoutMs?: number | undefined
    }
  | { readonly kind: 'postgres'; readonly url: string }

export type DatabaseEndpointOptions = {
  /** 0: any free one. */
  readonly port: number
  /** A loopback address. */
  readonly host?: string | undefined
  readonly password: string
  readonly backend: BackendOptions
  /** Takes a line when the embedded engine has died by itself; default: the error output. */
  readonly log?: ((line: string) => void) | undefined
}

export type DatabaseEndpoint = {
  /** A connection string for `psql`, node-postgres and the Neon driver. */
  readonly url: string
  readonly port: number
  /** The process of the embedded engine; undefined: there is none, or it is being started. */
  readonly enginePid: () => number | undefined
  /** Ends all sessions, stores what the engine holds, frees the port and the folder. */
  readonly close: () => Promise<void>
}

/** The endpoint cannot listen where it was told to. */
export class EndpointAddressError extends AppError {
  override readonly name = 'EndpointAddressError'
  readonly code = 'database_endpoint.address'
  readonly status = 400
}

/**
 * Starts a database that is reached on one port in three ways: the wire protocol of PostgreSQL over TCP, the same over a
 * WebSocket (`/v2`), and SQL over HTTP (`POST /sql`), the latter two as the Neon driver speaks them.
 *
 * @throws {EndpointAddressError} the port is taken, or the host is not this machine
 * @throws {DatabaseFolderError} the folder cannot be used
 * @throws {DatabaseFolderLockedError} another process has it open
 * @throws {EngineStartError} the data cannot be opened
 * @throws {BackendUrlError} the URL of the other PostgreSQL cannot be used
 */
export async function startDatabaseEndpoint(options: DatabaseEndpointOptions): Promise<DatabaseEndpoint> {
  const { host = '127.0.0.1', port, password, backend: backendOptions } = options
  if (!isLoopback(host))
    throw new EndpointAddressError(`the database endpoint: expected a loopback host such as 127.0.0.1, given ${host}`, {
      host,
    })
  if (password === '') throw new EndpointAddressError('the database endpoint: expected a password, given an empty one')
  const credentials: Credentials = { user: embeddedName, password, verifier: scramVerifier(password) }
  // The port first: it is the cheaper one to find taken.
  const listener = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true })
  await listen(listener, host, port)
  try {
    const backend = await open(backendOptions, options.log ?? console.error)
    const bound = (listener.address() as AddressInfo).port
    const front = serve(listener, backend, credentials)
    return {
      url: `postgresql://${embeddedName}:${encodeURIComponent(password)}@${host.includes(':') ? `[${host}]` : host}:${bound}/${embeddedName}?sslmode=disable`,
      port: bound,
      enginePid: backend.enginePid,
      close: once(async () => {
        front.stopListening()
        await backend.close()
        await front.end()
      }),
    }
  } catch (error) {
    listener.close()
    throw error
  }
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

function open(options: BackendOptions, log: (line: string) => void): DatabaseBackend | Promise<DatabaseBackend> {
  if (options.kind === 'postgres') return openPostgres(options.url)
  const folder = resolve(options.dataDir)
  return openPglite(
    {
      folder,
      template: options.templatePath === undefined ? templatePlace(folder) : resolve(options.templatePath),
      queryTimeoutMs: options.queryTimeoutMs ?? 0,
      idleInTransactionTimeoutMs: options.idleInTransactionTimeoutMs ?? 30_000,
    },
    log,
  )
}

function listen(listener: Server, host: string, port: number): Promise<void> {
  return new Promise((done, failed) => {
    listener.once('error', (cause: NodeJS.ErrnoException) => {
      const why =
        cause.code === 'EADDRINUSE'
          ? 'another process listens there; stop it, or choose another port'
          : cause.code === 'EACCES'
            ? 'that needs more rights than this user has; choose a port above 1023'
            : 'choose another port'
      const message = `the database endpoint cannot listen on ${host}, port ${port} (${cause.code ?? cause.message}): ${why}`
      failed(new EndpointAddressError(message, { host, port, errno: cause.code }, { cause }))
    })
    listener.listen({ host, port, exclusive: true }, done)
  })
}

/** What a WebSocket message may have; larger ones are cut by clients. */
const mostSocketMessageBytes = 64 << 20
/** A connection that says nothing for so long is none. */
const silentMs = 60_000

function serve(listener: Server, backend: DatabaseBackend, credentials: Credentials) {
  const sockets = new Set<Socket>()
  const http = createHttpServer((request, response) => route(request, response))
  http.keepAliveTimeout = 60_000
  const webSockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: mostSocketMessageBytes,
  })

  function route(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url?.split('?')[0]
    // A page in a browser says where it comes from; it is not to reach a database of this machine.
    if (request.headers.origin !== undefined) answer(response, 403, 'requests of web pages are not answered')
    else if (path !== '/sql') answer(response, 404, 'expected POST /sql, or a WebSocket on /v2')
    else if (request.method !== 'POST')
      answer(response, 405, `expected POST, given ${request.method}`, { allow: 'POST' })
    else void answerSql(request, response, backend, credentials)
  }

  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const path = request.url?.split('?')[0]
    if (request.headers.origin !== undefined) refuseUpgrade(socket, '403 Forbidden')
    else if (path !== '/v2') refuseUpgrade(socket, '404 Not Found')
    else
      webSockets.handleUpgrade(request, socket, head, (webSocket) => {
        void serveWire(createWebSocketStream(webSocket), backend, credentials)
      })
  })

  listener.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    const timer = setTimeout(() => socket.destroy(), silentMs)
    socket.once('readable', () => {
      clearTimeout(timer)
      const first = socket.read(1) as Buffer | null
      if (first === null) {
        socket.destroy()
        return
      }
      socket.unshift(first)
      // A start-up packet begins with its length, of four bytes; a request of HTTP with a letter.
      if (first[0] === 0) void serveWire(socket, backend, credentials)
      else http.emit('connection', socket)
    })
    socket.resume()
  })

  return {
    stopListening: () => listener.close(),
    async end() {
      http.closeIdleConnections()
      for (const client of webSockets.clients) client.terminate()
      for (const socket of sockets) socket.destroySoon()
      await new Promise<void>((done) => {
        if (sockets.size === 0) return done()
        const timer = setTimeout(() => {
          for (const socket of sockets) socket.destroy()
        }, 500)
        for (const socket of sockets)
          socket.once('close', () => {
            if (sockets.size > 0) return
            clearTimeout(timer)
            done()
          })
      })
    },
  }
}

function answer(response: ServerResponse, status: number, message: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers })
  response.end(JSON.stringify({ message }))
}

function refuseUpgrade(socket: Duplex, status: string): void {
  socket.on('error', () => undefined)
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= work()
    return running
  }
}
