import { decodeValues, toInt64 } from '../../../shared/feed/codec.ts'
import { Conflator, framesOf, intervalClass, type Tick } from '../../../shared/feed/conflate.ts'
import { floatToJson, type Int64Form, int64ToJson } from '../../../shared/feed/json.ts'
import { parseOptions } from '../../../shared/feed/options.ts'
import { shardOf } from '../../../shared/feed/rendezvous.ts'
import { fromSymbol } from '../../../shared/feed/symbol.ts'
import { AppError } from '../../../shared/kernel/errors.ts'

/** A case of `test/vectors/feed-core.json`. */
export type FeedCoreCase = {
  readonly id: string
  readonly kind: string
  readonly title: string
  readonly rows: readonly string[]
  readonly input: unknown
  readonly expected: unknown
}

type ConflateInput = {
  readonly interval: number
  readonly ticks: readonly { at: number; s: string; q: number; price: number; late?: boolean }[]
  readonly until: number
  readonly extremes?: boolean
  readonly phase?: number
}

/** Runs a case of its kind; a kind without an entry is not built yet. */
export const kinds: Readonly<Record<string, (input: never) => unknown>> = {
  symbol: ({ text }: { text: string }) => {
    const symbol = fromSymbol(text)
    return symbol === undefined ? { code: 'bad_symbol' } : { symbol }
  },
  shard: ({ keys, count }: { keys: readonly string[]; count: number }) => ({
    indexes: keys.map((key) => shardOf(key, count)),
  }),
  float: ({ bits }: { bits: string }) => ({ value: floatOf(bits) }),
  sint64: ({ value, int64 }: { value: string; int64: Int64Form }) => ({
    value: int64ToJson(toInt64(BigInt(value)), int64),
  }),
  options: ({ query, key }: { query: string; key: boolean }) => {
    try {
      return parseOptions(new URLSearchParams(query), key)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { code: error.code.replace('feed.', ''), field: error.errors[0]?.field }
    }
  },
  conflate: (input: ConflateInput) => ({ class: intervalClass(input.interval), frames: conflated(input) }),
}

export function runCase({ kind, input, expected }: FeedCoreCase): { expected: unknown; got: unknown } {
  const run = kinds[kind]
  if (!run) throw new Error(`no part of this build runs feed-core cases of kind ${kind}`)
  return { expected, got: run(input as never) }
}

/** The float of these 32 bits as a message carries it and as JSON shows it. */
function floatOf(bits: string): unknown {
  const bytes = Uint8Array.from(bits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  const { price } = decodeValues(Uint8Array.of(0x15, ...bytes.reverse()))
  return floatToJson(price ?? 0)
}

/** Frames up to `until`: a turn for each time with ticks and for each end of a window. */
function conflated({ interval, ticks, until, extremes = false, phase = 0 }: ConflateInput): unknown {
  const conflator = new Conflator<null>(intervalClass(interval), phase)
  const frames: unknown[] = []
  const rest = [...ticks]
  for (;;) {
    const at = Math.min(rest[0]?.at ?? Number.POSITIVE_INFINITY, conflator.flushAtMs ?? Number.POSITIVE_INFINITY)
    if (at > until) return frames
    const turn: Tick<null>[] = []
    while (rest[0]?.at === at) turn.push({ ...(rest.shift() as (typeof rest)[number]), data: null })
    const items = conflator.turn(at, turn)
    for (const frame of framesOf(items)) {
      const b = frame.map(({ s, q, n, price, hi, lo, late }) => ({
        s,
        q,
        n,
        price,
        ...(extremes && { hi, lo }),
        ...(late && { late: 1 }),
      }))
      frames.push({ at, b })
    }
  }
}
