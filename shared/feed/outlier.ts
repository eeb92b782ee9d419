/** A price at a time (milliseconds). */
export type PricePoint = { readonly price: number; readonly tsMs: number }

export type OutlierState = {
  /** The last price that entered candles in order. */
  readonly good?: PricePoint | undefined
  /** A price that jumped and waits for a second one like it. */
  readonly held?: PricePoint | undefined
}

/**
 * What becomes of a price: `enter` candles, `held` until the next tick confirms it, or `never`. `confirms` says that the
 * held price enters too, before this one.
 */
export type Judgement = {
  readonly fate: 'enter' | 'held' | 'never'
  readonly confirms: boolean
  readonly state: OutlierState
}

const jumpWithinMs = 1000
const confirmWithinMs = 5000

/** FUTURE and COMMODITY: oil has been negative. */
const mayBeNegative: readonly (number | undefined)[] = [18, 23]

/** Whether a price is below what its type can cost; a type that is not known cannot be negative. */
export const isImpossible = (price: number, quoteType: number | undefined): boolean =>
  price <= 0 && !mayBeNegative.includes(quoteType)

const isOff = (price: number, from: number): boolean => Math.abs(price - from) > 0.5 * Math.abs(from)

/** Judges a tick in order; late ones are not judged for jumps. */
export function judge(state: OutlierState, point: PricePoint, quoteType: number | undefined): Judgement {
  const { good, held } = state
  if (isImpossible(point.price, quoteType)) return { fate: 'never', confirms: false, state: { good } }
  if (good && held && confirmsHeld(good, held, point)) return { fate: 'enter', confirms: true, state: { good: point } }
  if (good && isOff(point.price, good.price) && point.tsMs - good.tsMs <= jumpWithinMs) {
    return { fate: 'held', confirms: false, state: { good, held: point } }
  }
  return { fate: 'enter', confirms: false, state: { good: point } }
}

const confirmsHeld = (good: PricePoint, held: PricePoint, point: PricePoint): boolean =>
  isOff(point.price, good.price) && !isOff(point.price, held.price) && point.tsMs - held.tsMs <= confirmWithinMs
