import { Hono } from 'hono'
import { describe, expect, it, vi } from 'vitest'
import { app } from '../../../functions/gateway/app.ts'
import { operations as cloud } from '../../../shared/cloud/contract.ts'
import { operations as clob } from '../../../shared/exchange/contract-clob.ts'
import { operations as data } from '../../../shared/exchange/contract-data.ts'
import { operations as gamma } from '../../../shared/exchange/contract-gamma.ts'
import { operations as jobs } from '../../../shared/jobs/contract.ts'
import { operations as managedService } from '../../../shared/managed-service/contract.ts'
import { call, sql } from '../../support/gateway.ts'
import { rows } from '../../support/rows.ts'

describe('every answer', () => {
  it('carries the request id of the caller, or a new one', async () => {
    const given = await call('/ops/health', { headers: { 'x-request-id': 'abc-123' } })
    expect(given.headers.get('x-request-id')).toBe('abc-123')
    const made = await call('/ops/health')
    expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    const refused = await call('/ops/health', { headers: { 'x-request-id': 'x'.repeat(129) } })
    expect(refused.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('may be read by a page of any origin, and says how long it took', async () => {
    const answer = await call('/nowhere', { headers: { origin: 'https://page.example' } })
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
    expect(answer.headers.get('server-timing')).toMatch(/^gateway;dur=\d+, upstream;dur=0$/)
  })
})

describe('preflights', () => {
  it('allow our headers, and those of the order book one by one', async () => {
    const answer = await call('/clob/order', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://page.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'poly_address',
      },
    })
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-methods')).toContain('DELETE')
    for (const name of [
      'Authorization',
      'Content-Type',
      'POLY_ADDRESS',
      'POLY_SIGNATURE',
      'POLY_TIMESTAMP',
      'POLY_API_KEY',
      'POLY_PASSPHRASE',
      'POLY_NONCE',
    ]) {
      expect(answer.headers.get('access-control-allow-headers')?.split(', ')).toContain(name)
    }
  })
})

describe('an unknown path', () => {
  it.each(['/', '/nowhere', '/cloudy/x', '/cloud/other', '/ops/nothing', '/sandbox/upstream/nothing/x'])(
    'is a problem document at %s',
    async (path) => {
      const answer = await call(path)
      expect(answer.status).toBe(404)
      expect(answer.headers.get('content-type')).toBe('application/problem+json')
      expect(await answer.json()).toMatchObject({
        type: 'urn:tidegate:error:route.not_found',
        title: 'Not Found',
        status: 404,
        code: 'not_found',
        detail: expect.stringContaining(path.split('?')[0] as string),
        request_id: answer.headers.get('x-request-id'),
      })
    },
  )

  it('is a problem document for a known path with another method too, as 405', async () => {
    const answer = await call('/ops/health', { method: 'DELETE' })
    expect(answer.status).toBe(405)
    expect(await answer.json()).toMatchObject({ code: 'method_not_allowed' })
  })

  it('has the shape of its mount below a mount', async () => {
    expect(await (await call('/clob/nothing')).json()).toEqual({ error: 'Not found' })
    expect(await (await call('/gamma/nothing')).json()).toEqual({ error: 'Not found' })
    expect(await (await call('/data/nothing')).json()).toEqual({ error: 'Not found' })
  })
})

describe('/ops/health', () => {
  it('answers without a key and without asking anybody', async () => {
    const answer = await call('/ops/health')
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({ status: 'ok', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) })
  })
})

describe('/ops/ready', () => {
  it('says that the database and every upstream answer', async () => {
    const answer = await call('/ops/ready')
    expect(await answer.json()).toEqual({
      database: 'ok',
      upstreams: { cloud: 'ok', mst: 'ok', clob: 'ok', gamma: 'ok', data: 'ok' },
    })
    expect(answer.status).toBe(200)
  })
})

describe('/sandbox/upstream', () => {
  it('is the bare upstream, with its own credentials', async () => {
    expect(await (await call('/sandbox/upstream/clob/ok')).json()).toBe('OK')
    expect((await call('/sandbox/upstream/cloud/public/api/v1/auth/info')).status).toBe(401)
  })
})

describe('one origin', () => {
  it('reaches all five upstreams', async () => {
    rows('card.stack.miniflare')
    const statuses = await Promise.all(
      ['/cloud/public/api/v1/auth/info', '/mst/v1/me', '/clob/ok', '/gamma/markets?limit=1', '/data/'].map(
        async (path) => (await call(path)).status,
      ),
    )
    expect(statuses).toEqual([401, 401, 200, 200, 200])
  })
})

describe('the routes', () => {
  it('of every operation of every contract, and of the feed, are Hono routes', () => {
    rows('card.stack.hono')
    expect(app).toBeInstanceOf(Hono)
    const served = app.routes.map(({ path }) => path).filter((path) => path !== '/*' && path !== '*')
    const isServed = (path: string) =>
      served.some((route) => (route.endsWith('/*') ? `${path}/`.startsWith(route.slice(0, -1)) : route === path))
    const mounts = [
      ['/cloud/public/api/v1', cloud],
      ['/mst', managedService],
      ['/clob', clob],
      ['/gamma', gamma],
      ['/data', data],
      ['', jobs],
    ] as const
    const paths = mounts.flatMap(([prefix, operations]) =>
      Object.values(operations).map(({ path }) => prefix + path.replaceAll(/\{(\w+)\}/g, ':$1')),
    )
    expect(paths.length).toBeGreaterThan(20)
    expect(
      [...paths, '/feed', '/feed/streamer', '/feed/last', '/ops/health', '/ops/ready'].filter(
        (path) => !isServed(path),
      ),
    ).toEqual([])
  })
})

describe('the database', () => {
  it('is reached through the Neon driver, over HTTP', async () => {
    rows('card.stack.neondatabase-serverless')
    const seen: Request[] = []
    const fetched = globalThis.fetch
    const spy = vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
      seen.push(new Request(input as RequestInfo, init))
      return fetched(input, init)
    })
    const [row] = await sql().query<{ n: number }>('select 1 as n')
    spy.mockRestore()
    expect(row).toEqual({ n: 1 })
    expect(seen.map(({ url, headers }) => [new URL(url).pathname, headers.has('neon-connection-string')])).toEqual([
      ['/sql', true],
    ])
  })
})
