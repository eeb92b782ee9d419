import * as z from 'zod'
import { utf8 } from '../kernel/bytes.ts'
import type { Values } from './fields.ts'
import { fingerprint } from './fingerprint.ts'
import { type JsonForm, toJson } from './json.ts'
import {
  BadParameterError,
  BadSymbolError,
  fieldList,
  int64Form,
  nameStyle,
  parseQuery,
  TooManySymbolsError,
} from './options.ts'
import { readSymbols } from './symbol.ts'

/** Symbols of one request. */
const mostSymbols = 500

const waitExpected = 'a whole number of milliseconds from 0 to 25000'

const schema = z.object({
  fields: fieldList,
  names: nameStyle,
  int64: int64Form,
  wait: z
    .string()
    .regex(/^\d{1,5}$/, { error: waitExpected })
    .transform(Number)
    .refine((ms) => ms <= 25_000, { error: waitExpected })
    .optional(),
})

export type LastQuery = { readonly symbols: readonly string[]; readonly form: JsonForm }

/**
 * The query of `GET /feed/last`: symbols in the order of the request, each once.
 *
 * @throws {BadParameterError} a known parameter has a bad value, or no symbol is named
 * @throws {BadSymbolError}
 * @throws {TooManySymbolsError} more than 500
 */
export function parseLastQuery(query: URLSearchParams): LastQuery {
  const { fields, names, int64 } = parseQuery(schema, query)
  const list = query.get('symbols')
  if (!list) throw new BadParameterError('symbols', 'a comma list of symbols', list ?? '')
  const { symbols, rejected } = readSymbols(list.split(','))
  const [bad] = rejected
  if (bad !== undefined) throw new BadSymbolError(bad)
  if (symbols.length > mostSymbols) throw new TooManySymbolsError(mostSymbols, symbols.length)
  return { symbols, form: { fields, names, int64 } }
}

export type LastOf = {
  readonly s: string
  readonly q: number
  readonly e: string
  readonly state: string
  readonly ageMs: number
  readonly values: Values
}

export type LastAnswer = {
  readonly ts: number
  readonly data: readonly {
    readonly s: string
    readonly q: number
    readonly e: string
    readonly state: string
    readonly age_ms: number
    readonly d: Record<string, string | number>
  }[]
  readonly missing: readonly string[]
}

/** The answer for the symbols asked for, from what the hubs know. */
export function toLastAnswer({ symbols, form }: LastQuery, known: readonly LastOf[], nowMs: number): LastAnswer {
  const bySymbol = new Map(known.map((last) => [last.s, last]))
  const data = symbols.flatMap((symbol) => {
    const last = bySymbol.get(symbol)
    if (!last) return []
    const { s, q, e, state, ageMs, values } = last
    return { s, q, e, state, age_ms: ageMs, d: toJson(values, form) }
  })
  return { ts: nowMs, data, missing: symbols.filter((symbol) => !bySymbol.has(symbol)) }
}

/**
 * The entity tag of an answer. It is weak, since the time and the ages are other ones in each: what it names are the
 * numbers of the newest ticks, in the form asked for.
 */
export function entityTag({ form }: LastQuery, { data, missing }: LastAnswer): string {
  const { fields, names, int64 } = form
  const text = JSON.stringify([fields, names, int64, data.map(({ s, q, e }) => [s, q, e]), missing])
  return `W/"${BigInt.asUintN(64, fingerprint(utf8(text))).toString(36)}"`
}

/** Whether `If-None-Match` names a tag, by the weak comparison of RFC 9110 section 8.8.3.2. */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  const plain = tag.replace(/^W\//, '')
  return header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === plain)
}
