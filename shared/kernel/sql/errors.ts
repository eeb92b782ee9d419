import { NeonDbError, DatabaseError as WireError } from '@neondatabase/serverless'
import { AppError, type ErrorStatus, type Fault } from '../errors.ts'

/** The text given as a database URL cannot be used. The message never repeats it: it holds a password. */
export class DatabaseUrlError extends AppError {
  override readonly name = 'DatabaseUrlError'
  readonly code = 'database.url'
  readonly status = 500
  override readonly fault = 'platform'
}

/** The database cannot be reached, or it is starting, stopping or full: the same call may pass later. */
export class DatabaseDownError extends AppError {
  override readonly name = 'DatabaseDownError'
  readonly code = 'database.down'
  readonly status = 503
  override readonly fault = 'platform'
}

/**
 * The database refused a statement. `details.sqlstate` has the five characters of PostgreSQL's Appendix A, the other
 * details are the fields of its answer; `cause` is the driver's own error.
 */
export class DatabaseError extends AppError {
  override readonly name = 'DatabaseError'
  readonly code: string
  readonly status: ErrorStatus
  override readonly fault: Fault

  constructor(kind: Kind, message: string, details: Readonly<Record<string, unknown>>, options?: ErrorOptions) {
    super(message, details, options)
    this.code = `database.${kind.reason}`
    this.status = kind.status
    this.fault = kind.fault
  }

  /** SQLSTATE, or undefined when the refusal came from the endpoint and not from a statement. */
  get sqlstate(): string | undefined {
    return this.details.sqlstate as string | undefined
  }
}

type Kind = { readonly reason: string; readonly status: ErrorStatus; readonly fault: Fault }

const caller = (reason: string, status: ErrorStatus): Kind => ({ reason, status, fault: 'caller' })
const platform = (reason: string, status: ErrorStatus): Kind => ({ reason, status, fault: 'platform' })

/** By SQLSTATE, then by its class (the first two characters). */
const kinds: Readonly<Record<string, Kind>> = {
  '22': caller('value', 400),
  '23': caller('constraint', 409),
  23502: caller('not_null', 400),
  23503: caller('foreign_key', 409),
  23505: caller('unique', 409),
  23514: caller('check', 400),
  '25': caller('transaction_state', 409),
  '28': platform('authentication', 500),
  '40': caller('conflict', 409),
  '42': caller('statement', 400),
  42501: caller('privilege', 403),
  '44': caller('check_option', 400),
  '54': caller('too_complex', 400),
  55006: caller('conflict', 409),
  '55P03': caller('conflict', 409),
  57014: caller('canceled', 504),
  P0: caller('raised', 400),
}
const other = platform('failed', 500)

/** Connection lost or refused (class 08), too many clients, server stopping, crashed or starting, server gone (57P01-05). */
const passes = (sqlstate: string): boolean => /^(08|53300|57P)/.test(sqlstate)

/** A row that broke a constraint is quoted whole in `detail`; it may hold what nobody else is to see. */
const quotesRow = (detail: string): boolean => detail.startsWith('Failing row contains')

const copied = ['severity', 'hint', 'position', 'where', 'schema', 'table', 'column', 'dataType', 'constraint'] as const

/** What the driver threw, as one of the errors above; anything else as it is. */
export function toDatabaseError(error: unknown): unknown {
  if (!(error instanceof NeonDbError || error instanceof WireError)) {
    return isConnectionLoss(error)
      ? new DatabaseDownError('the database closed the connection', {}, { cause: error })
      : error
  }
  const sqlstate = error.code
  if (sqlstate === undefined) return fromTransport(error)
  const details: Record<string, unknown> = { sqlstate }
  for (const name of copied) if (error[name] !== undefined && error[name] !== null) details[name] = error[name]
  if (error.detail && !quotesRow(error.detail)) details.detail = error.detail
  if (passes(sqlstate)) return new DatabaseDownError(error.message, details, { cause: error })
  return new DatabaseError(kinds[sqlstate] ?? kinds[sqlstate.slice(0, 2)] ?? other, error.message, details, {
    cause: error,
  })
}

/** The driver puts the status of an answer it cannot read, and every failed fetch, into the message only. */
function fromTransport(error: Error): AppError {
  const status = Number(/^Server error \(HTTP status (\d+)\)/.exec(error.message)?.[1])
  const options = { cause: error }
  if (status === 413)
    return new DatabaseError(
      caller('request_too_large', 413),
      'the statement and its parameters are larger than 10 MiB',
      {},
      options,
    )
  if (status === 507)
    return new DatabaseError(
      caller('response_too_large', 507),
      'the answer is larger than 10 MiB; ask for fewer rows',
      {},
      options,
    )
  if (Number.isNaN(status)) return new DatabaseDownError('the database cannot be reached', {}, options)
  if (status >= 500 || status === 429)
    return new DatabaseDownError(`the database answered HTTP ${status}`, { status }, options)
  return new DatabaseError(other, `the database endpoint answered HTTP ${status}`, { status }, options)
}

/** Errors of the socket underneath an interactive session: an `Error` with these words, or a bare event of a WebSocket. */
function isConnectionLoss(error: unknown): boolean {
  if (error instanceof AppError) return false
  if (error instanceof Error)
    return /^Connection terminated|^timeout expired|^Client has encountered a connection error/.test(error.message)
  return typeof error === 'object' && error !== null && (error as { type?: unknown }).type === 'error'
}
