import { describe, expect, it } from 'vitest'
import { levelsOf } from '../../../shared/exchange/book.ts'
import { type BookSummary, bookHash, bookSummary } from '../../../shared/exchange/book-summary.ts'
import { createScenery } from '../../../shared/exchange/scenery.ts'
import orders from '../../vectors/clob-orders.json' with { type: 'json' }

type HashCase = { id: string; note: string; kind: string; input: { book: BookSummary }; expected: { hash: string } }
const cases = (orders.cases as unknown as HashCase[]).filter(({ kind }) => kind === 'book_hash')

describe('bookHash', () => {
  it.each(cases)('$id: $note', async ({ input, expected }) => {
    expect(await bookHash(input.book)).toBe(expected.hash)
  })

  it('does not depend on the hash that stands in the summary', async () => {
    const book = cases[0]?.input.book as BookSummary
    expect(await bookHash({ ...book, hash: 'something else' })).toBe(await bookHash(book))
    expect(await bookHash({ ...book, neg_risk: true })).not.toBe(await bookHash(book))
  })

  it('has its five known answers', () => expect(cases).toHaveLength(5))
})

describe('bookSummary', () => {
  const scenery = createScenery(Date.UTC(2026, 0, 1))
  const market = scenery.markets[0]
  if (!market) throw new Error('the scenery has markets')
  const resting = scenery.resting.filter(({ conditionId }) => conditionId === market.conditionId)

  it('writes the members in the order that the hash depends on', async () => {
    const summary = await bookSummary(market, 0, levelsOf(resting, 0))
    expect(Object.keys(summary)).toEqual([
      'market',
      'asset_id',
      'timestamp',
      'hash',
      'bids',
      'asks',
      'min_order_size',
      'tick_size',
      'neg_risk',
      'last_trade_price',
    ])
    expect(summary).toMatchObject({
      market: market.conditionId,
      asset_id: market.tokens[0].tokenId,
      timestamp: '1767225600000',
      min_order_size: '5',
      tick_size: '0.01',
      neg_risk: false,
      last_trade_price: '0.57',
    })
    expect(summary.bids.at(-1)).toEqual({ price: '0.56', size: '75' })
    expect(summary.asks.at(-1)).toEqual({ price: '0.58', size: '75' })
    expect(summary.hash).toBe(await bookHash(summary))
  })

  it('tells the last trade in terms of the token asked for', async () => {
    const second = await bookSummary(market, 1, levelsOf(resting, 1))
    expect(second.last_trade_price).toBe('0.43')
    expect(second.asset_id).toBe(market.tokens[1].tokenId)
  })

  it('has empty arrays and an empty text where there is nothing', async () => {
    const untraded = { ...market, lastTrade: undefined }
    const summary = await bookSummary(untraded, 1, { bids: [], asks: [] })
    expect(summary).toMatchObject({ bids: [], asks: [], last_trade_price: '' })
  })
})
