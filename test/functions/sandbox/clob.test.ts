import { abortAllDurableObjects } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { createClobApp } from '../../../functions/sandbox/clob.ts'
import type { SandboxBindings } from '../../../functions/sandbox/env.ts'
import { type BookSummary, bookHash } from '../../../shared/exchange/book-summary.ts'
import { conditionIdOf, tokenIdOf } from '../../../shared/exchange/market.ts'
import { sandboxTrader } from '../../../shared/exchange/scenery.ts'
import { l1Headers, withL1 } from '../../../shared/kernel/auth/l1.ts'
import { type L2Credential, l2Headers, withL2 } from '../../../shared/kernel/auth/l2.ts'
import { addressOfPrivateKey } from '../../../shared/kernel/auth/wallet.ts'
import { rows } from '../../support/rows.ts'

const app = createClobApp()
const bindings = env as unknown as SandboxBindings
const send = async (request: Request): Promise<Response> => app.fetch(request, bindings)
const request = (path: string, init?: RequestInit) => new Request(`http://clob.sandbox${path}`, init)
const call = (path: string, init?: RequestInit) => send(request(path, init))

const wallet = { privateKey: `0x${'11'.repeat(32)}`, chainId: 137 }
const otherWallet = { privateKey: `0x${'22'.repeat(32)}`, chainId: 137 }
const addressOf = ({ privateKey }: typeof wallet) => addressOfPrivateKey(privateKey)

type KeyAnswer = { apiKey: string; secret: string; passphrase: string }

const asWallet = (of: typeof wallet, nonce: number | bigint = 0) => withL1(send, of, Date.now, nonce)
const createKey = async (of = wallet, nonce: number | bigint = 0): Promise<KeyAnswer> => {
  const response = await asWallet(of, nonce)(request('/auth/api-key', { method: 'POST' }))
  expect(response.status).toBe(200)
  return response.json()
}
const deriveKey = (of = wallet, nonce: number | bigint = 0) => asWallet(of, nonce)(request('/auth/derive-api-key'))
const listKeys = (credential: L2Credential) => withL2(send, credential, Date.now)(request('/auth/api-keys'))
const credentialOf = (key: KeyAnswer, of = wallet): L2Credential => ({ ...key, address: addressOf(of) })

const nowSeconds = () => Math.floor(Date.now() / 1000)

describe('public operations', () => {
  it('answer without credentials', async () => {
    for (const path of ['/', '/ok']) {
      const response = await call(path)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toMatch(/^application\/json/)
      expect(await response.text()).toBe('"OK"')
    }
    expect(await (await call('/version')).json()).toEqual({ version: 1 })
  })

  it('give the time as a bare number of whole seconds', async () => {
    const before = nowSeconds()
    const text = await (await call('/time')).text()
    expect(text).toMatch(/^\d{10}$/)
    expect(Number(text)).toBeGreaterThanOrEqual(before)
    expect(Number(text)).toBeLessThanOrEqual(nowSeconds())
  })

  it.each([
    ['GET', '/nope', 404, 'Not found'],
    ['GET', '/book/', 404, 'Not found'],
    ['PUT', '/book', 405, 'Method not allowed'],
    ['DELETE', '/auth/derive-api-key', 405, 'Method not allowed'],
  ])('%s %s is %i without credentials', async (method, path, status, error) => {
    const response = await call(path, { method })
    expect(response.status).toBe(status)
    expect(await response.json()).toEqual({ error })
  })
})

describe('GET /book', () => {
  const conditionId = conditionIdOf('rain-ghent-may')
  const book = async (outcome: 0 | 1): Promise<BookSummary> => {
    const response = await call(`/book?token_id=${tokenIdOf(conditionId, outcome)}`)
    expect(response.status).toBe(200)
    return response.json()
  }

  it('shows the quotes of both makers, the best level last, with a hash over the text as sent', async () => {
    const summary = await book(0)
    expect(summary).toMatchObject({
      market: conditionId,
      bids: [
        { price: '0.54', size: '225' },
        { price: '0.55', size: '150' },
        { price: '0.56', size: '75' },
      ],
      asks: [
        { price: '0.6', size: '225' },
        { price: '0.59', size: '150' },
        { price: '0.58', size: '75' },
      ],
      min_order_size: '5',
      tick_size: '0.01',
      neg_risk: false,
      last_trade_price: '0.57',
    })
    expect(summary.timestamp).toMatch(/^\d{13}$/)
    expect(await bookHash(summary)).toBe(summary.hash)
  })

  it('shows the second token the mirror of the first', async () => {
    const [first, second] = [await book(0), await book(1)]
    const mirror = (levels: BookSummary['bids']) =>
      levels.map(({ price, size }) => ({ price: String(Number((1 - Number(price)).toFixed(4))), size }))
    expect(second.asks).toEqual(mirror(first.bids))
    expect(second.bids).toEqual(mirror(first.asks))
    expect(second.last_trade_price).toBe('0.43')
    expect(second.hash).not.toBe(first.hash)
    expect(await bookHash(second)).toBe(second.hash)
  })

  it('of a closed market is there and empty', async () => {
    const token = tokenIdOf(conditionIdOf('song-festival-host-wins'), 0)
    expect(await (await call(`/book?token_id=${token}`)).json()).toMatchObject({ asset_id: token, bids: [], asks: [] })
  })

  it('answers HEAD without a body', async () => {
    const response = await call(`/book?token_id=${tokenIdOf(conditionId, 0)}`, { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('')
  })

  it.each(['', '?token_id=', '?token_id=abc', '?token_id=-1', '?token_id=0x12', '?token_id=1&token_id=2', '?token=1'])(
    'refuses %j as no token id',
    async (query) => {
      const response = await call(`/book${query}`)
      expect(response.status).toBe(400)
      expect(await response.json()).toEqual({ error: 'Invalid token id' })
    },
  )

  it.each(['0', '123', '9'.repeat(200)])('has none for the unknown token %s', async (token) => {
    const response = await call(`/book?token_id=${token}`)
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({ error: 'No orderbook exists for the requested token id' })
  })
})

describe('creating and deriving API keys', () => {
  it('creates credentials that then sign L2 requests', async () => {
    rows('clob.key.create')
    const key = await createKey()
    expect(Object.keys(key)).toEqual(['apiKey', 'secret', 'passphrase'])
    expect(key.apiKey).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
    expect(key.secret).toMatch(/^[A-Za-z0-9_-]{43}=$/)
    expect(key.passphrase).toMatch(/^[0-9a-f]{64}$/)
    const listed = await listKeys(credentialOf(key))
    expect(listed.status).toBe(200)
    expect(await listed.json()).toEqual({ apiKeys: [key.apiKey] })
    expect((await call('/auth/api-key', { method: 'POST' })).status).toBe(401)
  })

  it('derives what was created for the address and nonce, again and again', async () => {
    rows('clob.key.derive')
    const [first, second] = [await createKey(wallet, 0), await createKey(wallet, 2n ** 256n - 1n)]
    expect(second.apiKey).not.toBe(first.apiKey)
    for (let times = 0; times < 2; times++) {
      expect(await (await deriveKey(wallet, 0)).json()).toEqual(first)
      expect(await (await deriveKey(wallet, 2n ** 256n - 1n)).json()).toEqual(second)
    }
  })

  it('refuses a second creation, and leaves the first key as it is', async () => {
    const key = await createKey()
    const again = await asWallet(wallet)(request('/auth/api-key', { method: 'POST' }))
    expect(again.status).toBe(400)
    expect(await again.json()).toEqual({ error: 'Could not create api key' })
    expect(await (await deriveKey()).json()).toEqual(key)
  })

  it('makes one key when many are asked for at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => asWallet(wallet)(request('/auth/api-key', { method: 'POST' }))),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(9)
    await Promise.all(answers.map((answer) => answer.body?.cancel()))
  })

  it('refuses to derive what was never created: another nonce, another wallet', async () => {
    await createKey(wallet, 0)
    for (const [of, nonce] of [
      [wallet, 1],
      [otherWallet, 0],
    ] as const) {
      const response = await deriveKey(of, nonce)
      expect(response.status).toBe(400)
      expect(await response.json()).toEqual({ error: 'Could not derive api key!' })
    }
  })

  it('keeps what it answered when the object dies', async () => {
    const key = await createKey()
    await abortAllDurableObjects()
    expect(await (await deriveKey()).json()).toEqual(key)
    expect((await listKeys(credentialOf(key))).status).toBe(200)
  })

  it('takes a JSON content type with an empty body', async () => {
    const headers = { 'content-type': 'application/json' }
    const response = await asWallet(wallet)(request('/auth/api-key', { method: 'POST', headers, body: '' }))
    expect(response.status).toBe(200)
  })
})

describe('L1', () => {
  const operations = [
    ['POST', '/auth/api-key'],
    ['GET', '/auth/derive-api-key'],
  ] as const

  const refused = async (method: string, path: string, headers: HeadersInit) => {
    const response = await call(path, { method, headers })
    expect(response.status).toBe(401)
    expect(await response.json()).toEqual({ error: 'Invalid L1 Request headers' })
  }

  it('is taken when valid; missing, wrong and L2 headers are refused with one text', async () => {
    rows('clob.auth.l1')
    const valid = { ...l1Headers(wallet, nowSeconds(), 0) }
    for (const [method, path] of operations) {
      await refused(method, path, {})
      for (const name of Object.keys(valid)) {
        await refused(method, path, Object.fromEntries(Object.entries(valid).filter(([other]) => other !== name)))
      }
      await refused(method, path, { ...valid, POLY_SIGNATURE: '0x1234' })
      await refused(method, path, { ...valid, POLY_NONCE: '1' })
      await refused(method, path, { ...valid, POLY_TIMESTAMP: String(nowSeconds() + 1) })
      await refused(method, path, { ...valid, POLY_ADDRESS: addressOf(otherWallet) })
      await refused(method, path, { ...valid, POLY_ADDRESS: '0x12' })
      await refused(method, path, { ...l1Headers({ ...wallet, chainId: 80002 }, nowSeconds(), 0) })
      await refused(method, path, { ...l1Headers(wallet, nowSeconds() - 700, 0) })
      await refused(method, path, { ...l1Headers(wallet, nowSeconds() + 700, 0) })
      const message = { timestamp: nowSeconds(), method, path }
      await refused(method, path, { ...(await l2Headers(sandboxTrader, message)) })
    }
    for (const [method, path] of operations) expect((await call(path, { method, headers: valid })).status).toBe(200)
  })
})

describe('L2', () => {
  const path = '/auth/api-keys'
  const headersOf = async (
    credential: L2Credential = sandboxTrader,
    over: { path?: string; timestamp?: number } = {},
  ) => ({
    ...(await l2Headers(credential, { timestamp: nowSeconds(), method: 'GET', path, ...over })),
  })

  it('of the trader works from the first request on, and lists the keys of that address only', async () => {
    const response = await listKeys(sandboxTrader)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ apiKeys: [sandboxTrader.apiKey] })
    const derived = await deriveKey({ privateKey: sandboxTrader.privateKey, chainId: 137 })
    const { apiKey, secret, passphrase } = sandboxTrader
    expect(await derived.json()).toEqual({ apiKey, secret, passphrase })
  })

  it('lists all keys of its address, oldest first, and no others', async () => {
    rows('clob.key.list')
    const first = await createKey(wallet, 0)
    await createKey(otherWallet, 0)
    const second = await createKey(wallet, 1)
    for (const key of [first, second]) {
      expect(await (await listKeys(credentialOf(key))).json()).toEqual({ apiKeys: [first.apiKey, second.apiKey] })
    }
    expect((await call(path)).status).toBe(401)
  })

  it('refuses every fault with one text', async () => {
    const valid = await headersOf()
    const other = await createKey()
    const faults: Record<string, string>[] = [
      {},
      ...Object.keys(valid).map((name) =>
        Object.fromEntries(Object.entries(valid).filter(([other]) => other !== name)),
      ),
      { ...valid, POLY_API_KEY: '00000000-0000-4000-8000-000000000000' },
      { ...valid, POLY_API_KEY: other.apiKey },
      { ...valid, POLY_API_KEY: "' or 1=1 --" },
      { ...valid, POLY_PASSPHRASE: other.passphrase },
      { ...valid, POLY_ADDRESS: addressOf(wallet) },
      { ...valid, POLY_TIMESTAMP: String(nowSeconds() + 1) },
      { ...valid, POLY_SIGNATURE: 'AAAA' },
      await headersOf({ ...sandboxTrader, secret: other.secret }),
      await headersOf({ ...sandboxTrader, passphrase: other.passphrase }),
      await headersOf(sandboxTrader, { path: '/auth/api-key' }),
      await headersOf(sandboxTrader, { timestamp: nowSeconds() - 700 }),
      await headersOf(sandboxTrader, { timestamp: nowSeconds() + 700 }),
      { ...l1Headers(wallet, nowSeconds(), 0) },
    ]
    for (const headers of faults) {
      const response = await call(path, { headers })
      expect(response.status, JSON.stringify(Object.keys(headers))).toBe(401)
      expect(await response.json()).toEqual({ error: 'Unauthorized/Invalid api key' })
    }
    expect((await call(path, { headers: valid })).status).toBe(200)
  })

  it('covers no query, so one header set serves every page', async () => {
    const headers = await headersOf()
    expect((await call(`${path}?next_cursor=MA%3D%3D`, { headers })).status).toBe(200)
    expect((await call(path, { headers })).status).toBe(200)
    const overQuery = await call(`${path}?a=1`, {
      headers: { ...(await headersOf()), POLY_SIGNATURE: 'JLiHrFHzMqN4AGEcGrNXt9h-rLXBY8f1BPpv-LOFkK0=' },
    })
    expect(overQuery.status).toBe(401)
  })

  it('takes the path below the mount of the gateway, once the gateway names it', async () => {
    const headers = await headersOf(sandboxTrader, { path: '/clob/auth/api-keys' })
    expect((await call(path, { headers })).status).toBe(401)
    const mounted = { 'x-tidegate-mount-prefix': '/clob' }
    expect((await call(path, { headers: { ...headers, ...mounted } })).status).toBe(200)
    expect((await call(path, { headers: { ...(await headersOf()), ...mounted } })).status).toBe(200)
  })
})
