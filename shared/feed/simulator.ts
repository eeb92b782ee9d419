import { utf8 } from '../kernel/bytes.ts'
import type { Values } from './fields.ts'
import { shortestFloat } from './float.ts'
import { fmix32, fnv1a } from './rendezvous.ts'
import { type Instrument, type QuoteType, quoteTypes } from './universe.ts'

export type SimulatorOptions = {
  /** Another seed gives another world. */
  readonly seed: string
  /** Markets never close. */
  readonly alwaysOpen: boolean
  /** Ticks per second and symbol, on average; above 0, at most 50. */
  readonly rate: number
}

const dayMs = 86_400_000
const secondMs = 1000
/** A day is a path of 2^17 seconds; the last third is never reached. */
const levels = 17

/** Standard deviation of a day's change, as a share of the price. */
const dailyVolatility: Readonly<Record<QuoteType, number>> = {
  EQUITY: 0.02,
  ETF: 0.01,
  INDEX: 0.01,
  MUTUALFUND: 0.006,
  CURRENCY: 0.006,
  FUTURE: 0.02,
  COMMODITY: 0.018,
  CRYPTOCURRENCY: 0.045,
  OPTION: 0.12,
  BOND: 0.003,
}

const hourMs = 3_600_000

/** PRE_MARKET 0, REGULAR_MARKET 1, POST_MARKET 2; undefined while nothing is sent. */
export function marketHours(type: QuoteType, atMs: number, alwaysOpen: boolean): number | undefined {
  const keepsHours = type === 'EQUITY' || type === 'ETF' || type === 'INDEX' || type === 'OPTION'
  if (alwaysOpen || !keepsHours) return 1
  const weekday = new Date(atMs).getUTCDay()
  if (weekday === 0 || weekday === 6) return undefined
  const inDayMs = atMs % dayMs
  if (inDayMs < 8 * hourMs) return undefined
  if (inDayMs < 13.5 * hourMs) return 0
  return inDayMs < 20 * hourMs ? 1 : 2
}

/**
 * The ticks of one made-up instrument. Everything is a function of the seed, the symbol and the day, so any moment can
 * be asked for; only the day's range is gathered on the way, from the first moment asked for.
 */
export class InstrumentPath {
  readonly #instrument: Instrument
  readonly #options: SimulatorOptions
  #day = Number.NaN
  #daySeed = 0
  #open = 0
  #previousClose = 0
  #high = 0
  #low = 0

  constructor(instrument: Instrument, options: SimulatorOptions) {
    this.#instrument = instrument
    this.#options = options
  }

  /** The time of the first tick after `afterMs`, on an open market; undefined when none comes within a day. */
  nextTickMs(afterMs: number): number | undefined {
    for (let second = Math.floor(afterMs / secondMs); second * secondMs < afterMs + dayMs; second++) {
      const startMs = second * secondMs
      if (marketHours(this.#instrument.type, startMs, this.#options.alwaysOpen) === undefined) continue
      const times = this.#tickTimes(second)
      const next = times.find((ms) => ms > afterMs)
      if (next !== undefined) return next
    }
    return undefined
  }

  /** The frame of the tick at `atMs`: what the upstream sends for this kind, with the range only when it grew. */
  frame(atMs: number): Values {
    this.#enterDay(atMs)
    const { symbol, type, exchange, currency, priceHint, volumePerSecond } = this.#instrument
    const price = this.#priceAt(atMs)
    const isNewHigh = price > this.#high
    const isNewLow = price < this.#low
    this.#high = Math.max(this.#high, price)
    this.#low = Math.min(this.#low, price)
    const change = float(price - this.#previousClose)
    const frame: Values = {
      id: symbol,
      price,
      time: Math.floor(atMs / secondMs) * secondMs,
      exchange,
      quote_type: quoteTypes[type],
      market_hours: marketHours(type, atMs, this.#options.alwaysOpen) ?? 1,
      change_percent: float((change / this.#previousClose) * 100),
      change,
      price_hint: priceHint,
    }
    const volume = volumePerSecond > 0 ? this.#volumeAt(atMs) : undefined
    if (volume !== undefined) frame.day_volume = volume
    if (type === 'CRYPTOCURRENCY') return { ...frame, ...this.#coinFields(price, volume ?? 0, currency) }
    if (isNewHigh) frame.day_high = price
    if (isNewLow) frame.day_low = price
    return withoutZeros(frame)
  }

  /** What is sent once to a new subscriber. */
  staticFrame(atMs: number): Values {
    this.#enterDay(atMs)
    const { symbol, name, currency, type, option } = this.#instrument
    return {
      id: symbol,
      short_name: name,
      currency,
      quote_type: quoteTypes[type],
      previous_close: this.#previousClose,
      open_price: this.#open,
      ...(option && {
        strike_price: option.strike,
        underlying_symbol: option.underlying,
        expire_date: 1_829_001_600,
        mini_option: 1,
        ...(option.put && { options_type: 1 }),
      }),
    }
  }

  #coinFields(price: number, volume: number, currency: string): Values {
    const supply = 120_450_000.5
    return {
      currency,
      day_high: this.#high,
      day_low: this.#low,
      open_price: this.#open,
      last_size: volume,
      vol_24hr: volume,
      vol_all_currencies: volume,
      from_currency: this.#instrument.symbol.split('-', 1)[0] ?? '',
      last_market: 'CoinMarket',
      circulating_supply: supply,
      market_cap: Math.round(price * supply * 100) / 100,
    }
  }

  #enterDay(atMs: number): void {
    const day = Math.floor(atMs / dayMs)
    if (day === this.#day) return
    this.#day = day
    this.#daySeed = this.#seedOf(day)
    this.#open = this.#priceAt(day * dayMs)
    this.#previousClose = float(
      this.#rounded(this.#basePrice(day - 1) * Math.exp(this.#volatility() * gaussian(this.#seedOf(day - 1)))),
    )
    // The range so far, from a point every quarter of an hour.
    this.#high = this.#open
    this.#low = this.#open
    for (let ms = day * dayMs; ms < atMs; ms += hourMs / 4) {
      this.#high = Math.max(this.#high, this.#priceAt(ms))
      this.#low = Math.min(this.#low, this.#priceAt(ms))
    }
  }

  /** Poisson: as many of the second's exponential pauses as fit, on whole milliseconds. */
  #tickTimes(second: number): number[] {
    const seed = this.#seedOf(Math.floor((second * secondMs) / dayMs))
    const times: number[] = []
    let inSecond = 0
    for (let n = 0; ; n++) {
      inSecond -= Math.log(1 - uniform(mix(seed, second, n))) / this.#options.rate
      if (inSecond >= 1) return times
      const ms = second * secondMs + Math.floor(inSecond * secondMs)
      if (times.at(-1) !== ms) times.push(ms)
    }
  }

  #priceAt(atMs: number): number {
    const day = Math.floor(atMs / dayMs)
    const shift = this.#volatility() * brownian(this.#seedOf(day), (atMs % dayMs) / secondMs)
    return float(this.#rounded(this.#basePrice(day) * Math.exp(shift)))
  }

  /** A day opens within two percent of the instrument's price. */
  #basePrice(day: number): number {
    return this.#instrument.price * (0.98 + 0.04 * uniform(mix(this.#seedOf(day), 0, -1)))
  }

  /** Grows with each second, by one to three times a third of the average. */
  #volumeAt(atMs: number): number {
    const second = Math.floor((atMs % dayMs) / secondMs)
    const perSecond = this.#instrument.volumePerSecond
    return Math.floor(perSecond * (second + 0.9 * uniform(mix(this.#daySeed, second, -2)))) + 1
  }

  #rounded(price: number): number {
    const unit = 10 ** this.#instrument.priceHint
    return Math.max(1, Math.round(price * unit)) / unit
  }

  #volatility(): number {
    return dailyVolatility[this.#instrument.type]
  }

  #seedOf(day: number): number {
    return day === this.#day ? this.#daySeed : fnv1a(utf8(`${this.#instrument.symbol} ${day} ${this.#options.seed}`))
  }
}

const float = (value: number): number => shortestFloat(Math.fround(value))

/** A frame as it is on the wire, where a default is absent. */
function withoutZeros(frame: Values): Values {
  return Object.fromEntries(Object.entries(frame).filter(([, value]) => value !== 0)) as Values
}

const mix = (seed: number, index: number, lane: number): number =>
  fmix32(seed ^ fmix32(Math.imul(index, 2_654_435_761) + Math.imul(lane, 0x9e37_79b9) + 1))

/** In 0 ≤ x < 1. */
const uniform = (hash: number): number => hash / 4_294_967_296

/** Box and Muller: normal with mean 0 and deviation 1. */
const gaussian = (hash: number): number =>
  Math.sqrt(-2 * Math.log(1 - uniform(hash))) * Math.cos(2 * Math.PI * uniform(fmix32(hash + 0x9e37_79b9)))

/**
 * A Brownian path over a day at a number of seconds, with deviation 1 at the end of 2^17 seconds. Lévy's construction:
 * each half is the mean of its ends and a normal displacement that only its place decides, so any second costs 17 steps.
 */
function brownian(seed: number, seconds: number): number {
  let from = 0
  let to = gaussian(mix(seed, 1, 99))
  let start = 0
  let length = 2 ** levels
  const target = Math.floor(seconds)
  for (let level = 0; level < levels && start !== target; level++) {
    const half = length / 2
    const deviation = Math.sqrt(half / 2 / 2 ** levels)
    const middle = (from + to) / 2 + deviation * gaussian(mix(seed, start + half, level))
    if (target < start + half) to = middle
    else {
      from = middle
      start += half
    }
    length = half
  }
  return from
}
