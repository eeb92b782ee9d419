/**
 * An error as Postgres tells it: SQLSTATE, message and the other fields of an ErrorResponse. An answer to a client, not
 * a fault of this program, hence no AppError.
 */
export class SqlError extends Error {
  override readonly name = 'SqlError'
  readonly fields: ErrorFields

  constructor(fields: ErrorFields) {
    super(fields.message)
    this.fields = fields
  }

  get code(): string {
    return this.fields.code
  }
}

export type Severity = 'ERROR' | 'FATAL' | 'PANIC' | (string & {})

/** Names as the Neon endpoint writes them. FATAL ends the session. */
export type ErrorFields = { readonly severity: Severity; readonly code: string; readonly message: string } & {
  readonly [name in OptionalField]?: string
}

/** Field type byte of an ErrorResponse by name; https://www.postgresql.org/docs/current/protocol-error-fields.html */
export const errorFieldTypes = {
  severity: 'S',
  code: 'C',
  message: 'M',
  detail: 'D',
  hint: 'H',
  position: 'P',
  internalPosition: 'p',
  internalQuery: 'q',
  where: 'W',
  schema: 's',
  table: 't',
  column: 'c',
  dataType: 'd',
  constraint: 'n',
  file: 'F',
  line: 'L',
  routine: 'R',
} as const

export type ErrorField = keyof typeof errorFieldTypes
type OptionalField = Exclude<ErrorField, 'severity' | 'code' | 'message'>

type Extras = { readonly [name in OptionalField]?: string }

/** The statement fails, the session goes on. */
export const sqlError = (code: string, message: string, extras: Extras = {}): SqlError =>
  new SqlError({ severity: 'ERROR', code, message, ...extras })

/** The session ends with this. */
export const fatalError = (code: string, message: string, extras: Extras = {}): SqlError =>
  new SqlError({ severity: 'FATAL', code, message, ...extras })
