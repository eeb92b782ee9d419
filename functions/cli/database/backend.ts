import type { Duplex, Readable } from 'node:stream'
import type { TransactionStatus } from './wire/frames.ts'
import type { CancelKey, Startup } from './wire/startup.ts'

/**
 * A session with a database, past its start-up: messages of clients go in, messages of the server come out. Ending the
 * writable side says goodbye; destroying it is a client that vanished.
 */
export type DatabaseSession = {
  readonly stream: Duplex
  /** What the server reports of itself, such as `server_version`. */
  readonly parameters: ReadonlyMap<string, string>
  /** For a CancelRequest of this session. */
  readonly key: CancelKey
}

/** A session for one HTTP request, with no trace of an earlier one. */
export type Loan = {
  /** Sends all messages of the request; no more can follow. */
  readonly send: (messages: Buffer) => void
  /** What the server answers; ends early when the session is lost. */
  readonly answers: Readable
  /** Cancels what is running. */
  readonly cancel: () => void
  /** @param status of the last ReadyForQuery, undefined without one. What is open is rolled back. */
  readonly giveBack: (status: TransactionStatus | undefined) => void
}

/** What stands behind the front: the embedded engine, or a PostgreSQL elsewhere. */
export type DatabaseBackend = {
  /** @throws {SqlError} when it cannot be had */
  readonly open: (startup: Startup) => Promise<DatabaseSession>
  /** @throws {SqlError} when it cannot be had */
  readonly lend: (startup: Startup) => Promise<Loan>
  /** Cancels what a session is running; an unknown key is ignored, as PostgreSQL does. */
  readonly cancel: (key: CancelKey) => void
  /** The process of the embedded engine; undefined: none, or it is being started. */
  readonly enginePid: () => number | undefined
  /** Ends all sessions with 57P01 and frees what is held. */
  readonly close: () => Promise<void>
}
