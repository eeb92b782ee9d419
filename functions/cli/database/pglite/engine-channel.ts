import type { ErrorFields } from '../sql-error.ts'
import { FrameReader, type FrameSink, FrameWalker } from '../wire/frame-reader.ts'
import {
  answer,
  type Frame,
  headerBytes,
  readCString,
  readError,
  readRow,
  readStatus,
  readTag,
  type TransactionStatus,
} from '../wire/frames.ts'
import type { EngineProcess } from './engine-process.ts'

/** The engine ended before it had answered. */
export class EngineLostError extends Error {
  override readonly name = 'EngineLostError'
}

/** What the engine answered to messages of our own. */
export type Exchange = {
  /** Rows of each statement. */
  readonly results: readonly (readonly (string | null)[])[][]
  readonly tags: readonly string[]
  /** Parameters it reported, such as a changed `TimeZone`. */
  readonly parameters: ReadonlyMap<string, string>
  readonly error: ErrorFields | undefined
  readonly status: TransactionStatus
}

const bulkTypes = [answer.dataRow, answer.copyData]
/** Rows of exchanges are short; this bounds what a damaged answer can make us hold. */
const mostExchangeBytes = 64 << 20

/**
 * The one connection with the engine, shared in turns. The engine answers in order, so answers go to takers in the order
 * in which these wrote: exchanges of our own, and at the end of the line the session that holds the engine.
 */
export class EngineChannel {
  readonly engine: EngineProcess
  readonly #walker = new FrameWalker(bulkTypes)
  readonly #exchanges: ExchangeSink[] = []
  readonly #onNotification: (frame: Frame) => void
  #session: FrameSink | undefined
  #ended = false

  /** @param onNotification takes NotificationResponse messages, whoever's turn it is */
  constructor(engine: EngineProcess, onNotification: (frame: Frame) => void) {
    this.engine = engine
    this.#onNotification = onNotification
    const notifying: FrameSink = {
      bulk: (bytes) => this.#taker().bulk(bytes),
      frame: (type, frame) => {
        if (type === answer.notification) this.#onNotification(frame)
        else this.#taker().frame(type, frame)
      },
    }
    engine.socket.on('data', (chunk: Buffer) => {
      if (!this.#ended) this.#walker.walk(chunk, () => notifying)
    })
    void engine.exited.then(() => this.#end())
  }

  /** Whether nobody waits for an answer of the engine. */
  get isQuiet(): boolean {
    return this.#exchanges.length === 0 && this.#session === undefined
  }

  /** Gives the turn to a session, until {@link detach}. */
  attach(session: FrameSink): void {
    this.#session = session
  }

  detach(): void {
    this.#session = undefined
    this.resume()
  }

  /** @returns false when the caller is to wait for `drain` of the engine's socket before it writes more */
  write(bytes: Buffer): boolean {
    return this.#ended || this.engine.socket.write(bytes)
  }

  /** Holds the engine up once the socket's buffers are full. */
  pause(): void {
    this.engine.socket.pause()
  }

  resume(): void {
    if (this.engine.socket.isPaused()) this.engine.socket.resume()
  }

  /**
   * Sends messages that end with one ReadyForQuery. While a session has the turn, only when it waits for no answer.
   *
   * @throws {EngineLostError}
   */
  exchange(bytes: Buffer): Promise<Exchange> {
    if (this.#ended) return Promise.reject(new EngineLostError('the database engine has ended'))
    return new Promise((resolve, reject) => {
      const sink = new ExchangeSink((outcome) => {
        this.#exchanges.shift()
        resolve(outcome)
      }, reject)
      this.#exchanges.push(sink)
      this.write(bytes)
    })
  }

  #taker(): FrameSink {
    return this.#exchanges[0] ?? this.#session ?? nobody
  }

  #end(): void {
    this.#ended = true
    for (const exchange of this.#exchanges.splice(0))
      exchange.fail(new EngineLostError('the database engine has ended'))
  }
}

/** Takes what comes when nobody has asked, such as a late ParameterStatus. */
const nobody: FrameSink = { frame: () => undefined, bulk: () => undefined }

class ExchangeSink implements FrameSink {
  readonly fail: (error: Error) => void
  readonly #done: (outcome: Exchange) => void
  readonly #rows = new FrameReader(mostExchangeBytes)
  readonly #results: (string | null)[][][] = []
  readonly #tags: string[] = []
  readonly #parameters = new Map<string, string>()
  #current: (string | null)[][] = []
  #error: ErrorFields | undefined

  constructor(done: (outcome: Exchange) => void, fail: (error: Error) => void) {
    this.#done = done
    this.fail = fail
  }

  bulk(bytes: Buffer): void {
    for (const frame of this.#rows.read(bytes)) if (frame[0] === answer.dataRow) this.#current.push(readRow(frame))
  }

  frame(type: number, frame: Frame): void {
    if (type === answer.commandComplete) {
      this.#tags.push(readTag(frame))
      this.#results.push(this.#current)
      this.#current = []
    } else if (type === answer.error) this.#error ??= readError(frame)
    else if (type === answer.parameterStatus) {
      const name = readCString(frame, headerBytes)
      this.#parameters.set(name.text, readCString(frame, name.next).text)
    } else if (type === answer.readyForQuery) {
      this.#done({
        results: this.#results,
        tags: this.#tags,
        parameters: this.#parameters,
        error: this.#error,
        status: readStatus(frame),
      })
    }
  }
}
