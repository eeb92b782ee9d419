import { describe, expect, it, vi } from 'vitest'
import { sandboxTrader } from '../../../shared/exchange/scenery.ts'
import { revokeKey } from '../../../shared/store/keys.ts'
import { basic, bearer, call, newKey, sql } from '../../support/gateway.ts'
import { rows } from '../../support/rows.ts'

const services = '/cloud/public/api/v1/projects/prjalpha01/services'

describe('a call without credentials', () => {
  it('is refused in the shape of the mount', async () => {
    const cloud = await call(services)
    expect(cloud.status).toBe(401)
    expect(cloud.headers.get('www-authenticate')).toMatch(/^Basic /)
    expect(await cloud.json()).toMatchObject({ code: 'UNAUTHORIZED', message: expect.any(String) })

    const mst = await call('/mst/v1/me')
    expect(mst.status).toBe(401)
    expect(await mst.json()).toMatchObject({ message: expect.any(String), errors: [{ status: 401 }] })

    const clob = await call('/clob/auth/api-keys')
    expect(clob.status).toBe(401)
    expect(await clob.json()).toMatchObject({ error: expect.any(String) })

    const jobs = await call('/jobs')
    expect(jobs.status).toBe(401)
    expect(await jobs.json()).toMatchObject({ code: 'auth_required', status: 401 })
  })

  it('is asked for credentials before it learns whether a management route exists', async () => {
    expect((await call('/cloud/public/api/v1/nothing')).status).toBe(401)
  })
})

describe('a wrong credential', () => {
  const wrong = async (): Promise<[string, Record<string, string>][]> => {
    const unknown = `tdg_AAAAAAAA_${'a'.repeat(49)}`
    const { id, text } = await newKey('admin')
    const revoked = await newKey('admin')
    await revokeKey(sql(), revoked.id)
    const expired = await newKey('admin')
    await sql().query(`update tidegate.keys set expires_at = now() - interval '1 second' where id = $1`, [expired.id])
    const { text: other } = await newKey('admin')
    return [
      ['a malformed key', bearer('tdg_x')],
      ['no key at all', bearer('something')],
      ['a bad checksum', bearer(unknown)],
      ['a bare token', { authorization: text }],
      ["another key's secret", basic(`tdg_${id}`, other.slice('tdg_12345678_'.length))],
      ['a revoked key', bearer(revoked.text)],
      ['an expired key', bearer(expired.text)],
    ]
  }

  it('gets one text per mount, whatever is wrong with it', async () => {
    const texts = new Map<string, Set<string>>()
    for (const path of [services, '/mst/v1/me', '/clob/auth/api-keys', '/jobs']) {
      for (const [what, headers] of await wrong()) {
        if (path !== services && 'authorization' in headers && headers.authorization?.startsWith('Basic')) continue
        const answer = await call(path, { headers })
        expect(answer.status, `${what} at ${path}`).toBe(401)
        const body = (await answer.text()).replace(/"request_id":"[^"]*"/, '')
        texts.set(path, (texts.get(path) ?? new Set()).add(body))
      }
    }
    expect([...texts.values()].map((set) => set.size)).toEqual([1, 1, 1, 1])
    expect([...(texts.get('/jobs') ?? [])][0]).toContain('auth_failed')
  })

  it('is refused on public routes too: it means a mistake', async () => {
    expect((await call('/clob/ok', { headers: bearer('tdg_x') })).status).toBe(401)
  })
})

describe('a Tidegate key', () => {
  it('is a Bearer token on every mount, and the gateway adds Basic, svcv1 and L2', async () => {
    rows('card.gateway.unified')
    const { text } = await newKey('admin')
    const headers = bearer(text)
    const cloud = await call(services, { headers })
    expect(cloud.status).toBe(200)
    expect(await cloud.json()).toEqual(expect.any(Array))
    const me = await call('/mst/v1/me', { headers })
    expect(me.status).toBe(200)
    expect(await me.json()).toHaveProperty('user.user_id')
    const keys = await call('/clob/auth/api-keys', { headers })
    expect(await keys.json()).toEqual({ apiKeys: expect.arrayContaining([sandboxTrader.apiKey]) })
    expect((await call('/gamma/markets?limit=1', { headers })).status).toBe(200)
    expect((await call('/data/', { headers })).status).toBe(200)
  })

  it('is also HTTP Basic on the management mount and svcv1 on the managed service', async () => {
    const { id, text } = await newKey('admin')
    const secret = text.slice(`tdg_${id}_`.length)
    expect((await call(services, { headers: basic(`tdg_${id}`, secret) })).status).toBe(200)
    for (const scheme of ['svcv1', 'aivenv1', 'SVCV1']) {
      expect((await call('/mst/v1/me', { headers: { authorization: `${scheme} ${text}` } })).status).toBe(200)
    }
  })

  it('needs the scope of the operation', async () => {
    const { text } = await newKey('mst:read')
    const answer = await call(services, { headers: bearer(text) })
    expect(answer.status).toBe(403)
    expect(await answer.json()).toMatchObject({ code: 'FORBIDDEN', message: expect.stringContaining('cloud:read') })
    const reader = await newKey('cloud:read')
    const create = await call(services, { method: 'POST', headers: bearer(reader.text), body: '{"name":"x"}' })
    expect(create.status).toBe(403)
    const jobs = await call('/jobs', { headers: bearer(text) })
    expect(await jobs.json()).toMatchObject({ status: 403, code: 'forbidden' })
  })

  it('bound to an origin is good from there only; one bound to addresses is refused while ours cannot be known', async () => {
    const { id, text } = await newKey('admin')
    await sql().query(`update tidegate.keys set origins = $2 where id = $1`, [id, ['https://app.example']])
    expect((await call('/mst/v1/me', { headers: { ...bearer(text), origin: 'https://app.example' } })).status).toBe(200)
    expect((await call('/mst/v1/me', { headers: { ...bearer(text), origin: 'https://evil.example' } })).status).toBe(
      401,
    )
    expect((await call('/mst/v1/me', { headers: bearer(text) })).status).toBe(401)
    const bound = await newKey('admin')
    await sql().query(`update tidegate.keys set ip_ranges = $2 where id = $1`, [bound.id, ['10.0.0.0/8']])
    expect((await call('/mst/v1/me', { headers: bearer(bound.text) })).status).toBe(401)
  })

  it('creates and derives API keys with the wallet of the gateway (L1)', async () => {
    const { text } = await newKey('admin')
    const derived = await call('/clob/auth/derive-api-key', { headers: bearer(text) })
    expect(await derived.json()).toEqual({
      apiKey: sandboxTrader.apiKey,
      secret: sandboxTrader.secret,
      passphrase: sandboxTrader.passphrase,
    })
  })

  it('and signed headers of the order book at once are refused: which one is meant is unclear', async () => {
    const { text } = await newKey('admin')
    const answer = await call('/clob/ok', { headers: { ...bearer(text), POLY_ADDRESS: sandboxTrader.address } })
    expect(answer.status).toBe(401)
  })

  it('is revoked within 30 s', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const { id, text } = await newKey('admin')
      expect((await call('/mst/v1/me', { headers: bearer(text) })).status).toBe(200)
      await revokeKey(sql(), id)
      vi.setSystemTime(Date.now() + 30_001)
      expect((await call('/mst/v1/me', { headers: bearer(text) })).status).toBe(401)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe("the upstream's own credentials", () => {
  it('pass through unchanged', async () => {
    expect((await call(services, { headers: basic('AKALPHAADMIN', 'sk:alpha:secret') })).status).toBe(200)
    expect((await call(services, { headers: basic('AKALPHAADMIN', 'wrong') })).status).toBe(401)
    expect((await call('/mst/v1/me', { headers: { authorization: 'svcv1 no-such-token' } })).status).toBe(401)
  })
})
