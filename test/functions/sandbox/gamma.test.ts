import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { createClobApp } from '../../../functions/sandbox/clob.ts'
import { createDataApp } from '../../../functions/sandbox/data.ts'
import type { SandboxBindings } from '../../../functions/sandbox/env.ts'
import { createGammaApp } from '../../../functions/sandbox/gamma.ts'
import { MetadataMarket } from '../../../shared/exchange/metadata-market.ts'
import { createScenery } from '../../../shared/exchange/scenery.ts'
import { rows } from '../../support/rows.ts'

const app = createGammaApp()
const bindings = env as unknown as SandboxBindings
const call = async (path: string, init?: RequestInit): Promise<Response> =>
  app.fetch(new Request(`http://gamma.sandbox${path}`, init), bindings)

type MarketAnswer = ReturnType<typeof MetadataMarket.parse>

const markets = async (query = ''): Promise<MarketAnswer[]> => {
  const response = await call(`/markets${query}`)
  expect(response.status).toBe(200)
  return response.json()
}
const idsOf = (records: readonly MarketAnswer[]) => records.map(({ id }) => id)

const scenery = createScenery(Date.now()).markets
const ids = scenery.map(({ id }) => String(id))

describe('GET /markets', () => {
  it('answers an array of records that fit what is published', async () => {
    rows('gamma.op.markets')
    const all = await markets()
    expect(idsOf(all)).toEqual(ids)
    for (const record of all) expect(() => MetadataMarket.parse(record)).not.toThrow()
    expect(idsOf(await markets('?closed=false&tag_id=11&limit=1&offset=1'))).toEqual(['8004'])
  })

  it('shows the prices of the book that the order-book service shows', async () => {
    const [rain] = await markets('?limit=1')
    const [tokenId] = JSON.parse(String(rain?.clobTokenIds))
    const book: { bids: { price: string }[]; asks: { price: string }[]; market: string } = await (
      await createClobApp().fetch(new Request(`http://clob.sandbox/book?token_id=${tokenId}`), bindings)
    ).json()
    expect(book.market).toBe(rain?.conditionId)
    expect(String(rain?.bestBid)).toBe(book.bids.at(-1)?.price)
    expect(String(rain?.bestAsk)).toBe(book.asks.at(-1)?.price)
  })

  it('with tag_id gives all markets that carry the tag, and no others', async () => {
    rows('gamma.param.markets.tag_id')
    const tagIds = new Set(scenery.flatMap(({ tags }) => tags.map(({ id }) => id)))
    for (const tagId of tagIds) {
      const expected = scenery.filter(({ tags }) => tags.some(({ id }) => id === tagId)).map(({ id }) => String(id))
      expect(idsOf(await markets(`?tag_id=${tagId}`))).toEqual(expected)
    }
    expect(await markets('?tag_id=999999')).toEqual([])
  })

  it('with closed=false gives no closed market, and refuses what is no boolean', async () => {
    rows('gamma.param.markets.closed')
    const open = await markets('?closed=false')
    expect(open.length).toBeGreaterThan(0)
    expect(open.every(({ closed }) => closed === false)).toBe(true)
    const closed = await markets('?closed=true')
    expect(closed.length).toBeGreaterThan(0)
    expect(closed.every((record) => record.closed === true)).toBe(true)
    expect(open.length + closed.length).toBe(ids.length)
    const refused = await call('/markets?closed=maybe')
    expect(refused.status).toBe(422)
    expect(await refused.json()).toEqual({ type: 'validation error', error: 'closed is invalid' })
  })

  it('has the closed markets unless closed=false is asked for', async () => {
    rows('gamma.rule.closed-false')
    expect((await markets()).some(({ closed }) => closed)).toBe(true)
    expect((await markets('?closed=false')).some(({ closed }) => closed)).toBe(false)
  })

  it('gives at most limit markets, and that many when there are', async () => {
    rows('gamma.param.markets.limit')
    for (const limit of [0, 1, 3, ids.length, ids.length + 1, 500, 10_000]) {
      expect(idsOf(await markets(`?limit=${limit}`))).toEqual(ids.slice(0, limit))
    }
  })

  it('skips offset markets of the same order; pages join without gap or repeat', async () => {
    rows('gamma.param.markets.offset')
    for (const limit of [1, 4, 5]) {
      const pages: MarketAnswer[] = []
      for (let offset = 0; ; offset += limit) {
        const page = await markets(`?limit=${limit}&offset=${offset}`)
        pages.push(...page)
        if (page.length < limit) break
      }
      expect(idsOf(pages)).toEqual(ids)
    }
    expect(idsOf(await markets('?offset=3'))).toEqual(ids.slice(3))
    expect(await markets('?offset=5000')).toEqual([])
  })

  it.each([
    ['limit', 'limit=x'],
    ['limit', 'limit=-1'],
    ['limit', 'limit=1&limit=2'],
    ['offset', 'offset=1.5'],
    ['offset', 'offset='],
    ['tag_id', 'tag_id=weather'],
    ['closed', 'closed='],
  ])('refuses a bad %s: %s', async (name, query) => {
    const response = await call(`/markets?${query}`)
    expect(response.status).toBe(422)
    expect(await response.json()).toEqual({ type: 'validation error', error: `${name} is invalid` })
  })

  it('ignores parameters that it does not know', async () => {
    expect(idsOf(await markets('?geo_block_token=x'))).toEqual(ids)
  })
})

describe('other requests to the metadata service', () => {
  it.each([
    ['GET', '/nope', 404, 'Not found'],
    ['GET', '/', 404, 'Not found'],
    ['POST', '/markets', 405, 'Method not allowed'],
    ['DELETE', '/markets', 405, 'Method not allowed'],
  ])('%s %s is %i', async (method, path, status, error) => {
    const response = await call(path, { method })
    expect(response.status).toBe(status)
    expect(await response.json()).toEqual({ error })
  })
})

describe('the data service', () => {
  const data = createDataApp()
  const ask = async (path: string, init?: RequestInit): Promise<Response> =>
    data.fetch(new Request(`http://data.sandbox${path}`, init), bindings)

  it('says that it is up', async () => {
    rows('data.op.health')
    const response = await ask('/')
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ data: 'OK' })
  })

  it.each([
    ['GET', '/nope', 404, 'Not found'],
    ['POST', '/', 405, 'Method not allowed'],
  ])('%s %s is %i', async (method, path, status, error) => {
    const response = await ask(path, { method })
    expect(response.status).toBe(status)
    expect(await response.json()).toEqual({ error })
  })
})
