import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { levelsOf } from '../../../shared/exchange/book.ts'
import { operations } from '../../../shared/exchange/contract-gamma.ts'
import type { Market } from '../../../shared/exchange/market.ts'
import { marketRecord, outcomePrices, selectMarkets } from '../../../shared/exchange/market-record.ts'
import { MetadataMarket } from '../../../shared/exchange/metadata-market.ts'
import { createScenery } from '../../../shared/exchange/scenery.ts'
import { parseInput } from '../../../shared/kernel/contract/parse.ts'

const scenery = createScenery(Date.UTC(2026, 0, 1))
const rain = scenery.markets[0] as Market
const levels = levelsOf(
  scenery.resting.filter(({ conditionId }) => conditionId === rain.conditionId),
  0,
)
const none = { bids: [], asks: [] }

describe('marketRecord', () => {
  it('writes arrays as JSON text, and volume and liquidity as text beside their numbers', () => {
    const record = marketRecord(rain, levels)
    expect(record).toMatchObject({
      id: '8001',
      slug: 'rain-ghent-may',
      outcomes: '["Yes", "No"]',
      outcomePrices: '["0.57", "0.43"]',
      bestBid: 0.56,
      bestAsk: 0.58,
      spread: 0.02,
      lastTradePrice: 0.57,
      orderPriceMinTickSize: 0.01,
      orderMinSize: 5,
      volume: '57',
      volumeNum: 57,
      endDateIso: '2026-04-01',
      marketMakerAddress: '',
      closed: false,
      acceptingOrders: true,
    })
    expect(JSON.parse(record.clobTokenIds)).toEqual(rain.tokens.map(({ tokenId }) => tokenId))
    expect(record.liquidityNum).toBe(Number(record.liquidity))
    expect(record.liquidityNum).toBeGreaterThan(0)
  })

  it('fits the published record, for every market of the scenery', () => {
    for (const market of scenery.markets) expect(() => MetadataMarket.parse(marketRecord(market, levels))).not.toThrow()
  })

  it('shows an empty book as bid 0 and ask 1', () => {
    expect(marketRecord(rain, none)).toMatchObject({ bestBid: 0, bestAsk: 1, spread: 1, liquidity: '0' })
  })

  it('never shows a closed market as accepting orders', () => {
    expect(marketRecord({ ...rain, closed: true, acceptingOrders: true }, none).acceptingOrders).toBe(false)
  })
})

describe('outcomePrices', () => {
  it('is the midpoint where both sides have orders, in exact decimals', () => {
    const bids = [{ price: 5600, size: 1n }]
    expect(outcomePrices(rain, { bids, asks: [{ price: 5601, size: 1n }] })).toEqual([560_050n, 439_950n])
  })

  it('is the last trade where a side is empty, one half before any trade', () => {
    expect(outcomePrices(rain, { bids: [{ price: 100, size: 1n }], asks: [] })).toEqual([570_000n, 430_000n])
    expect(outcomePrices({ ...rain, lastTrade: undefined }, none)).toEqual([500_000n, 500_000n])
  })

  it('is 1 and 0 once resolved', () => {
    expect(outcomePrices({ ...rain, winner: 0 }, levels)).toEqual([1_000_000n, 0n])
    expect(outcomePrices({ ...rain, winner: 1 }, levels)).toEqual([0n, 1_000_000n])
  })
})

describe('selectMarkets', () => {
  const all = { limit: 500, offset: 0 }
  const idsOf = (markets: readonly Market[]) => markets.map(({ id }) => id)

  it('goes by id, whatever the order given', () => {
    const shuffled = scenery.markets.toReversed()
    expect(idsOf(selectMarkets(shuffled, all))).toEqual(idsOf(scenery.markets))
    expect(shuffled[0]?.id).toBe(scenery.markets.at(-1)?.id)
  })

  it('takes closed as a filter only when it is given', () => {
    const open = selectMarkets(scenery.markets, { ...all, closed: false })
    const closed = selectMarkets(scenery.markets, { ...all, closed: true })
    expect(open.some((market) => market.closed)).toBe(false)
    expect(closed.every((market) => market.closed)).toBe(true)
    expect(closed.length).toBeGreaterThan(0)
    expect(open.length + closed.length).toBe(scenery.markets.length)
  })

  it('gives all markets of a tag and no others; none for an unknown tag', () => {
    for (const tagId of new Set(scenery.markets.flatMap(({ tags }) => tags.map(({ id }) => id)))) {
      const expected = scenery.markets.filter(({ tags }) => tags.some(({ id }) => id === tagId))
      expect(idsOf(selectMarkets(scenery.markets, { ...all, tagId }))).toEqual(idsOf(expected))
    }
    expect(selectMarkets(scenery.markets, { ...all, tagId: 999_999 })).toEqual([])
  })

  it('makes pages that join to the whole list', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), (limit) => {
        const pages: Market[] = []
        for (let offset = 0; offset <= scenery.markets.length; offset += limit) {
          pages.push(...selectMarkets(scenery.markets, { limit, offset }))
        }
        expect(idsOf(pages)).toEqual(idsOf(scenery.markets))
      }),
    )
  })
})

describe('the query of /markets', () => {
  const read = (query: string) =>
    parseInput(operations.getMarkets, { params: {}, query: new URLSearchParams(query), body: undefined }).query

  it('has limit 20 and offset 0 unless told otherwise, and ignores what it does not know', () => {
    expect(read('geo_block_token=x')).toEqual({ limit: 20, offset: 0 })
  })

  it('cuts a large limit to 500 without an error, and takes 0 and any offset', () => {
    expect(read(`limit=${'9'.repeat(400)}`).limit).toBe(500)
    expect(read('limit=0&offset=100000')).toEqual({ limit: 0, offset: 100_000 })
  })

  it('takes true, false, 1 and 0', () => {
    expect(['true', '1', 'false', '0'].map((word) => read(`closed=${word}`).closed)).toEqual([true, true, false, false])
  })

  it.each([
    'limit=-1',
    'limit=1.5',
    'limit=',
    'limit=1e2',
    'limit=1&limit=2',
    'offset=x',
    'tag_id=x',
    'tag_id=',
    'closed=yes',
    'closed=',
    'closed=TRUE',
  ])('refuses %s', (query) => {
    expect(() => read(query)).toThrow(new RegExp(`^${query.split('=')[0]}: `))
  })
})
