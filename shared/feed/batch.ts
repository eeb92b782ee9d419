import { toBase64 } from '../kernel/bytes.ts'
import { encode } from './codec.ts'
import { type Accepted, flagBits, type Last } from './hub.ts'

/** A tick as it is stored; 64-bit integers as decimal text. */
export type BatchTick = {
  readonly symbol: string
  readonly ts: string
  readonly fp: string
  readonly q: number
  readonly price: number
  readonly dv: string
  readonly dayVolume: string | null
  readonly marketHours: number
  readonly bid: number | null
  readonly ask: number | null
  readonly recvMs: number
  readonly source: number
  readonly late: boolean
  readonly flags: number
}

export type BatchLast = {
  readonly symbol: string
  readonly q: number
  readonly ts: string
  readonly data: string
  readonly recvMs: number
  readonly quoteType: number
  readonly exchange: string | null
  readonly currency: string | null
  readonly shortName: string | null
  readonly priceHint: number | null
}

export type Batch = {
  /** Name and epoch of the hub. */
  readonly hub: string
  readonly no: number
  readonly epoch: string
  readonly ticks: readonly BatchTick[]
  readonly last: readonly BatchLast[]
}

export const batchLimits = { ticks: 500, ageMs: 1000, bytes: 64 * 1024 } as const

/** What a row costs beside its message. */
const rowBytes = 120

/** The largest value that the columns for enumerations hold; what is beyond is no enumeration any more. */
const mostSmallint = 32_767

/** Gathers accepted ticks into numbered batches: 500 ticks, one second or 64 KiB, whichever comes first. */
export class Batcher {
  readonly #hub: string
  readonly #epoch: string
  #no = 0
  #ticks: BatchTick[] = []
  #touched = new Map<string, number>()
  #bytes = 0
  #sinceMs: number | undefined

  constructor(hub: string, epoch: string) {
    this.#hub = `${hub}:${epoch}`
    this.#epoch = epoch
  }

  add(tick: Accepted, nowMs: number): void {
    this.#sinceMs ??= nowMs
    // Only ticks in order move the last values; a frame without a price has no history.
    if (!tick.late) this.#touched.set(tick.s, tick.tsMs)
    if (tick.frame.price === undefined) return
    this.#ticks.push(rowOf(tick))
    this.#bytes += tick.bytes.length + rowBytes
  }

  /** When the batch that is being gathered has to go; undefined when there is none. */
  get dueMs(): number | undefined {
    if (this.#sinceMs === undefined) return undefined
    const isFull = this.#ticks.length >= batchLimits.ticks || this.#bytes >= batchLimits.bytes
    return isFull ? this.#sinceMs : this.#sinceMs + batchLimits.ageMs
  }

  /** What was gathered, as batches of at most 500 ticks; the last values go with the last one. */
  take(lastOf: (symbol: string) => Last | undefined): Batch[] {
    if (this.#sinceMs === undefined) return []
    const last = Array.from(this.#touched, ([symbol, tsMs]) => lastRow(lastOf(symbol), tsMs)).filter(
      (row) => row !== undefined,
    )
    const batches: Batch[] = []
    const ticks = this.#ticks
    for (let at = 0; at === 0 || at < ticks.length; at += batchLimits.ticks) {
      const part = ticks.slice(at, at + batchLimits.ticks)
      const isLast = at + batchLimits.ticks >= ticks.length
      batches.push({ hub: this.#hub, no: ++this.#no, epoch: this.#epoch, ticks: part, last: isLast ? last : [] })
    }
    this.#ticks = []
    this.#touched = new Map()
    this.#bytes = 0
    this.#sinceMs = undefined
    return batches
  }

  /** Whether a tick waits here. */
  holds(symbol: string, ts: string, fp: string): boolean {
    return this.#ticks.some((row) => row.symbol === symbol && row.ts === ts && row.fp === fp)
  }
}

function rowOf({ s, tsMs, fp, q, frame, dv, recvMs, source, late, flags }: Accepted): BatchTick {
  return {
    symbol: s,
    ts: timeText(tsMs),
    fp: String(fp),
    q,
    price: frame.price ?? 0,
    dv: String(dv ?? 0),
    dayVolume: frame.day_volume === undefined ? null : String(frame.day_volume),
    marketHours: Math.max(-mostSmallint, Math.min(mostSmallint, frame.market_hours ?? 0)),
    bid: frame.bid ?? null,
    ask: frame.ask ?? null,
    recvMs,
    source: source === 'stream' ? 0 : 2,
    late,
    flags: flags.reduce((bits, flag) => bits | (1 << flagBits.indexOf(flag)), 0),
  }
}

function lastRow(last: Last | undefined, tsMs: number): BatchLast | undefined {
  if (!last) return undefined
  const { s, q, recvMs, values } = last
  return {
    symbol: s,
    q,
    ts: timeText(tsMs),
    data: toBase64(encode(values)),
    recvMs,
    quoteType: values.quote_type ?? 0,
    exchange: textOf(values.exchange),
    currency: textOf(values.currency),
    shortName: textOf(values.short_name),
    priceHint: values.price_hint === undefined ? null : Number(BigInt.asIntN(32, BigInt(values.price_hint))),
  }
}

/** Postgres text cannot hold U+0000. */
const textOf = (text: string | undefined): string | null => text?.replaceAll('\0', '') || null

/** A time in digits: `String` would write one beyond 1e21 with an exponent. */
export const timeText = (tsMs: number): string => String(BigInt(tsMs))
