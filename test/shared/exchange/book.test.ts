import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bestPrices, levelsOf, mirrored, type Resting } from '../../../shared/exchange/book.ts'

const orders: readonly Resting[] = [
  { outcome: 0, side: 'BUY', price: 5500, size: 100n },
  { outcome: 0, side: 'BUY', price: 5600, size: 30n },
  { outcome: 1, side: 'SELL', price: 4400, size: 10n }, // a bid at 0.56 on the first token
  { outcome: 0, side: 'SELL', price: 6000, size: 75n },
  { outcome: 1, side: 'BUY', price: 4200, size: 20n }, // an ask at 0.58 on the first token
]

const resting: fc.Arbitrary<Resting[]> = fc.array(
  fc.record({
    outcome: fc.constantFrom(0 as const, 1 as const),
    side: fc.constantFrom('BUY' as const, 'SELL' as const),
    price: fc.integer({ min: 1, max: 9999 }),
    size: fc.bigInt({ min: 0n, max: 10n ** 15n }),
  }),
)

describe('levelsOf', () => {
  it('sums up by price, mirrors the other token, and puts the best level last', () => {
    expect(levelsOf(orders, 0)).toEqual({
      bids: [
        { price: 5500, size: 100n },
        { price: 5600, size: 40n },
      ],
      asks: [
        { price: 6000, size: 75n },
        { price: 5800, size: 20n },
      ],
    })
    expect(levelsOf(orders, 1)).toEqual({
      bids: [
        { price: 4000, size: 75n },
        { price: 4200, size: 20n },
      ],
      asks: [
        { price: 4500, size: 100n },
        { price: 4400, size: 40n },
      ],
    })
  })

  it('leaves out what has no size left', () => {
    expect(levelsOf([{ outcome: 0, side: 'BUY', price: 5000, size: 0n }], 0)).toEqual({ bids: [], asks: [] })
  })

  it('shows each token the mirror of the other, in strict order, without losing size', () => {
    fc.assert(
      fc.property(resting, (orders) => {
        const [first, second] = [levelsOf(orders, 0), levelsOf(orders, 1)]
        const mirror = (levels: typeof first.bids) => levels.map(({ price, size }) => ({ price: 10_000 - price, size }))
        expect(second.asks).toEqual(mirror(first.bids))
        expect(second.bids).toEqual(mirror(first.asks))
        const isAscending = (levels: typeof first.bids) =>
          levels.every(({ price }, at) => at === 0 || price > (levels[at - 1]?.price ?? 0))
        expect(isAscending(first.bids)).toBe(true)
        expect(isAscending(first.asks.toReversed())).toBe(true)
        const sum = (sizes: readonly { size: bigint }[]) => sizes.reduce((total, { size }) => total + size, 0n)
        expect(sum([...first.bids, ...first.asks])).toBe(sum(orders))
      }),
    )
  })
})

describe('bestPrices', () => {
  it('counts an empty side as 0 for the bid and 1 for the ask', () => {
    expect(bestPrices(levelsOf(orders, 0))).toEqual({ bid: 5600, ask: 5800 })
    expect(bestPrices({ bids: [], asks: [] })).toEqual({ bid: 0, ask: 10_000 })
  })
})

describe('mirrored', () => {
  it('is its own inverse', () => {
    const trade = { side: 'BUY' as const, price: 5700 }
    expect(mirrored(trade)).toEqual({ side: 'SELL', price: 4300 })
    expect(mirrored(mirrored(trade))).toEqual(trade)
  })
})
