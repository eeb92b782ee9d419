import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { app } from '../../../functions/gateway/app.ts'
import type { GatewayBindings } from '../../../functions/gateway/env.ts'
import { bearer, newKey, origin } from '../../support/gateway.ts'
import { rows } from '../../support/rows.ts'

type Sent = { method: string; url: string; headers: Headers; body: Uint8Array; redirect: string }

/** The gateway with upstreams by URL; `fetch` is replaced by `answer` and what it got is kept. */
async function callRemote(
  path: string,
  init: RequestInit = {},
  answer: (request: Request) => Response | Promise<Response> = () => Response.json([]),
  settings: Record<string, string> = {},
) {
  const sent: Sent[] = []
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, options) => {
    const request = new Request(input as Request, options)
    if (!new URL(request.url).hostname.endsWith('.example')) return realFetch(request)
    const body = new Uint8Array(await request.clone().arrayBuffer())
    sent.push({ method: request.method, url: request.url, headers: request.headers, body, redirect: request.redirect })
    return answer(request)
  })
  const bindings = {
    ...env,
    UPSTREAM_CLOUD: 'https://cloud.example/public/api/v1',
    UPSTREAM_MST: 'https://mst.example',
    UPSTREAM_CLOB: 'https://clob.example',
    CREDENTIAL_CLOUD: JSON.stringify({ kind: 'basic', access_key: 'upstream-access', secret_key: 'upstream:secret' }),
    CREDENTIAL_MST: JSON.stringify({ kind: 'token', token: 'upstream-token+/=' }),
    ...settings,
  } as unknown as GatewayBindings
  const context = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} } as unknown as ExecutionContext
  const response = await app.fetch(new Request(origin + path, init), bindings, context)
  return { response, sent }
}
const realFetch = globalThis.fetch
afterEach(() => vi.restoreAllMocks())

const services = '/cloud/public/api/v1/projects/p/services'

describe('a forwarded request', () => {
  it('keeps method, path, query and body to the byte', async () => {
    const { text } = await newKey('admin')
    const body = '{ "name" : "\\u00e9 ", "b":1.0 , "name":"é" }'
    const path = `${services}?a=%7E&b=x+y&a=%2F%2f&c&d=%27`
    const { sent } = await callRemote(path, { method: 'POST', headers: bearer(text), body })
    expect(sent[0]?.method).toBe('POST')
    expect(sent[0]?.url).toBe(`https://cloud.example/public/api/v1/projects/p/services?a=%7E&b=x+y&a=%2F%2f&c&d=%27`)
    expect(new TextDecoder().decode(sent[0]?.body)).toBe(body)
  })

  it('carries our credential and nothing of the caller', async () => {
    rows('card.gateway.auth.basic')
    const { text } = await newKey('admin')
    const { sent, response } = await callRemote(services, {
      headers: {
        ...bearer(text),
        cookie: 'a=b',
        'x-forwarded-for': '1.2.3.4',
        'cf-connecting-ip': '1.2.3.4',
        'x-tidegate-mount-prefix': '/evil',
        forwarded: 'for=1.2.3.4',
        connection: 'keep-alive, x-hop',
        'x-hop': '1',
        te: 'trailers',
        'user-agent': 'mine/1',
        accept: 'application/json',
      },
    })
    const { headers } = sent[0] as Sent
    expect(headers.get('authorization')).toBe(`Basic ${btoa('upstream-access:upstream:secret')}`)
    for (const name of ['cookie', 'x-forwarded-for', 'cf-connecting-ip', 'forwarded', 'x-hop', 'te', 'connection']) {
      expect(headers.has(name), name).toBe(false)
    }
    expect(headers.has('x-tidegate-mount-prefix')).toBe(false)
    expect(headers.get('user-agent')).toBe('mine/1')
    expect(headers.get('x-request-id')).toBe(response.headers.get('x-request-id'))
    expect(JSON.stringify([...response.headers])).not.toMatch(/upstream-access|upstream:secret|Basic/)
  })

  it('gets the svcv1 token of the gateway, in the configured scheme word', async () => {
    rows('card.gateway.auth.svcv1')
    const { text } = await newKey('mst:read')
    const first = await callRemote('/mst/v1/me', { headers: bearer(text) })
    expect(first.sent[0]?.headers.get('authorization')).toBe('svcv1 upstream-token+/=')
    expect(first.sent[0]?.url).toBe('https://mst.example/v1/me')
    vi.restoreAllMocks()
    const second = await callRemote('/mst/v1/me', { headers: bearer(text) }, undefined, { MST_SCHEME: 'aivenv1' })
    expect(second.sent[0]?.headers.get('authorization')).toBe('aivenv1 upstream-token+/=')
    expect(JSON.stringify([...first.response.headers]) + (await first.response.text())).not.toContain('upstream-token')
  })

  it('takes the base address with or without its suffix and slash', async () => {
    const { text } = await newKey('admin')
    for (const base of [
      'https://cloud.example',
      'https://cloud.example/',
      'https://cloud.example/public/api/v1/',
      'https://cloud.example/x',
    ]) {
      const { sent } = await callRemote(services, { headers: bearer(text) }, undefined, { UPSTREAM_CLOUD: base })
      expect(sent[0]?.url).toBe(
        `https://cloud.example${base.endsWith('/x') ? '/x' : ''}/public/api/v1/projects/p/services`,
      )
      vi.restoreAllMocks()
    }
  })
})

describe("an upstream's answer", () => {
  it('comes back with its status and body, without headers that are not the caller’s business', async () => {
    const { text } = await newKey('admin')
    const { response } = await callRemote(
      services,
      { headers: bearer(text) },
      () =>
        new Response('{"odd":1}', {
          status: 418,
          headers: {
            'content-type': 'application/json',
            'set-cookie': 'a=b',
            server: 'x',
            etag: '"1"',
            'access-control-allow-origin': 'https://other',
          },
        }),
    )
    expect(response.status).toBe(418)
    expect(await response.text()).toBe('{"odd":1}')
    expect(response.headers.get('etag')).toBe('"1"')
    expect(response.headers.has('set-cookie')).toBe(false)
    expect(response.headers.has('server')).toBe(false)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
  })

  it('that redirects comes back as it is: followed, it would take the credential elsewhere', async () => {
    const { text } = await newKey('admin')
    const { response, sent } = await callRemote(
      services,
      { headers: bearer(text) },
      () => new Response(null, { status: 302, headers: { location: 'https://evil.example/' } }),
    )
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBe('https://evil.example/')
    expect(sent).toHaveLength(1)
    expect(sent[0]?.redirect).toBe('manual')
  })

  it('of 401 to our own credential is our fault, not the caller’s', async () => {
    const { text } = await newKey('admin')
    const { response } = await callRemote(services, { headers: bearer(text) }, () =>
      Response.json({ code: 'UNAUTHORIZED', message: 'no' }, { status: 401 }),
    )
    expect(response.status).toBe(500)
    expect(await response.json()).toMatchObject({ code: 'INTERNAL_ERROR', message: expect.any(String) })
  })
})

describe('an upstream that is down', () => {
  it('is an answer in the shape of the mount, naming what is wrong and no secret', async () => {
    const { text } = await newKey('admin')
    const { response } = await callRemote(services, { headers: bearer(text) }, () =>
      Promise.reject(new TypeError('connect ECONNREFUSED upstream:secret')),
    )
    expect(response.status).toBe(500)
    const body = await response.text()
    expect(JSON.parse(body)).toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringMatching(/\w/),
      details: expect.any(String),
    })
    expect(body).not.toContain('upstream:secret')
    vi.restoreAllMocks()
    const clob = await callRemote('/clob/ok', {}, () => Promise.reject(new TypeError('refused')))
    expect(clob.response.status).toBeGreaterThanOrEqual(500)
    expect(await clob.response.json()).toMatchObject({ error: expect.any(String) })
  })

  it('is told by /ops/ready', async () => {
    const { response } = await callRemote('/ops/ready', {}, () => Promise.reject(new TypeError('refused')))
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ database: 'ok', upstreams: { cloud: 'down', gamma: 'ok' } })
  })
})

describe('a database that is down', () => {
  it('is told by /ops/ready, and refuses callers with a key without blaming them', async () => {
    const settings = { DATABASE_URL: 'postgresql://tidegate:canary-secret@127.0.0.1:9/tidegate?sslmode=disable' }
    const ready = await callRemote('/ops/ready', {}, undefined, settings)
    expect(ready.response.status).toBe(503)
    expect(await ready.response.json()).toMatchObject({ database: 'down' })
    vi.restoreAllMocks()
    const { text } = await newKey('admin')
    const { response } = await callRemote(services, { headers: bearer(text) }, undefined, settings)
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('canary-secret')
  })
})

describe('an oversized body', () => {
  it('is refused, whether its length is stated or not', async () => {
    const { text } = await newKey('admin')
    const large = 'x'.repeat(64 * 1024 + 1)
    const stated = await callRemote(services, { method: 'POST', headers: bearer(text), body: large })
    expect(stated.response.status).toBe(400)
    expect(await stated.response.json()).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('65536'),
    })
    vi.restoreAllMocks()
    const stream = new Response(large).body as ReadableStream
    const streamed = await callRemote(services, { method: 'POST', headers: bearer(text), body: stream })
    expect(streamed.response.status).toBe(400)
    expect(streamed.sent).toHaveLength(0)
    vi.restoreAllMocks()
    const exact = await callRemote(services, {
      method: 'POST',
      headers: bearer(text),
      body: new Response('x'.repeat(64 * 1024)).body as ReadableStream,
    })
    expect(exact.sent[0]?.body).toHaveLength(64 * 1024)
  })
})
