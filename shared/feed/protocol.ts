import * as z from 'zod'
import { type FieldName, readFields } from './fields.ts'
import type { Rejected } from './options.ts'
import type { Up } from './uplink.ts'

const id = z.union([z.int().min(0), z.string().min(1).max(64)], { error: 'a whole number or 1 to 64 characters' })
const symbols = z.array(z.string()).min(1, { error: '1 to 500 symbols' }).max(500, { error: '1 to 500 symbols' })
const interval = z.int({ error: 'whole milliseconds from 0 to 60000' }).min(0).max(60_000)

const fieldSelection = z
  .union([z.string(), z.array(z.string())], { error: 'min, quote, all, or a list of field names' })
  .transform((wish, context): readonly FieldName[] => {
    const fields = readFields(Array.isArray(wish) ? wish.join(',') : wish)
    if (fields) return fields
    context.addIssue({ code: 'custom', message: 'min, quote, all, or a list of field names without id' })
    return z.NEVER
  })

/** Position of a symbol that the client holds: epoch and number of its newest item. */
const since = z.record(z.string(), z.tuple([z.string(), z.int().min(0)]))

const operations = {
  subscribe: z.object({
    op: z.literal('subscribe'),
    id: id.optional(),
    symbols,
    interval: interval.optional(),
    fields: fieldSelection.optional(),
    extremes: z.boolean().optional(),
    snapshot: z.boolean().optional(),
    recover: z.enum(['latest', 'all', 'none']).optional(),
    since: since.optional(),
  }),
  unsubscribe: z.object({
    op: z.literal('unsubscribe'),
    id: id.optional(),
    symbols: z.union([symbols, z.literal('*')], { error: '"*", or 1 to 500 symbols' }),
  }),
  update: z.object({
    op: z.literal('update'),
    id: id.optional(),
    interval: interval.optional(),
    fields: fieldSelection.optional(),
  }),
  resync: z.object({ op: z.literal('resync'), id: id.optional(), symbols }),
  list: z.object({ op: z.literal('list'), id: id.optional() }),
  ping: z.object({ op: z.literal('ping'), id: id.optional(), t: z.number().optional() }),
} as const

export type Operation = z.output<(typeof operations)[keyof typeof operations]>
export type RequestId = string | number

export type ErrorCode =
  | 'bad_json'
  | 'bad_request'
  | 'bad_op'
  | 'bad_symbol'
  | 'unknown_symbol'
  | 'rate_limited'
  | 'too_many_symbols'
  | 'not_subscribed'
  | 'frame_too_large'

/** What a client's text asks for; `upstream` is the upstream's own form, which gets no answer. */
export type Request =
  | { readonly kind: 'operation'; readonly operation: Operation }
  | { readonly kind: 'upstream'; readonly subscribe: readonly string[]; readonly unsubscribe: readonly string[] }
  | { readonly kind: 'bad'; readonly id?: RequestId | undefined; readonly code: ErrorCode; readonly msg: string }

/** Objects of one array; they count once against the rate limit. */
const mostInArray = 50

/** The requests of one text frame: an object, or an array of up to 50. */
export function parseRequests(text: string): readonly Request[] {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return [{ kind: 'bad', code: 'bad_json', msg: 'frame is not valid JSON' }]
  }
  if (!Array.isArray(json)) return [parseRequest(json)]
  if (json.length > 0 && json.length <= mostInArray) return json.map(parseRequest)
  return [{ kind: 'bad', code: 'bad_request', msg: `an array holds 1 to ${mostInArray} operations` }]
}

/** Lists of the upstream's own form, `{"subscribe":[…]}`; undefined when a message has another. */
export function parseUpstreamForm(
  json: unknown,
): { readonly subscribe: readonly string[]; readonly unsubscribe: readonly string[] } | undefined {
  if (typeof json !== 'object' || json === null || Array.isArray(json) || 'op' in json) return undefined
  const { subscribe, unsubscribe } = json as Record<string, unknown>
  if (subscribe === undefined && unsubscribe === undefined) return undefined
  const lists = z.object({ subscribe: z.array(z.string()).default([]), unsubscribe: z.array(z.string()).default([]) })
  return lists.safeParse({ subscribe, unsubscribe }).data
}

function parseRequest(json: unknown): Request {
  const upstream = parseUpstreamForm(json)
  if (upstream) return { kind: 'upstream', ...upstream }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    return { kind: 'bad', code: 'bad_request', msg: 'expected an object with "op"' }
  }
  const { op, id: given } = json as Record<string, unknown>
  const requestId = id.safeParse(given).data
  if (op === undefined) return { kind: 'bad', id: requestId, code: 'bad_request', msg: 'missing field: op' }
  if (typeof op !== 'string' || !Object.hasOwn(operations, op)) {
    const msg = `unknown op; known are ${Object.keys(operations).join(', ')}`
    return { kind: 'bad', id: requestId, code: 'bad_op', msg }
  }
  const parsed = operations[op as keyof typeof operations].safeParse(json)
  if (parsed.success) return { kind: 'operation', operation: parsed.data }
  const [issue] = parsed.error.issues
  const msg = `missing or wrong field: ${issue?.path.join('.')} (${issue?.message})`
  return { kind: 'bad', id: requestId, code: 'bad_request', msg }
}

export type SymbolState = 'live' | 'stale' | 'unknown' | 'no_data'

export type AckSymbol = {
  readonly s: string
  readonly state: SymbolState
  readonly q: number
  readonly e: string | null
}

/** An item whose fields are written already: `d` is JSON text. */
export type ItemText = string

/** Texts of the server's frames. Items come as text, so that one encoding serves every frame that they stand in. */
export const frames = {
  hello: (hello: {
    conn: string
    node: string
    ts: number
    hb: number
    interval: number
    limits: { readonly symbols: number; readonly frames_per_second: number; readonly frame_bytes: number }
    auth: 'none' | 'ok'
  }) => JSON.stringify({ t: 'hello', v: 1, ...hello }),
  ack: (
    requestId: RequestId,
    op: Operation['op'],
    body: { ok: boolean; symbols?: readonly AckSymbol[]; rejected?: readonly Rejected[]; options?: unknown },
  ) => JSON.stringify({ t: 'ack', id: requestId, op, ...body }),
  err: (code: ErrorCode, msg: string, more: { id?: RequestId | undefined; retry_ms?: number; symbol?: string } = {}) =>
    JSON.stringify({ t: 'err', id: more.id, code, msg, retry_ms: more.retry_ms, symbol: more.symbol }),
  snap: (ts: number, items: readonly ItemText[], last: boolean) =>
    `{"t":"snap","ts":${ts},${last ? '"last":true,' : ''}"b":[${items.join(',')}]}`,
  u: (ts: number, items: readonly ItemText[]) => `{"t":"u","ts":${ts},"b":[${items.join(',')}]}`,
  hist: (requestId: RequestId | undefined, s: string, e: string, complete: boolean) =>
    JSON.stringify({ t: 'hist', ...(requestId !== undefined && { id: requestId }), s, e, b: [], complete }),
  hb: (ts: number, up: Up, seen: number) => JSON.stringify({ t: 'hb', ts, up, seen }),
  up: (ts: number, up: Up, since: number) => JSON.stringify({ t: 'st', ts, up, since }),
  symbolState: (ts: number, s: string, state: SymbolState, since: number) =>
    JSON.stringify({ t: 'st', ts, s, state, since }),
  gap: (symbols: readonly { s: string; from: number; to: number; reason: string }[]) =>
    JSON.stringify({ t: 'gap', symbols }),
  bye: (code: number, reason: string, reconnect: boolean, retryMs?: number) =>
    JSON.stringify({ t: 'bye', code, reason, reconnect, retry_ms: retryMs }),
  pong: (ts: number, requestId: RequestId | undefined, t: number | undefined) =>
    JSON.stringify({ t: 'pong', id: requestId, ...(t !== undefined && { echo: t }), ts }),
}

/** Why a socket is closed: the word of its reason, and whether coming back helps. */
export const closes = {
  4400: { word: 'bad_request', reconnect: false },
  4406: { word: 'bad_subprotocol', reconnect: false },
  4408: { word: 'timeout', reconnect: true },
  4410: { word: 'lifetime', reconnect: true },
  4413: { word: 'frame_too_large', reconnect: false },
  4415: { word: 'bad_data', reconnect: false },
  4429: { word: 'rate_limited', reconnect: true },
  4430: { word: 'connection_limit', reconnect: true },
} as const

export type CloseCode = keyof typeof closes
