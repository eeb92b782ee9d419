import * as z from 'zod'
import { AppError, type ErrorStatus, type FieldError } from '../kernel/errors.ts'
import { intervalClass } from './conflate.ts'
import { readFields } from './fields.ts'
import { readSymbols } from './symbol.ts'

/** A known parameter with a bad value; `errors[0].field` is its name. */
export class BadParameterError extends AppError {
  override readonly name = 'BadParameterError'
  readonly code = 'feed.bad_parameter'
  readonly status = 400
  override readonly errors: readonly FieldError[]

  constructor(field: string, expected: string, given: string) {
    super(`${field} takes ${expected}, not ${JSON.stringify(given)}`)
    this.errors = [{ field, expected, given }]
  }
}

/** More symbols than one connection or request may name. */
export class TooManySymbolsError extends AppError {
  override readonly name = 'TooManySymbolsError'
  readonly code = 'feed.too_many_symbols'
  readonly status: ErrorStatus = 413
  override readonly errors: readonly FieldError[]

  constructor(limit: number, given: number) {
    super(`at most ${limit} symbols can be named, not ${given}`, { limit })
    this.errors = [{ field: 'symbols', expected: `at most ${limit} symbols`, given: String(given) }]
  }
}

/** A text that is no symbol, where only symbols help. */
export class BadSymbolError extends AppError {
  override readonly name = 'BadSymbolError'
  readonly code = 'feed.bad_symbol'
  readonly status = 400
  override readonly errors: readonly FieldError[]

  constructor(given: string) {
    super(`a symbol is 1 to 32 characters of A-Z 0-9 ^ = . - _ / $ & +, not ${JSON.stringify(given)}`)
    this.errors = [{ field: 'symbols', expected: '1 to 32 of A-Z 0-9 ^ = . - _ / $ & +', given }]
  }
}

const choice = <const T extends readonly [string, ...string[]]>(values: T, whenAbsent: T[number]) =>
  z
    .enum(values, { error: `one of ${values.join(', ')}` })
    .default(whenAbsent as z.output<z.ZodEnum<z.core.util.ToEnum<T[number]>>>)

const flag = (whenAbsent: '0' | '1') =>
  z
    .enum(['0', '1'], { error: '0 or 1' })
    .default(whenAbsent)
    .transform((text) => text === '1')

const intervalExpected = 'a whole number of milliseconds from 0 to 60000'

const interval = z
  .string()
  .regex(/^\d{1,5}$/, { error: intervalExpected })
  .transform(Number)
  .refine((ms) => ms <= 60_000, { error: intervalExpected })
  .optional()

/** A preset of fields or a list of their names, each once. */
export const fieldList = z
  .string()
  .default('all')
  .transform((text, context) => {
    const fields = readFields(text)
    if (fields) return fields
    context.addIssue({ code: 'custom', message: 'min, quote, all, or a comma list of field names without id' })
    return z.NEVER
  })

export const nameStyle = choice(['snake', 'camel'], 'snake')
export const int64Form = choice(['auto', 'string'], 'auto')

const schema = z.object({
  mode: choice(['native', 'compat'], 'native'),
  format: choice(['json', 'protobuf', 'raw', 'base64', 'envelope'], 'json'),
  recover: choice(['latest', 'all', 'none'], 'latest'),
  names: nameStyle,
  int64: int64Form,
  snapshot: flag('1'),
  compact: flag('0'),
  delta: flag('0'),
  extremes: flag('0'),
  interval,
  fields: fieldList,
})

export type Rejected = { readonly s: string; readonly code: 'bad_symbol' | 'unknown_symbol' | 'too_many_symbols' }

/** What a subscriber asked for when it connected. */
export type FeedOptions = Omit<z.output<typeof schema>, 'interval'> & {
  /** A conflation class, in milliseconds. */
  readonly interval: number
  readonly symbols: readonly string[]
  readonly rejected: readonly Rejected[]
}

/** Conflation of callers without a key is never finer. */
export const anonymousFloorMs = 250

/** Symbols of one connection. */
export const symbolLimit = (hasKey: boolean): number => (hasKey ? 500 : 50)

/**
 * The options in the query of `GET /feed`. Unknown parameters are ignored.
 *
 * @param hasKey callers without one have a coarser interval and fewer symbols
 * @throws {BadParameterError} a known parameter has a bad value
 * @throws {TooManySymbolsError}
 */
export function parseOptions(query: URLSearchParams, hasKey: boolean, defaultIntervalMs = 250): FeedOptions {
  const { interval: wished = defaultIntervalMs, ...options } = parseQuery(schema, query)
  const { symbols, rejected } = readSymbols(query.get('symbols')?.split(',') ?? [])
  const limit = symbolLimit(hasKey)
  if (symbols.length > limit) throw new TooManySymbolsError(limit, symbols.length)
  const intervalMs = intervalClass(hasKey ? wished : Math.max(wished, anonymousFloorMs))
  return {
    ...options,
    interval: intervalMs,
    symbols,
    rejected: rejected.map((s) => ({ s, code: 'bad_symbol' as const })),
  }
}

/**
 * Reads the parameters of a schema; the first of a repeated one counts.
 *
 * @throws {BadParameterError} names the first bad one
 */
export function parseQuery<T extends z.ZodObject>(query: T, parameters: URLSearchParams): z.output<T> {
  const given: Record<string, string> = {}
  for (const name of Object.keys(query.shape)) {
    const value = parameters.get(name)
    if (value !== null) given[name] = value
  }
  const parsed = query.safeParse(given)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const field = String(issue?.path[0])
  throw new BadParameterError(field, issue?.message ?? 'another value', given[field] ?? '')
}
