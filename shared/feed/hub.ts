import { encode } from './codec.ts'
import type { Values } from './fields.ts'
import { fingerprint } from './fingerprint.ts'
import { beginsDay, merge, volumeStep } from './merge.ts'
import { isImpossible, judge, type OutlierState, type PricePoint } from './outlier.ts'
import { fromSymbol } from './symbol.ts'

/** Where a tick came from: the upstream link, or a push by a caller. */
export type Source = 'stream' | 'ingest'

export type Flag = 'clock' | 'no_time' | 'outlier' | 'too_old' | 'volume_corrected' | 'volume_spans_gap'

/** Bits of the flags in a stored row; their order is that of the sorted list. */
export const flagBits: readonly Flag[] = [
  'clock',
  'no_time',
  'outlier',
  'too_old',
  'volume_corrected',
  'volume_spans_gap',
]

export type RejectCode = 'missing_id' | 'bad_symbol' | 'bad_price' | 'bad_time' | 'too_old'

/** What tells one tick from another, in whatever encoding it came. */
export type TickKey = { readonly s: string; readonly tsMs: number; readonly fp: bigint }

/** A tick that got its number. */
export type Accepted = TickKey & {
  readonly kind: 'accepted'
  readonly q: number
  readonly recvMs: number
  readonly source: Source
  readonly late: boolean
  readonly flags: readonly Flag[]
  /** Volume since the tick before; null in a frame without a price. */
  readonly dv: number | bigint | null
  /** The frame as received, with its id in upper case. */
  readonly frame: Values
  /** Canonical bytes of the frame. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Time that stands in candles. */
  readonly candleMs: number
  /** Whether it belongs in candles now, after a second like it, or never. */
  readonly fate: 'enter' | 'held' | 'never'
  /** The held tick before it enters candles too. */
  readonly confirms: boolean
}

export type Verdict =
  | Accepted
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'rejected'; readonly code: RejectCode }

/** A frame that passed the checks which need no state. */
export type Candidate = TickKey & {
  readonly frame: Values
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly hasTime: boolean
}

export type RingEntry = { readonly q: number; readonly recvMs: number; readonly bytes: Uint8Array<ArrayBuffer> }

/** What a symbol's last values are, to read. */
export type Last = { readonly s: string; readonly q: number; readonly recvMs: number; readonly values: Values }

/** What survives a restart of the hub, per symbol. */
export type SavedSymbol = {
  readonly s: string
  readonly q: number
  readonly values: Values
  readonly newestMs: number
  readonly recvMs: number
  readonly volume: number | bigint | undefined
  readonly good: PricePoint | undefined
  /** The newest time of any tick, so that a repeat from before the restart is looked up. */
  readonly seenMs: number
}

type SymbolState = {
  q: number
  values: Values
  /** Newest time of a tick in order; a time far in the future counts as its receipt. */
  newestMs: number
  /** Of the newest frame, whether or not it was in order. */
  recvMs: number
  /** Day volume that the next one is compared with. */
  volume: number | bigint | undefined
  outlier: OutlierState
  /** Keys of the newest accepted ticks, oldest first. */
  window: Map<string, number>
  /** Newest time of a tick that left the window: a later one is a repeat only if it is in the window. */
  forgottenMs: number
  ring: RingEntry[]
  /** Milliseconds between the newest receipts. */
  gapsMs: number[]
  /** Ends of known gaps that no tick has passed yet. */
  openGapsMs: number[]
}

export type HubLimits = { readonly ringTicks: number; readonly ringMs: number }

const windowSize = 64
const dayMs = 86_400_000
const clockSlackMs = 60_000
const keptGaps = 50

/**
 * The core of a hub: numbers ticks, drops repeats, keeps last values and the ring. Symbols share nothing. Times and
 * whether a tick is stored already come as arguments.
 */
export class Hub {
  readonly epoch: string
  readonly #limits: HubLimits
  readonly #symbols = new Map<string, SymbolState>()

  /** @param epoch 4 to 8 characters that name this incarnation of the counters */
  constructor(epoch: string, limits: HubLimits, saved: readonly SavedSymbol[] = []) {
    this.epoch = epoch
    this.#limits = limits
    for (const { s, q, values, newestMs, recvMs, volume, good, seenMs } of saved) {
      const state = { ...emptyState(), q, values, newestMs, recvMs, volume, outlier: { good }, forgottenMs: seenMs }
      this.#symbols.set(s, state)
    }
  }

  /** Checks a frame as far as no state is needed. */
  static check(frame: Values, recvMs: number): Candidate | { readonly kind: 'rejected'; readonly code: RejectCode } {
    if (!frame.id) return { kind: 'rejected', code: 'missing_id' }
    const s = fromSymbol(frame.id)
    if (s === undefined) return { kind: 'rejected', code: 'bad_symbol' }
    if (frame.price !== undefined && !Number.isFinite(frame.price)) return { kind: 'rejected', code: 'bad_price' }
    const hasTime = frame.time !== undefined && frame.time !== 0
    if (hasTime && Number(frame.time) < 0) return { kind: 'rejected', code: 'bad_time' }
    const upper = frame.id === s ? frame : { ...frame, id: s }
    const bytes = encode(upper)
    return { s, tsMs: hasTime ? Number(frame.time) : recvMs, fp: fingerprint(bytes), frame: upper, bytes, hasTime }
  }

  /**
   * Whether only the stored rows can tell that a tick is no repeat: those of its time may have left the window. Ask
   * before {@link accept} and give it the answer.
   */
  mayBeStored({ s, tsMs }: TickKey): boolean {
    const state = this.#symbols.get(s)
    return state !== undefined && tsMs <= state.newestMs && tsMs <= state.forgottenMs
  }

  /**
   * Takes one frame.
   *
   * @param isKnown whether a tick is among the rows that wait to be stored or are stored; asked when the window cannot tell
   */
  accept(candidate: Candidate, recvMs: number, source: Source, isKnown: (key: TickKey) => boolean): Verdict {
    const { s, tsMs, fp, frame, bytes } = candidate
    if (source === 'stream' && tsMs < recvMs - dayMs) return { kind: 'rejected', code: 'too_old' }
    const key = `${tsMs}:${fp}`
    const known = this.#symbols.get(s)
    if (known?.window.has(key) || (known && tsMs <= known.forgottenMs && isKnown(candidate)))
      return { kind: 'duplicate' }
    const state = known ?? emptyState()
    if (!known) this.#symbols.set(s, state)

    const isTick = frame.price !== undefined
    const late = tsMs < state.newestMs
    const isTooOld = source === 'ingest' && tsMs < state.newestMs - dayMs
    const isAhead = tsMs > recvMs + clockSlackMs
    const candleMs = isAhead ? recvMs : tsMs
    const flags = new Set<Flag>()
    if (isAhead) flags.add('clock')
    if (!candidate.hasTime) flags.add('no_time')
    if (isTooOld) flags.add('too_old')

    state.q++
    remember(state, key, tsMs)
    noteReceipt(state, recvMs)
    const order = late ? undefined : this.#inOrder(state, frame, candleMs, flags)
    const fate = order?.fate ?? lateFate(state, frame, isTooOld, flags)
    this.#keepInRing(state, { q: state.q, recvMs, bytes })
    return {
      kind: 'accepted',
      s,
      tsMs,
      fp,
      q: state.q,
      recvMs,
      source,
      late,
      flags: [...flags].sort(),
      dv: isTick ? (order?.dv ?? 0) : null,
      frame,
      bytes,
      candleMs,
      fate: isTick ? fate : 'never',
      confirms: order?.confirms ?? false,
    }
  }

  /** The source knows that ticks up to `toMs` are lost: the next one in order from there on carries their volume. */
  noteGap(symbol: string, toMs: number): void {
    const state = this.#symbols.get(symbol) ?? emptyState()
    this.#symbols.set(symbol, state)
    state.openGapsMs.push(toMs)
  }

  last(symbol: string): Last | undefined {
    const state = this.#symbols.get(symbol)
    if (!state || state.q === 0) return undefined
    return { s: symbol, q: state.q, recvMs: state.recvMs, values: state.values }
  }

  /** `live`, or `stale` after 30 s or twenty times the usual pause without a frame, whichever is longer. */
  stateOf(symbol: string, nowMs: number): 'live' | 'stale' | 'unknown' {
    const state = this.#symbols.get(symbol)
    if (!state || state.q === 0) return 'unknown'
    const gaps = state.gapsMs.toSorted((left, right) => left - right)
    const median = gaps[gaps.length >> 1] ?? 0
    return nowMs - state.recvMs > Math.max(30_000, 20 * median) ? 'stale' : 'live'
  }

  /** The newest ticks of a symbol, oldest first: as many and as old as the limits say. */
  ring(symbol: string, nowMs: number): readonly RingEntry[] {
    const entries = this.#symbols.get(symbol)?.ring ?? []
    return entries.filter(({ recvMs }) => nowMs - recvMs <= this.#limits.ringMs)
  }

  get size(): number {
    return this.#symbols.size
  }

  save(): SavedSymbol[] {
    return Array.from(this.#symbols, ([s, { q, values, newestMs, recvMs, volume, outlier, window, forgottenMs }]) => ({
      s,
      q,
      values,
      newestMs,
      recvMs,
      volume,
      good: outlier.good,
      seenMs: Math.max(forgottenMs, ...window.values()),
    }))
  }

  #inOrder(state: SymbolState, frame: Values, candleMs: number, flags: Set<Flag>) {
    const newDay = beginsDay(state.values, frame)
    state.values = merge(state.values, frame)
    if (frame.price === undefined) return { dv: null, fate: 'never' as const, confirms: false }
    const dv = volumeOf(state, frame, newDay, flags)
    const passed = state.openGapsMs.filter((toMs) => candleMs >= toMs)
    if (passed.length > 0) {
      flags.add('volume_spans_gap')
      state.openGapsMs = state.openGapsMs.filter((toMs) => candleMs < toMs)
    }
    state.newestMs = Math.max(state.newestMs, candleMs)
    const judged = judge(state.outlier, { price: frame.price, tsMs: candleMs }, state.values.quote_type)
    state.outlier = judged.state
    if (judged.fate !== 'enter') flags.add('outlier')
    return { dv, fate: judged.fate, confirms: judged.confirms }
  }

  #keepInRing(state: SymbolState, entry: RingEntry): void {
    state.ring.push(entry)
    const { ringTicks, ringMs } = this.#limits
    while (state.ring.length > ringTicks || entry.recvMs - (state.ring[0]?.recvMs ?? 0) > ringMs) state.ring.shift()
  }
}

const emptyState = (): SymbolState => ({
  q: 0,
  values: {},
  newestMs: Number.NEGATIVE_INFINITY,
  recvMs: 0,
  volume: undefined,
  outlier: {},
  window: new Map(),
  forgottenMs: Number.NEGATIVE_INFINITY,
  ring: [],
  gapsMs: [],
  openGapsMs: [],
})

function remember(state: SymbolState, key: string, tsMs: number): void {
  state.window.set(key, tsMs)
  if (state.window.size <= windowSize) return
  const [oldest] = state.window
  if (!oldest) return
  state.window.delete(oldest[0])
  state.forgottenMs = Math.max(state.forgottenMs, oldest[1])
}

function noteReceipt(state: SymbolState, recvMs: number): void {
  if (state.recvMs > 0) state.gapsMs.push(recvMs - state.recvMs)
  if (state.gapsMs.length > keptGaps) state.gapsMs.shift()
  state.recvMs = recvMs
}

/** A late tick belongs in candles unless its price is impossible or it is history only. */
function lateFate(state: SymbolState, frame: Values, isTooOld: boolean, flags: Set<Flag>): 'enter' | 'never' {
  if (frame.price === undefined || isTooOld) return 'never'
  if (!isImpossible(frame.price, frame.quote_type ?? state.values.quote_type)) return 'enter'
  flags.add('outlier')
  return 'never'
}

/** The first volume of a symbol counts as nothing, not as the whole day; the first of a new day is all of it. */
function volumeOf(state: SymbolState, frame: Values, newDay: boolean, flags: Set<Flag>): number | bigint {
  const before = state.volume
  if (newDay && before !== undefined) state.volume = 0
  const now = frame.day_volume
  if (now === undefined) return 0
  const reference = state.volume
  state.volume = now
  if (reference === undefined) return 0
  if (volumeStep(reference, now) === 'same-day') return difference(now, reference)
  flags.add('volume_corrected')
  return 0
}

function difference(now: number | bigint, before: number | bigint): number | bigint {
  const exact = BigInt(now) - BigInt(before)
  const rounded = Number(exact)
  return Number.isSafeInteger(rounded) ? rounded : exact
}
