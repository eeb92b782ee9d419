import type { Socket } from 'node:net'
import { setImmediate as nextRound } from 'node:timers/promises'
import { AppError } from '../../../../shared/kernel/errors.ts'
import type { DatabaseBackend, Loan } from '../backend.ts'
import { embeddedName } from '../names.ts'
import { fatalError } from '../sql-error.ts'
import { FrameReader } from '../wire/frame-reader.ts'
import { answer, errorFrame, queryFrame, readStatus } from '../wire/frames.ts'
import type { CancelKey, Startup } from '../wire/startup.ts'
import { cancelUpstream, connectUpstream, type Upstream } from './upstream.ts'

/** The URL of the PostgreSQL to stand in front of cannot be used. The message does not repeat it: it holds a password. */
export class BackendUrlError extends AppError {
  override readonly name = 'BackendUrlError'
  readonly code = 'database_backend.url'
  readonly status = 400
}

/** Sessions for HTTP requests that are kept open between them, and for how long. */
const mostIdle = 10
const idleMs = 30_000
/** Sessions for HTTP requests at once; more wait. A server has 100 places by default. */
const mostLent = 20
/** A session has to be clean this soon after a request, or it is thrown away. */
const cleanMs = 5_000
const mostAnswerBytes = 1 << 20

/**
 * A PostgreSQL elsewhere as a database. Nothing is opened until it is needed.
 *
 * @throws {BackendUrlError}
 */
export function openPostgres(url: string): DatabaseBackend {
  checkUrl(url)
  const open = new Set<Socket>()
  const pool = new Pool(url, open)
  const keys = new Map<number, CancelKey>()
  return {
    async open(startup) {
      const upstream = track(await connectUpstream(url, databaseOf(startup), startup), open)
      const { socket, parameters, key } = upstream
      keys.set(key.processId, key)
      socket.once('close', () => keys.delete(key.processId))
      return { stream: socket, parameters, key }
    },
    lend: (startup) => pool.lend(startup),
    cancel(key) {
      if (keys.get(key.processId)?.secretKey === key.secretKey) cancelUpstream(url, key)
    },
    enginePid: () => undefined,
    async close() {
      // Goodbyes that have been sent are read first: their sessions end without an error.
      for (let round = 0; round < 2; round++) await nextRound()
      pool.close()
      const stop = errorFrame(fatalError('57P01', 'terminating connection due to administrator command').fields)
      for (const socket of open) {
        socket.push(stop)
        socket.push(null)
        socket.destroySoon()
      }
    },
  }
}

/** The endpoint's own name stands for the database of the URL. */
const databaseOf = ({ database }: Pick<Startup, 'database'>): string | undefined =>
  database === embeddedName ? undefined : database

function checkUrl(text: string): void {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new BackendUrlError('the database URL is not a URL; expected postgresql://user:password@host/database')
  }
  if (!/^postgres(ql)?:$/.test(url.protocol))
    throw new BackendUrlError(`the database URL: expected postgresql://, given ${url.protocol}//`)
}

function track(upstream: Upstream, open: Set<Socket>): Upstream {
  open.add(upstream.socket)
  upstream.socket.once('close', () => open.delete(upstream.socket))
  return upstream
}

type Kept = { readonly upstream: Upstream; readonly name: string; readonly timer: NodeJS.Timeout }

/** Sessions for HTTP requests, used again once they are as new. */
class Pool {
  readonly #url: string
  readonly #open: Set<Socket>
  readonly #idle: Kept[] = []
  readonly #waiting: (() => void)[] = []
  #lent = 0
  #closed = false

  constructor(url: string, open: Set<Socket>) {
    this.#url = url
    this.#open = open
  }

  async lend(startup: Startup): Promise<Loan> {
    await this.#place()
    let given = false
    const leave = () => {
      if (given) return
      given = true
      this.#lent--
      this.#waiting.shift()?.()
    }
    try {
      const name = JSON.stringify([startup.database, startup.options])
      const upstream = this.#takeIdle(name) ?? (await this.#connect(startup))
      return {
        send: (messages) => upstream.socket.write(messages),
        answers: upstream.socket,
        cancel: () => cancelUpstream(this.#url, upstream.key),
        giveBack: (status) => {
          for (const event of ['data', 'end', 'close', 'error'] as const) upstream.socket.removeAllListeners(event)
          upstream.socket.on('error', () => undefined)
          upstream.socket.once('close', () => this.#open.delete(upstream.socket))
          if (status === undefined) {
            upstream.socket.destroy()
            leave()
          } else void this.#clean(upstream, name, status !== 'I').finally(leave)
        },
      }
    } catch (error) {
      leave()
      throw error
    }
  }

  close(): void {
    this.#closed = true
    for (const { upstream, timer } of this.#idle.splice(0)) {
      clearTimeout(timer)
      upstream.socket.destroy()
    }
  }

  async #place(): Promise<void> {
    if (this.#closed) throw fatalError('57P01', 'terminating connection due to administrator command')
    if (this.#lent >= mostLent) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#lent++
  }

  #takeIdle(name: string): Upstream | undefined {
    for (;;) {
      const at = this.#idle.findLastIndex((kept) => kept.name === name)
      if (at < 0) return undefined
      const [{ upstream, timer }] = this.#idle.splice(at, 1) as [Kept]
      clearTimeout(timer)
      if (!upstream.socket.destroyed && !upstream.socket.readableEnded) return upstream
    }
  }

  async #connect(startup: Startup): Promise<Upstream> {
    // The driver puts its own name and version there, which would keep apart what can be shared.
    const { options } = startup
    return track(await connectUpstream(this.#url, databaseOf(startup), { options, settings: new Map() }), this.#open)
  }

  /** Makes a session as new, then keeps it for the next request. */
  async #clean(upstream: Upstream, name: string, inTransaction: boolean): Promise<void> {
    const { socket } = upstream
    // Two messages: DISCARD ALL may not share an implicit transaction.
    const messages = [...(inTransaction ? ['rollback'] : []), 'discard all'].map(queryFrame)
    const ok = await exchange(socket, messages)
    if (!ok || this.#closed || this.#idle.length >= mostIdle) {
      socket.destroy()
      return
    }
    const timer = setTimeout(() => socket.destroy(), idleMs)
    timer.unref()
    socket.once('end', () => socket.destroy()) // the server ends sessions when it stops
    this.#idle.push({ upstream, name, timer })
  }
}

/** @returns whether all messages were answered without an error */
function exchange(socket: Socket, messages: readonly Buffer[]): Promise<boolean> {
  return new Promise((resolve) => {
    const reader = new FrameReader(mostAnswerBytes)
    let left = messages.length
    let ok = true
    const done = (outcome: boolean) => {
      clearTimeout(timer)
      socket.off('data', read)
      socket.off('close', lost)
      resolve(outcome)
    }
    const lost = () => done(false)
    const read = (chunk: Buffer) => {
      try {
        for (const frame of reader.read(chunk)) {
          if (frame[0] === answer.error) ok = false
          if (frame[0] === answer.readyForQuery && --left === 0) done(ok && readStatus(frame) === 'I')
        }
      } catch {
        done(false)
      }
    }
    const timer = setTimeout(lost, cleanMs)
    socket.on('data', read)
    socket.once('close', lost)
    socket.resume()
    socket.write(Buffer.concat(messages))
  })
}
