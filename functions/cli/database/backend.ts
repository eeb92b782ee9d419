import type { Duplex } from 'node:stream'
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
  readonly stream: Duplex
  /** `clean`: the last answer was ReadyForQuery, idle. Otherwise the session is thrown away. */
  readonly giveBack: (clean: boolean) => void
}

/** What stands behind the front: the embedded engine, or a PostgreSQL elsewhere. */
export type DatabaseBackend = {
  /** @throws {SqlError} when it cannot be had */
  readonly open: (startup: Startup) => Promise<DatabaseSession>
  /** @throws {SqlError} when it cannot be had */
  readonly lend: (startup: Startup) => Promise<Loan>
  /** Cancels what a session is running; an unknown key is ignored, as PostgreSQL does. */
  readonly cancel: (key: CancelKey) => void
  /** Ends all sessions with 57P01 and frees what is held. */
  readonly close: () => Promise<void>
}
