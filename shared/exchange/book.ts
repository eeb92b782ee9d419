import { oneDollarTicks, type Ticks, type Units } from './decimal.ts'

export type Side = 'BUY' | 'SELL'

/** Which of the two tokens of a market: 0 is the one that the book is kept in. */
export type OutcomeIndex = 0 | 1

/** What rests on a book: an order, or several of one owner at one price. */
export type Resting = {
  readonly outcome: OutcomeIndex
  readonly side: Side
  readonly price: Ticks
  readonly size: Units
}

export type Level = { readonly price: Ticks; readonly size: Units }

/** One token's view of its market's book. The best level of each side is its last. */
export type Levels = {
  /** Price ascending. */
  readonly bids: readonly Level[]
  /** Price descending. */
  readonly asks: readonly Level[]
}

export type LastTrade = { readonly price: Ticks; readonly side: Side }

/**
 * The book of one token: what rests, summed up by price. An order on the other token shows mirrored (opposite side,
 * price 1 - p, same size), since both tokens of a market share one book.
 */
export function levelsOf(resting: Iterable<Resting>, outcome: OutcomeIndex): Levels {
  const sizes = { BUY: new Map<Ticks, Units>(), SELL: new Map<Ticks, Units>() }
  for (const order of resting) {
    if (order.size <= 0n) continue
    const { side, price } = order.outcome === outcome ? order : mirrored(order)
    sizes[side].set(price, (sizes[side].get(price) ?? 0n) + order.size)
  }
  const levels = (side: Side): Level[] => [...sizes[side]].map(([price, size]) => ({ price, size }))
  return {
    bids: levels('BUY').sort((left, right) => left.price - right.price),
    asks: levels('SELL').sort((left, right) => right.price - left.price),
  }
}

/** The same trade or order, told in terms of the other token. */
export const mirrored = <T extends { readonly side: Side; readonly price: Ticks }>(order: T): T => ({
  ...order,
  side: order.side === 'BUY' ? 'SELL' : 'BUY',
  price: oneDollarTicks - order.price,
})

/** The best prices; an empty side counts as 0 for the bid and 1 for the ask. */
export const bestPrices = ({ bids, asks }: Levels): { readonly bid: Ticks; readonly ask: Ticks } => ({
  bid: bids.at(-1)?.price ?? 0,
  ask: asks.at(-1)?.price ?? oneDollarTicks,
})
