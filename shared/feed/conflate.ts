/** Windows of subscribers, in milliseconds; a wish is rounded up to one, so that subscribers share frames. */
export const intervalClasses = [0, 50, 100, 250, 500, 1000, 2000, 5000, 10_000, 60_000] as const

/** The class of an interval from 0 to 60,000 ms. */
export const intervalClass = (intervalMs: number): number => intervalClasses.find((ms) => ms >= intervalMs) ?? 60_000

/** At most this many items go into one frame. */
export const mostItems = 200

export type Tick<T> = {
  readonly s: string
  readonly q: number
  /** Absent in a frame that carries no price. */
  readonly price?: number | undefined
  readonly late?: boolean | undefined
  readonly data: T
}

export type Item<T> = {
  readonly s: string
  /** Number of the newest tick in the item. */
  readonly q: number
  /** Ticks merged. */
  readonly n: number
  /** Of the last tick in order; of the last one, when all are late. */
  readonly data: T
  readonly price?: number | undefined
  readonly hi?: number | undefined
  readonly lo?: number | undefined
  readonly late?: true
}

/** What a window makes of the data of two ticks of a symbol, older first. */
export type Combine<T> = (older: T, newer: T) => T

/**
 * Merges ticks per symbol inside windows of one interval. A symbol that was quiet for a whole window leaves at once;
 * any other waits for the border, a time equal to the phase modulo the interval. Interval 0 merges nothing.
 */
export class Conflator<T> {
  readonly intervalMs: number
  readonly #phaseMs: number
  readonly #combine: Combine<T>
  readonly #pending = new Map<string, Item<T>>()
  readonly #sentAtMs = new Map<string, number>()
  #flushAtMs: number | undefined

  constructor(intervalMs: number, phaseMs = 0, combine: Combine<T> = (_, newer) => newer) {
    this.intervalMs = intervalMs
    this.#phaseMs = phaseMs
    this.#combine = combine
  }

  /** When the next window ends that holds something; undefined when none does. */
  get flushAtMs(): number | undefined {
    return this.#flushAtMs
  }

  /**
   * Takes all ticks of one turn, in order, and gives the items that leave in it: windows that end, then symbols at
   * their leading edge.
   */
  turn(atMs: number, ticks: readonly Tick<T>[]): Item<T>[] {
    if (this.intervalMs === 0) return ticks.map(itemOf)
    // A timer that comes late ends its window before the ticks of this turn, which belong to a later one.
    const ended = this.#flushAtMs !== undefined && this.#flushAtMs < atMs ? this.#flush(atMs) : []
    const leading = new Map<string, Item<T>>()
    for (const tick of ticks) {
      const waiting = this.#pending.get(tick.s)
      if (waiting) {
        this.#pending.set(tick.s, this.#add(waiting, tick))
        continue
      }
      const first = leading.get(tick.s)
      if (first) leading.set(tick.s, this.#add(first, tick))
      else if (this.#isQuiet(tick.s, atMs)) leading.set(tick.s, itemOf(tick))
      else {
        this.#pending.set(tick.s, itemOf(tick))
        this.#flushAtMs ??= this.#borderFrom(atMs)
      }
    }
    const ending = this.#flushAtMs !== undefined && this.#flushAtMs <= atMs ? this.#flush(atMs) : []
    for (const symbol of leading.keys()) this.#sentAtMs.set(symbol, atMs)
    return [...ended, ...ending, ...leading.values()]
  }

  /** Forgets a symbol that nobody wants any more. */
  forget(symbol: string): void {
    this.#pending.delete(symbol)
    this.#sentAtMs.delete(symbol)
    if (this.#pending.size === 0) this.#flushAtMs = undefined
  }

  #isQuiet(symbol: string, atMs: number): boolean {
    const sentAtMs = this.#sentAtMs.get(symbol)
    return sentAtMs === undefined || atMs - sentAtMs >= this.intervalMs
  }

  /** The first border at or after a time: a tick at the border belongs to the window that ends there. */
  #borderFrom(atMs: number): number {
    return Math.ceil((atMs - this.#phaseMs) / this.intervalMs) * this.intervalMs + this.#phaseMs
  }

  #flush(atMs: number): Item<T>[] {
    const items = [...this.#pending.values()]
    for (const symbol of this.#pending.keys()) this.#sentAtMs.set(symbol, atMs)
    this.#pending.clear()
    this.#flushAtMs = undefined
    return items
  }

  /** A late tick counts and widens the range, but never replaces a value in order. */
  #add(item: Item<T>, tick: Tick<T>): Item<T> {
    const q = Math.max(item.q, tick.q)
    const range = widen(item, tick.price)
    const n = item.n + 1
    if (tick.late && !item.late) return { ...item, ...range, q, n }
    const base = { s: item.s, q, n, price: tick.price ?? item.price, ...range }
    if (item.late && !tick.late) return { ...base, price: tick.price, data: tick.data }
    const data = this.#combine(item.data, tick.data)
    return tick.late ? { ...base, data, late: true } : { ...base, data }
  }
}

const itemOf = <T>(tick: Tick<T>): Item<T> => {
  const { s, q, price, data } = tick
  return { s, q, n: 1, price, hi: price, lo: price, data, ...(tick.late && { late: true as const }) }
}

const widen = <T>({ hi, lo }: Item<T>, price: number | undefined) => {
  if (price === undefined) return { hi, lo }
  return { hi: hi === undefined ? price : Math.max(hi, price), lo: lo === undefined ? price : Math.min(lo, price) }
}

/** A list cut into frames of at most {@link mostItems}. */
export function* framesOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += mostItems) yield items.slice(at, at + mostItems)
}
