import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SandboxBindings } from '../../../functions/sandbox/env.ts'
import { createManagedServiceApp } from '../../../functions/sandbox/managed-service.ts'
import { sandboxTokens } from '../../../shared/managed-service/scenery.ts'
import { rows } from '../../support/rows.ts'

const app = createManagedServiceApp()
const bindings = env as unknown as SandboxBindings
const startMs = Date.parse('2026-01-05T08:30:00Z')

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: startMs })
})

afterEach(() => {
  vi.useRealTimers()
})

type Call = {
  readonly path?: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly bindings?: Partial<SandboxBindings>
}

const call = async (authorization: string | null, options: Call = {}): Promise<Response> => {
  const headers = new Headers(options.headers)
  if (authorization !== null) headers.set('authorization', authorization)
  const url = `http://mst.sandbox${options.path ?? '/v1/me'}`
  return app.fetch(new Request(url, { method: options.method ?? 'GET', headers }), { ...bindings, ...options.bindings })
}

const active = `svcv1 ${sandboxTokens.active}`

type ErrorBody = { message: string; errors: { message: string; status: number }[] }

const expectError = async (answer: Response, status: number): Promise<ErrorBody> => {
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toContain('application/json')
  const body = (await answer.json()) as ErrorBody
  expect(body).toMatchObject({ message: expect.stringMatching(/./), errors: [{ message: body.message, status }] })
  return body
}

describe('GET /v1/me', () => {
  it('answers 200 with the record of the owner of the token, under one property, user', async () => {
    rows('mst.op.current-user-session', 'mst.record.user', 'mst.record.user-wrapper')
    const answer = await call(active)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const body = await answer.json()
    expect(body).toEqual({
      user: {
        auth: ['password'],
        create_time: '2025-02-03T04:05:06Z',
        features: { free_tier_enabled: true },
        intercom: { app_id: '', hmac: '' },
        invitations: [],
        project_membership: { metrics: 'admin' },
        project_memberships: { metrics: ['admin'] },
        projects: ['metrics'],
        real_name: 'Pat Example',
        state: 'active',
        token_validity_begin: '2025-02-03T04:05:06Z',
        user: 'pat@example.com',
        user_id: 'u1a2b3c4d5',
      },
    })
  })

  it('carries its version in the path', async () => {
    rows('mst.version.path-v1')
    expect((await call(active, { path: '/v1/me' })).status).toBe(200)
    await expectError(await call(active, { path: '/me' }), 404)
    await expectError(await call(active, { path: '/v2/me' }), 404)
  })

  it('speaks JSON, also of errors', async () => {
    rows('mst.api.http-json-token')
    expect((await call(active)).headers.get('content-type')).toContain('application/json')
    await expectError(await call(null), 401)
  })

  it('ignores query parameters, and takes a base address that ends in a slash', async () => {
    expect((await call(active, { path: '/v1/me?limit=999' })).status).toBe(200)
    expect((await call(active, { path: '//v1/me' })).status).toBe(200)
  })

  it('may neither be stored nor shared, and has an id', async () => {
    const answer = await call(active, { headers: { 'x-request-id': 'call-7' } })
    expect(answer.headers.get('cache-control')).toBe('private, no-cache')
    expect(answer.headers.get('x-request-id')).toBe('call-7')
    expect((await call(null)).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('the token', () => {
  it('stands behind svcv1 and one space; the word may be in any case', async () => {
    rows('mst.auth.svcv1-header')
    for (const word of ['svcv1', 'SVCV1', 'SvcV1']) {
      expect((await call(`${word} ${sandboxTokens.active}`)).status).toBe(200)
    }
    for (const word of ['Bearer', 'Basic', 'Token', 'svcv2', 'svcv']) {
      await expectError(await call(`${word} ${sandboxTokens.active}`), 401)
    }
  })

  it('may stand behind the words that MST_SCHEME_ALIASES lists, aivenv1 when it says nothing', async () => {
    const status = async (word: string, aliases?: string) =>
      (
        await call(
          `${word} ${sandboxTokens.active}`,
          aliases === undefined ? {} : { bindings: { MST_SCHEME_ALIASES: aliases } },
        )
      ).status
    expect(await status('aivenv1')).toBe(200)
    expect(await status('aivenv1', 'one,two')).toBe(401)
    expect(await status('two', 'one, two')).toBe(200)
    expect(await status('svcv1', '')).toBe(200)
    expect(await status('aivenv1', '')).toBe(401)
  })

  it('is asked for on every request', async () => {
    rows('mst.auth.every-request', 'mst.auth.missing-401')
    await expectError(await call(null), 401)
    await expectError(await call(null, { path: '/v1/projects' }), 401)
    await expectError(await call(null, { path: '/' }), 401)
  })

  it('is refused with one text, whatever is wrong with it', async () => {
    rows('mst.auth.invalid-401')
    const missing = await expectError(await call(null), 401)
    for (const authorization of [
      'svcv1',
      'svcv1 nope',
      'svcv1 TOK-PAT-0001',
      `svcv1  ${sandboxTokens.active}`,
      `svcv1 ${sandboxTokens.active} x`,
      sandboxTokens.active,
      `Basic ${btoa(`x:${sandboxTokens.active}`)}`,
    ]) {
      const answer = await call(authorization)
      expect(answer.headers.get('www-authenticate')).toMatch(/^svcv1/)
      expect(await expectError(answer, 401)).toEqual(missing)
    }
  })

  it('ends at its expiry', async () => {
    const expiring = `svcv1 ${sandboxTokens.expiring}`
    expect((await call(expiring)).status).toBe(200)
    vi.setSystemTime(startMs + 4_999)
    expect((await call(expiring)).status).toBe(200)
    vi.setSystemTime(startMs + 5_000)
    await expectError(await call(expiring), 401)
    expect((await call(active)).status).toBe(200)
  })

  it('of a user who is not active gets 403', async () => {
    rows('mst.auth.permission-403')
    const body = await expectError(await call(`svcv1 ${sandboxTokens.deactivated}`), 403)
    expect(body.message).toMatch(/not active/)
  })

  it('works from the addresses of its list only', async () => {
    const from = (headers: Record<string, string>) => call(`svcv1 ${sandboxTokens.office}`, { headers })
    expect((await from({ 'x-sandbox-client-ip': '10.4.4.4' })).status).toBe(200)
    expect((await from({ 'cf-connecting-ip': '10.4.4.4' })).status).toBe(200)
    await expectError(await from({ 'x-sandbox-client-ip': '192.0.2.1', 'cf-connecting-ip': '10.4.4.4' }), 403)
    await expectError(await from({}), 403)
    await expectError(await from({ 'x-sandbox-client-ip': 'office' }), 403)
  })
})

describe('any other path or method', () => {
  it('is 404 once the token is good', async () => {
    await expectError(await call(active, { path: '/v1/projects' }), 404)
    await expectError(await call(active, { path: '/v1/me/' }), 404)
    await expectError(await call(active, { method: 'POST' }), 404)
    await expectError(await call(`svcv1 ${sandboxTokens.deactivated}`, { path: '/v1/projects' }), 404)
  })
})
