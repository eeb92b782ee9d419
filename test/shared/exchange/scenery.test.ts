import { describe, expect, it } from 'vitest'
import type { ApiKey } from '../../../shared/exchange/api-key.ts'
import { bestPrices, levelsOf } from '../../../shared/exchange/book.ts'
import { conditionIdOf, questionIdOf, tokenIdOf } from '../../../shared/exchange/market.ts'
import { createScenery, marketMakers, sandboxTrader } from '../../../shared/exchange/scenery.ts'
import { addressOfPrivateKey } from '../../../shared/kernel/auth/wallet.ts'

const nowMs = Date.UTC(2026, 0, 1)
const scenery = createScenery(nowMs)
const bookOf = (conditionId: string) =>
  levelsOf(
    scenery.resting.filter((order) => order.conditionId === conditionId),
    0,
  )

describe('createScenery', () => {
  it('is the same for the same clock', () => {
    expect(createScenery(nowMs)).toEqual(scenery)
  })

  it('has a market for every feature', () => {
    const { markets } = scenery
    expect(markets.length).toBeGreaterThanOrEqual(12)
    expect(new Set(markets.map(({ tickSize }) => tickSize))).toEqual(new Set([1000, 100, 10, 1]))
    expect(new Set(markets.map(({ event }) => event.id)).size).toBeGreaterThanOrEqual(6)
    expect(new Set(markets.flatMap(({ tags }) => tags.map(({ id }) => id))).size).toBeGreaterThanOrEqual(12)
    expect(markets.filter(({ negRisk }) => negRisk).length).toBeGreaterThan(1)
    expect(markets.some(({ secondsDelay }) => secondsDelay === 3)).toBe(true)
    expect(markets.some(({ baseFeeBps }) => baseFeeBps === 1000)).toBe(true)
    expect(markets.every(({ baseFeeBps }) => baseFeeBps === 0 || baseFeeBps === 1000)).toBe(true)
    expect(markets.some(({ acceptingOrders, closed }) => !acceptingOrders && !closed)).toBe(true)
    expect(new Set(markets.filter(({ closed }) => closed).map(({ winner }) => winner))).toEqual(new Set([0, 1]))
  })

  it('ends open markets after the clock and closed ones before it', () => {
    for (const { closed, endsAtMs, winner } of scenery.markets) {
      expect(endsAtMs < nowMs).toBe(closed)
      expect(winner !== undefined).toBe(closed)
    }
  })

  it('gives every market a first trade, since strict clients refuse one without', () => {
    expect(scenery.markets.every(({ lastTrade }) => lastTrade !== undefined)).toBe(true)
  })

  it('has distinct ids, slugs, conditions and tokens', () => {
    const { markets } = scenery
    const distinct = (values: readonly unknown[]) => expect(new Set(values).size).toBe(values.length)
    distinct(markets.map(({ id }) => id))
    distinct(markets.map(({ slug }) => slug))
    distinct(markets.map(({ conditionId }) => conditionId))
    distinct(markets.flatMap(({ tokens }) => tokens.map(({ tokenId }) => tokenId)))
  })

  it('quotes both sides of every open market on its ticks, by both makers, without crossing', () => {
    for (const { conditionId, tickSize, acceptingOrders } of scenery.markets) {
      const book = bookOf(conditionId)
      if (!acceptingOrders) {
        expect(book).toEqual({ bids: [], asks: [] })
        continue
      }
      const { bid, ask } = bestPrices(book)
      expect(bid).toBeLessThan(ask)
      expect(book.bids.length).toBeGreaterThan(0)
      expect(book.asks.length).toBeGreaterThan(0)
      const resting = scenery.resting.filter((order) => order.conditionId === conditionId)
      expect(new Set(resting.map(({ owner }) => owner))).toEqual(new Set(marketMakers))
      expect(resting.every(({ price }) => price % tickSize === 0 && price > 0 && price < 10_000)).toBe(true)
    }
  })

  it('quotes no market beyond the prices where its tick would change', () => {
    for (const { conditionId, tickSize, acceptingOrders } of scenery.markets) {
      if (tickSize !== 100 || !acceptingOrders) continue
      const { bid, ask } = bestPrices(bookOf(conditionId))
      expect(bid).toBeLessThanOrEqual(9600)
      expect(ask).toBeGreaterThanOrEqual(400)
    }
  })
})

describe('sandboxTrader', () => {
  it('is a wallet and its key of nonce 0', () => {
    expect(addressOfPrivateKey(sandboxTrader.privateKey)).toBe(sandboxTrader.address)
    const { privateKey: _, ...credential } = sandboxTrader
    const expected: ApiKey = { ...credential, address: sandboxTrader.address.toLowerCase(), nonce: 0n }
    expect(scenery.apiKeys).toEqual([expected])
    expect(sandboxTrader.secret).toMatch(/^[A-Za-z0-9_-]{43}=$/)
    expect(sandboxTrader.passphrase).toMatch(/^[0-9a-f]{64}$/)
  })
})

describe('ids of a venue', () => {
  it('are keccak-256 of what they name', () => {
    expect(conditionIdOf('rain')).toBe('0xea83d6883cd40dff306085a3c15c784cf3d10110ad77e8d1abe0310e2f204b92')
    expect(questionIdOf('rain')).toBe('0x8521e8d59b412fc1aad7c18f28a7a6ec1411f40bbe0591fa517eecf45fa80ccd')
    const conditionId = conditionIdOf('rain')
    expect(tokenIdOf(conditionId, 0)).toBe(
      '99155427028253101024673803757907323595411813736828336917659683915379050666538',
    )
    expect(tokenIdOf(conditionId, 1)).not.toBe(tokenIdOf(conditionId, 0))
  })
})
