import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createCloudApp } from '../../../functions/sandbox/cloud.ts'
import type { SandboxBindings } from '../../../functions/sandbox/env.ts'
import { directoryOf, projectOf } from '../../../functions/sandbox/project.ts'
import { AuthInfo, Service } from '../../../shared/cloud/record.ts'
import { sandboxKeys } from '../../../shared/cloud/scenery.ts'
import { basicHeader } from '../../../shared/kernel/auth/basic.ts'
import { rows } from '../../support/rows.ts'

const app = createCloudApp()
const bindings = env as unknown as SandboxBindings
const startMs = Date.parse('2026-01-05T08:30:00Z')

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: startMs })
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const admin = basicHeader(sandboxKeys.admin)
const other = basicHeader(sandboxKeys.other)
const readOnly = basicHeader(sandboxKeys.readOnly)
const services = '/public/api/v1/projects/prjalpha01/services'

type Call = {
  readonly method?: string
  /** Null = none. */
  readonly authorization?: string | null
  readonly headers?: Record<string, string>
  readonly body?: unknown
  /** Sent as it is. */
  readonly rawBody?: BodyInit
  readonly bindings?: Partial<SandboxBindings>
}

const call = async (path: string, options: Call = {}): Promise<Response> => {
  const { authorization = admin, body, rawBody } = options
  const sent = rawBody ?? (body === undefined ? undefined : JSON.stringify(body))
  const headers = new Headers(options.headers)
  if (authorization !== null) headers.set('authorization', authorization)
  const request = new Request(`http://cloud.sandbox${path}`, {
    method: options.method ?? (sent === undefined ? 'GET' : 'POST'),
    headers,
    ...(sent !== undefined && { body: sent }),
  })
  return app.fetch(request, { ...bindings, ...options.bindings })
}

const bodyOf = async (answer: Response | Promise<Response>): Promise<Record<string, unknown>> =>
  (await (await answer).json()) as Record<string, unknown>

const listOf = async (authorization = admin, path = services): Promise<Service[]> =>
  Service.array().parse(await (await call(path, { authorization })).json())

const create = async (body: unknown, options: Call = {}): Promise<Service> => {
  const answer = await call(services, { ...options, body })
  expect(answer.status).toBe(202)
  const { initial_password: _, ...record } = await bodyOf(answer)
  return Service.parse(record)
}

/** Gives the object of the project another setting, for as long as it lives. */
const setTimeScale = (timeScale: string): Promise<void> =>
  runInDurableObject(projectOf(bindings, 'prjalpha01'), (project) => {
    Object.assign(project, { env: { ...bindings, TIME_SCALE: timeScale } })
  })

const get = async (id: string): Promise<Service> => Service.parse(await bodyOf(call(`${services}/${id}`)))

describe('credentials', () => {
  it('are the Base64 of access key and secret key behind the word Basic', async () => {
    rows('cloud.auth.basic-header')
    const { accessKey, secretKey } = sandboxKeys.admin
    const header = `Basic ${btoa(`${accessKey}:${secretKey}`)}`
    expect((await call(services, { authorization: header })).status).toBe(200)
    expect((await call(services, { authorization: header.replace('Basic', 'bAsIc  ') })).status).toBe(200)
    for (const authorization of [
      `Basic ${accessKey}:${secretKey}`,
      header.replace('Basic', 'Bearer'),
      header.replace('Basic', 'svcv1'),
      header.replace('Basic ', 'Basic'),
      header.replace('Basic ', ''),
    ]) {
      expect((await call(services, { authorization })).status).toBe(401)
    }
  })

  it('are asked for before the route, the project, the role and the body', async () => {
    rows('cloud.auth.missing-401')
    for (const path of [services, '/public/api/v1/projects/prjother99/services', '/public/api/v1/nothing/here']) {
      const answer = await call(path, { authorization: null })
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toBe('Basic realm="management"')
      expect(answer.headers.get('content-type')).toContain('application/json')
      expect(await bodyOf(answer)).toMatchObject({ code: 'UNAUTHORIZED', message: expect.any(String) })
    }
    expect((await call(services, { authorization: null, rawBody: '{not json' })).status).toBe(401)
    expect(await listOf()).toEqual([])
  })

  it('are refused with one and the same answer, whatever is wrong', async () => {
    rows('cloud.auth.invalid-401', 'cloud.error.401')
    const missing = await bodyOf(call(services, { authorization: null }))
    const encode = (text: string) => `Basic ${btoa(text)}`
    for (const authorization of [
      encode('NOSUCHKEY:sk-read'),
      encode('AKALPHAADMIN:wrong'),
      encode('AKALPHAADMIN:'),
      encode('AKALPHAADMIN:sk:alpha:secret '),
      encode('akalphaadmin:sk:alpha:secret'),
      encode('AKALPHAADMIN'),
      encode(':sk-read'),
      'Basic',
      'Basic !!!notbase64',
      `${admin.slice(0, -2)}`,
      basicHeader(sandboxKeys.revoked),
    ]) {
      const answer = await call(services, { authorization })
      expect([authorization, answer.status]).toEqual([authorization, 401])
      expect(answer.headers.get('www-authenticate')).toBe('Basic realm="management"')
      expect(await bodyOf(answer)).toEqual(missing)
    }
  })

  it('show who they are, and their project only', async () => {
    const info = AuthInfo.parse(await bodyOf(call('/public/api/v1/auth/info')))
    expect(info.api_key).toMatchObject({
      public_key: 'AKALPHAADMIN',
      name: 'alpha-admin',
      project: { id: 'prjalpha01', name: 'Alpha', plan_type: 'SCALE' },
    })
    expect(info.apiKey).toEqual(info.api_key)
    expect(await (await call('/public/api/v1/projects')).json()).toEqual([{ id: 'prjalpha01', name: 'Alpha' }])
    expect(await (await call('/public/api/v1/projects', { authorization: other })).json()).toEqual([
      { id: 'prjother99', name: 'Other' },
    ])
  })
})

describe('permission', () => {
  it('is for the project of the key, whether another exists or not', async () => {
    for (const project of ['prjother99', 'nosuchproj', 'PRJALPHA01', 'prjalpha01%20', '%']) {
      const answer = await call(`/public/api/v1/projects/${project}/services`)
      expect([project, answer.status]).toEqual([project, 403])
      expect(await bodyOf(answer)).toMatchObject({ code: 'FORBIDDEN', reason: 'WRONG_PROJECT' })
    }
  })

  it('to change is not a reader’s, and is asked for before the body is read', async () => {
    rows('cloud.auth.permission-403', 'cloud.error.403')
    for (const rawBody of ['{"name":"a"}', '{not json', 'x'.repeat(100_000)]) {
      const answer = await call(services, { authorization: readOnly, rawBody })
      expect(answer.status).toBe(403)
      expect(answer.headers.get('content-type')).toContain('application/json')
      expect(await bodyOf(answer)).toMatchObject({ code: 'FORBIDDEN', reason: 'READ_ONLY_KEY' })
    }
    expect(await listOf(readOnly)).toEqual([])
  })

  it('to change is an operator’s', async () => {
    await create({ name: 'a' }, { authorization: basicHeader(sandboxKeys.operator) })
  })

  it('is asked for the project before the role', async () => {
    const answer = await call('/public/api/v1/projects/prjother99/services', { authorization: readOnly, body: {} })
    expect(await bodyOf(answer)).toMatchObject({ reason: 'WRONG_PROJECT' })
  })
})

describe('routes', () => {
  it('answer below /public/api/v1 and nowhere else', async () => {
    rows('cloud.version.base-path')
    expect((await call('/public/api/v1/projects/prjalpha01/services')).status).toBe(200)
    for (const path of [
      '/public/api/projects/prjalpha01/services',
      '/public/api/v2/projects/prjalpha01/services',
      '/projects/prjalpha01/services',
      '/',
    ]) {
      const answer = await call(path)
      expect([path, answer.status]).toEqual([path, 404])
      expect(await bodyOf(answer)).toMatchObject({ code: 'NOT_FOUND' })
    }
  })

  it('that are unknown, or known with another method, are 404 before the project is looked at', async () => {
    for (const [method, path] of [
      ['GET', '/public/api/v1'],
      ['GET', '/public/api/v1/projects/prjalpha01/widgets'],
      ['GET', '/public/api/v1/projects/prjother99/widgets'],
      ['PUT', services],
      ['PATCH', '/public/api/v1/projects'],
      ['GET', '/public/api/v1/projects//services'],
    ] as const) {
      const answer = await call(path, { method })
      expect([method, path, answer.status]).toEqual([method, path, 404])
      expect(await bodyOf(answer)).toMatchObject({ code: 'NOT_FOUND', message: expect.any(String) })
    }
  })

  it('take the two slashes that a base address with a slash at its end leads to', async () => {
    expect((await call('/public/api/v1//projects/prjalpha01/services')).status).toBe(200)
  })

  it('ignore query parameters they do not know', async () => {
    expect((await call(`${services}?limit=999&x`)).status).toBe(200)
  })
})

describe('headers', () => {
  it('name every answer: with the id of the caller where it is usable, else with a new one', async () => {
    const idOf = async (given?: string, path = services) =>
      (await call(path, given === undefined ? {} : { headers: { 'x-request-id': given } })).headers.get('x-request-id')
    expect(await idOf('call-7')).toBe('call-7')
    expect(await idOf('a b!'.repeat(32))).toBe('a b!'.repeat(32))
    expect(await idOf('call-7', '/public/api/v1/nothing')).toBe('call-7')
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
    for (const unusable of [undefined, '', 'x'.repeat(129), 'caf\u00e9']) expect(await idOf(unusable)).toMatch(uuid)
    expect(await idOf()).not.toBe(await idOf())
  })

  it('forbid to store the answer with the password, and to share any other', async () => {
    const created = await call(services, { body: { name: 'a' } })
    expect(created.headers.get('cache-control')).toBe('no-store')
    expect(created.headers.get('content-type')).toBe('application/json; charset=utf-8')
    for (const path of [services, '/public/api/v1/auth/info', '/public/api/v1/nothing', '/']) {
      expect((await call(path)).headers.get('cache-control')).toBe('private, no-cache')
    }
    expect((await call(services, { authorization: null })).headers.get('cache-control')).toBe('private, no-cache')
  })
})

describe('create service', () => {
  it('answers 202 with the new record and its password, which no read shows again', async () => {
    rows('cloud.op.create-service', 'cloud.record.service', 'cloud.record.service.created')
    rows('cloud.record.service.resources', 'cloud.record.service.endpoint')
    const body = {
      name: 'ticks',
      addons: ['time-series'],
      service_type: 'TIMESERIESDB',
      region_code: 'eu-central-1',
      cpu_millis: 1000,
      memory_gbs: 4,
    }
    const answer = await call(services, { body })
    expect(answer.status).toBe(202)
    const { initial_password, ...record } = await bodyOf(answer)
    expect(initial_password).toMatch(/^[0-9A-Za-z]{24}$/)
    expect(Service.parse(record)).toEqual(record)
    expect(record).toMatchObject({
      service_id: expect.stringMatching(/^[a-z0-9]{10}$/),
      project_id: 'prjalpha01',
      name: 'ticks',
      region_code: 'eu-central-1',
      service_type: 'TIMESERIESDB',
      status: 'QUEUED',
      created: '2026-01-05T08:30:00.000Z',
      paused: false,
      resources: [{ id: expect.any(String), spec: { cpu_millis: 1000, memory_gbs: 4, volume_type: 'gp3' } }],
      endpoint: { host: expect.stringMatching(/./), port: expect.any(Number) },
      metadata: { environment: 'DEV' },
      ha_replicas: { sync_replica_count: 0, replica_count: 0 },
    })
    expect(await bodyOf(call(`${services}/${record.service_id}`))).toEqual(record)
    expect(await (await call(services)).json()).toEqual([record])
  })

  it('is QUEUED, then CONFIGURING, then READY, though nobody calls in between', async () => {
    rows('cloud.async.create-service', 'cloud.status.queued')
    const { service_id: id, created } = await create({ name: 'a' })
    expect((await get(id)).status).toBe('QUEUED')
    vi.setSystemTime(startMs + 999)
    expect((await get(id)).status).toBe('QUEUED')
    vi.setSystemTime(startMs + 1_000)
    expect((await get(id)).status).toBe('CONFIGURING')
    vi.setSystemTime(startMs + 3_000)
    expect(await get(id)).toMatchObject({ status: 'READY', created })

    const untouched = await create({ name: 'b' })
    vi.setSystemTime(startMs + 60_000)
    expect((await listOf()).map(({ service_id, status }) => [service_id, status])).toEqual([
      [id, 'READY'],
      [untouched.service_id, 'READY'],
    ])
  })

  it('does not go back when the clock does', async () => {
    const { service_id: id } = await create({ name: 'a' })
    vi.setSystemTime(startMs + 3_000)
    expect((await get(id)).status).toBe('READY')
    vi.setSystemTime(startMs)
    expect((await get(id)).status).toBe('READY')
  })

  it.each([
    { row: 'cloud.service-type.timeseriesdb', given: { service_type: 'TIMESERIESDB' }, type: 'TIMESERIESDB' },
    { row: 'cloud.service-type.postgres', given: { service_type: 'POSTGRES' }, type: 'POSTGRES' },
    { row: 'cloud.service-type.vector', given: { service_type: 'VECTOR' }, type: 'VECTOR' },
    { row: 'cloud.addon.time-series', given: { addons: ['time-series'] }, type: 'TIMESERIESDB' },
    { row: 'cloud.addon.ai', given: { addons: ['ai'] }, type: 'VECTOR' },
    { row: 'cloud.addon.empty', given: { addons: [] }, type: 'POSTGRES' },
  ])('with $given makes a $type, and every read says so', async ({ row, given, type }) => {
    rows(row)
    const created = await create({ name: 'a', ...given })
    expect(created.service_type).toBe(type)
    for (const afterMs of [0, 1_000, 3_000]) {
      vi.setSystemTime(startMs + afterMs)
      expect((await get(created.service_id)).service_type).toBe(type)
      expect((await listOf()).map(({ service_type }) => service_type)).toEqual([type])
    }
  })

  it('by an empty addons list makes a POSTGRES, as by its name', async () => {
    rows('cloud.service-type.postgres')
    expect((await create({ name: 'a', addons: [] })).service_type).toBe('POSTGRES')
    expect((await create({ name: 'a', service_type: 'POSTGRES' })).service_type).toBe('POSTGRES')
  })

  it('takes a list of addons and nothing else for addons', async () => {
    rows('cloud.addon.list', 'cloud.addon.closed-set')
    for (const addons of ['time-series', { 0: 'ai' }, 7, true, ['graph'], ['ai', 'graph'], ['AI'], [null], [['ai']]]) {
      const answer = await call(services, { body: { name: 'a', addons } })
      expect([addons, answer.status]).toEqual([addons, 400])
    }
    expect(await listOf()).toEqual([])
    await create({ name: 'a', addons: ['ai', 'time-series'] })
    expect(await listOf()).toHaveLength(1)
  })

  it('refuses what is not one JSON object in UTF-8 of at most 64 KiB, and creates nothing', async () => {
    rows('cloud.error.400')
    const padded = (bytes: number) => `{"name":"a","x":"${'x'.repeat(bytes - 19)}"}`
    const refused: [BodyInit, string | undefined][] = [
      ['{"name":', 'MALFORMED_JSON'],
      ['', 'MALFORMED_JSON'],
      ['[]', 'MALFORMED_JSON'],
      ['"x"', 'MALFORMED_JSON'],
      ['null', 'MALFORMED_JSON'],
      ['{"name":"a"}{}', 'MALFORMED_JSON'],
      ['name=a', 'MALFORMED_JSON'],
      [Uint8Array.from('{"name":"\xff"}', (letter) => letter.charCodeAt(0)), 'MALFORMED_JSON'],
      [padded(65_537), undefined],
      ['{}', 'MISSING_FIELD'],
      ['{"name":" "}', 'INVALID_FIELD'],
      ['{"name":"a","region_code":"mars-1"}', 'INVALID_REGION'],
      ['{"name":"a","cpu_millis":3000}', 'INVALID_SIZE'],
    ]
    for (const [rawBody, reason] of refused) {
      const answer = await call(services, { rawBody, method: 'POST' })
      expect(answer.status).toBe(400)
      const body = await bodyOf(answer)
      expect(body).toMatchObject({ code: 'INVALID_REQUEST', message: expect.stringMatching(/./) })
      expect(body.reason).toBe(reason)
    }
    expect(await listOf()).toEqual([])
    expect((await call(services, { rawBody: padded(65_536) })).status).toBe(202)
  })

  it('refuses a request without a body, and reads a body of any content type', async () => {
    expect(await bodyOf(call(services, { method: 'POST' }))).toMatchObject({ reason: 'MALFORMED_JSON' })
    const answer = await call(services, { rawBody: '{"name":"a"}', headers: { 'content-type': 'text/plain' } })
    expect(answer.status).toBe(202)
  })

  it('stops at the limits of the plan, and counts what is there', async () => {
    await create({ name: 'a', cpu_millis: 'shared' })
    await create({ name: 'b', memory_gbs: 'shared' })
    const answer = await call(services, { body: { name: 'c', cpu_millis: 'shared' } })
    expect(answer.status).toBe(403)
    expect(await bodyOf(answer)).toMatchObject({ code: 'FORBIDDEN', reason: 'PLAN_LIMIT' })
    expect(await bodyOf(call(services, { body: { name: 'huge', cpu_millis: 48_000 } }))).toMatchObject({
      reason: 'PLAN_LIMIT',
    })
    expect(await listOf()).toHaveLength(2)
    await create({ name: 'd' })
  })

  it('never lets more in than the plan has, however many ask at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => call(services, { body: { name: `s${index}`, cpu_millis: 'shared' } })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, 403, 403, 403, 403, 403, 403])
    expect(await listOf()).toHaveLength(2)
  })

  it('lets names repeat, and gives each service its own id', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, async () => (await create({ name: 'same' })).service_id))
    expect(new Set(ids).size).toBe(5)
  })

  it('takes as long as TIME_SCALE says', async () => {
    await setTimeScale('0.5')
    const { service_id: id } = await create({ name: 'a' })
    vi.setSystemTime(startMs + 500)
    expect((await get(id)).status).toBe('CONFIGURING')
    vi.setSystemTime(startMs + 1_500)
    expect((await get(id)).status).toBe('READY')

    await setTimeScale('0')
    const immediate = await create({ name: 'b' })
    expect(immediate.status).toBe('QUEUED')
    expect((await get(immediate.service_id)).status).toBe('READY')
  })

  it('creates nothing under a TIME_SCALE that makes no sense, and tells the log only', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    await setTimeScale('fast')
    const answer = await call(services, { body: { name: 'a' } })
    expect(answer.status).toBe(500)
    expect(await answer.text()).not.toContain('TIME_SCALE')
    expect(errors.mock.calls.join()).toContain('TIME_SCALE')
    expect(await listOf()).toEqual([])
  })
})

describe('list and get service', () => {
  it('show the services of the own project only, oldest first', async () => {
    rows('cloud.op.list-services')
    const first = await create({ name: 'first' })
    vi.setSystemTime(startMs + 1)
    const second = await create({ name: 'second' })
    const theirs = '/public/api/v1/projects/prjother99/services'
    const foreign = await bodyOf(call(theirs, { authorization: other, body: { name: 'theirs' } }))
    expect((await call(services)).status).toBe(200)
    expect((await listOf()).map(({ service_id }) => service_id)).toEqual([first.service_id, second.service_id])
    expect((await listOf(other, theirs)).map(({ service_id }) => service_id)).toEqual([foreign.service_id])
    expect((await call(`${services}/${foreign.service_id}`)).status).toBe(404)
  })

  it('answer 200 with the service, and 404 for an id that is not there', async () => {
    rows('cloud.op.get-service')
    const { service_id: id } = await create({ name: 'a' })
    const answer = await call(`${services}/${id}`)
    expect(answer.status).toBe(200)
    expect(await bodyOf(answer)).toMatchObject({ service_id: id, name: 'a' })
    for (const unknown of [
      'nonexistent-service-12345',
      'x'.repeat(2_000),
      id.toUpperCase(),
      `${id}%20`,
      '%00',
      '%E0%A4%A',
    ]) {
      const refused = await call(`${services}/${unknown}`)
      expect([unknown, refused.status]).toEqual([unknown, 404])
      expect(await bodyOf(refused)).toMatchObject({ code: 'NOT_FOUND', message: expect.stringMatching(/service/) })
    }
  })

  it('answer HEAD without a body', async () => {
    const answer = await call(services, { method: 'HEAD' })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  })
})

describe('an internal fault', () => {
  it('answers 500 in the shape of the API, shows nothing inside, and is logged', async () => {
    rows('cloud.error.500')
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const broken = {
      getByName: () => {
        throw new Error('no such table: api_keys')
      },
    } as unknown as SandboxBindings['PROJECT']
    const answer = await call(services, { bindings: { PROJECT: broken } })
    expect(answer.status).toBe(500)
    expect(answer.headers.get('content-type')).toContain('application/json')
    const text = await answer.text()
    expect(JSON.parse(text)).toMatchObject({ code: 'INTERNAL_ERROR', message: expect.any(String) })
    expect(text).not.toContain('api_keys')
    expect(errors).toHaveBeenCalledOnce()
    expect(errors.mock.calls.join()).toContain('no such table')
  })
})

describe('storage', () => {
  it('keeps services and their steps when the object is gone from memory', async () => {
    const created = await create({ name: 'a' })
    await evictDurableObject(projectOf(bindings, 'prjalpha01'))
    expect(await get(created.service_id)).toEqual(created)
    await evictDurableObject(projectOf(bindings, 'prjalpha01'))
    vi.setSystemTime(startMs + 3_000)
    expect(await get(created.service_id)).toEqual({ ...created, status: 'READY' })
  })

  it('keeps what became of a key: one that is revoked is refused at once, also by a fresh object', async () => {
    expect((await call(services)).status).toBe(200)
    await runInDurableObject(directoryOf(bindings), (_, { storage }) => {
      storage.sql.exec('update api_keys set revoked_at_ms = ? where access_key = ?', startMs, 'AKALPHAADMIN')
      storage.sql.exec('delete from api_keys where access_key = ?', 'AKALPHAREAD')
    })
    expect((await call(services)).status).toBe(401)
    await evictDurableObject(directoryOf(bindings))
    expect((await call(services)).status).toBe(401)
    expect((await call(services, { authorization: readOnly })).status).toBe(401)
    expect((await call(services, { authorization: basicHeader(sandboxKeys.operator) })).status).toBe(200)
  })

  it('holds no secret in the clear', async () => {
    const { initial_password } = await bodyOf(call(services, { body: { name: 'a' } }))
    for (const object of [directoryOf(bindings), projectOf(bindings, 'prjalpha01')]) {
      const dump = await runInDurableObject(object, (_, { storage }) => {
        const tables = storage.sql.exec<{ name: string }>("select name from sqlite_master where type = 'table'")
        return tables
          .toArray()
          .filter((table) => !table.name.startsWith('_cf'))
          .flatMap((table) => storage.sql.exec(`select * from ${table.name}`).toArray())
          .flatMap((row) => Object.values(row))
          .map((value) => (value instanceof ArrayBuffer ? new TextDecoder().decode(value) : String(value)))
          .join('\n')
      })
      expect(dump.length).toBeGreaterThan(100)
      for (const secret of [initial_password as string, ...Object.values(sandboxKeys).map((key) => key.secretKey)]) {
        expect(dump).not.toContain(secret)
      }
    }
  })
})
