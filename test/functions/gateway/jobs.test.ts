import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it } from 'vitest'
import type { GatewayBindings } from '../../../functions/gateway/env.ts'
import { scheduled } from '../../../functions/jobs/scheduled.ts'
import type { Scope } from '../../../shared/kernel/auth/scope.ts'
import { bearer, call, newKey, sql } from '../../support/gateway.ts'
import { rows } from '../../support/rows.ts'

type Answer = { status: number; headers: Headers; body: Record<string, unknown> & { id: number } }

async function caller(...scopes: Scope[]) {
  const { text, id } = await newKey(...scopes)
  const send = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const init = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await call(path, { method, headers: bearer(text), ...init })
    const answered = await response.text()
    return { status: response.status, headers: response.headers, body: answered === '' ? {} : JSON.parse(answered) }
  }
  return { send, keyId: id }
}

const poll = { kind: 'poll', upstream: 'gamma', path: '/markets?closed=false', sink: { kind: 'documents' } }
const input = { name: 'open markets', schedule: '*/5 * * * *', time_zone: 'Europe/Berlin', task: poll }

const addRoutine = (name: string, body: string) =>
  sql().query(
    `create or replace function public.${name}(job_id int default null, config jsonb default null) returns void
       language plpgsql as $$ begin ${body} end $$`,
  )

afterEach(async () => {
  await sql().query('delete from timeseries_internal.jobs where job_id >= 1000')
})

describe('/jobs', () => {
  it('makes, reads, lists, changes, pauses, resumes and deletes a job', async () => {
    const { send, keyId } = await caller('jobs:write', 'markets:read')
    const made = await send('POST', '/jobs', input)
    expect(made.status).toBe(201)
    const { id } = made.body
    expect(id).toBeGreaterThanOrEqual(1000)
    expect(made.headers.get('location')).toBe(`/jobs/${id}`)
    expect(made.body).toMatchObject({ ...input, kind: 'poll', state: 'scheduled', owner: keyId, max_retries: -1 })
    expect(made.body.next_start).toMatch(/:[0-5][05]:00\.000Z$/)

    expect((await send('GET', `/jobs/${id}`)).body).toEqual(made.body)
    const patched = await send('PATCH', `/jobs/${id}`, { schedule: { every: '10 s' }, retry_period: '30 s' })
    expect(patched).toMatchObject({
      status: 200,
      body: { name: 'open markets', schedule: { every: '10 s' }, retry_period: '30 s', task: poll },
    })
    const paused = await send('POST', `/jobs/${id}/pause`)
    expect(paused).toMatchObject({ status: 200, body: { state: 'paused', scheduled: false, next_start: null } })
    expect((await send('GET', '/jobs?state=paused')).body).toMatchObject({ data: [{ id }], next_cursor: null })
    expect((await send('GET', '/jobs?state=scheduled')).body).toMatchObject({ data: [] })
    expect((await send('POST', `/jobs/${id}/resume`)).body).toMatchObject({ state: 'scheduled' })
    const [listed] = await sql().query('select * from timeseries_information.jobs where job_id = $1', [id])
    expect(listed).toMatchObject({ proc_schema: 'tidegate', proc_name: 'poll', scheduled: true })

    expect(await send('DELETE', `/jobs/${id}`)).toMatchObject({ status: 204 })
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/run'],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['GET', '/runs'],
    ] as const) {
      expect(await send(method, `/jobs/${id}${path}`)).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
  })

  it('lists in pages', async () => {
    const { send } = await caller('jobs:write', 'markets:read')
    const ids = []
    for (let n = 0; n < 3; n++) ids.push((await send('POST', '/jobs', { ...input, name: `job ${n}` })).body.id)
    const first = (await send('GET', '/jobs?limit=2')).body as unknown as {
      data: { id: number }[]
      next_cursor: string
    }
    const second = (await send('GET', `/jobs?limit=2&cursor=${first.next_cursor}`)).body
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 2))
    expect(second).toMatchObject({ data: [{ id: ids[2] }], next_cursor: null })
    expect((await send('GET', '/jobs?q=JOB%201&kind=poll')).body).toMatchObject({ data: [{ id: ids[1] }] })
    expect(await send('GET', '/jobs?limit=0')).toMatchObject({ status: 400 })
  })

  it('does not show the jobs of the system', async () => {
    const { send } = await caller('jobs:write', 'markets:read')
    expect(await send('GET', '/jobs/3')).toMatchObject({ status: 404 })
    expect(await send('DELETE', '/jobs/3')).toMatchObject({ status: 404 })
    expect(await send('GET', '/jobs/99999999999999')).toMatchObject({ status: 404 })
  })

  it('wants the scope of each call', async () => {
    const reader = await caller('jobs:read')
    const stranger = await caller('feed:read')
    expect(await reader.send('GET', '/jobs')).toMatchObject({ status: 200 })
    for (const [method, path] of [
      ['POST', '/jobs'],
      ['DELETE', '/jobs/1000'],
      ['POST', '/jobs/1000/run'],
      ['POST', '/jobs/1000/pause'],
      ['POST', '/jobs/1000/resume'],
      ['PATCH', '/jobs/1000'],
    ] as const) {
      expect(await reader.send(method, path, {})).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    }
    expect(await stranger.send('GET', '/jobs')).toMatchObject({ status: 403 })
    expect(await stranger.send('GET', '/runs/00000000-0000-4000-8000-000000000000')).toMatchObject({ status: 403 })
    expect((await call('/jobs')).status).toBe(401)
  })

  it.each([
    ['unknown_field', 'extra', { extra: 1 }],
    ['unknown_field', 'task.extra', { task: { ...poll, extra: 1 } }],
    ['invalid_input', 'schedule.minute', { schedule: '60 * * * *' }],
    ['invalid_input', 'time_zone', { time_zone: 'Mars/Olympus' }],
    ['invalid_input', 'schedule.every', { schedule: { every: 'now and then' } }],
    ['invalid_input', 'task.upstream', { task: { ...poll, upstream: 'nowhere' } }],
    ['invalid_input', 'task.url', { task: { kind: 'poll', url: 'https://not-listed.example.com/' } }],
    ['invalid_input', 'task.routine', { task: { kind: 'sql', routine: 'public.not_there' } }],
    ['invalid_input', 'task.routine', { task: { kind: 'sql', routine: 'pg_catalog.abs' } }],
    ['not_supported', 'task.sink.kind', { task: { ...poll, sink: { kind: 'ticks', symbol: 's', price: 'p' } } }],
  ])('answers 400 %s naming %s', async (code, field, change) => {
    const { send } = await caller('jobs:write', 'markets:read')
    const { status, headers, body } = await send('POST', '/jobs', { ...input, ...change })
    expect(status).toBe(400)
    expect(headers.get('content-type')).toBe('application/problem+json')
    expect(body).toMatchObject({ code, errors: [{ field, expected: expect.any(String), given: expect.any(String) }] })
  })
})

describe('/jobs/preview', () => {
  it('shows the next times of a schedule and makes nothing', async () => {
    const { send } = await caller('jobs:read')
    const body = { schedule: '30 2 * * *', time_zone: 'Europe/Berlin', from: '2026-03-28T12:00:00Z', count: 2 }
    expect(await send('POST', '/jobs/preview', body)).toMatchObject({
      status: 200,
      body: { times: ['2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z'] },
    })
    expect((await send('GET', '/jobs')).body).toMatchObject({ data: [] })
    expect(await send('POST', '/jobs/preview', { ...body, count: 51 })).toMatchObject({ status: 400 })
  })
})

describe('/jobs/{id}/run', () => {
  it('answers the run with its output when it ends in time, and leaves the schedule alone', async () => {
    const { send } = await caller('jobs:write', 'markets:read')
    await addRoutine('by_hand', `raise notice 'hello %', config;`)
    const made = await send('POST', '/jobs', {
      ...input,
      scheduled: false,
      task: { kind: 'sql', routine: 'public.by_hand', config: 7 },
    })
    const { id } = made.body
    const run = await send('POST', `/jobs/${id}/run`, { wait_seconds: 20 })
    expect(run).toMatchObject({
      status: 200,
      body: { job_id: id, outcome: 'succeeded', attempt: 1, output: { notices: ['hello 7'] } },
    })
    expect((await send('GET', `/runs/${run.body.run_id}`)).body).toEqual(run.body)
    expect((await send('GET', `/jobs/${id}/runs?outcome=succeeded`)).body).toMatchObject({
      data: [{ run_id: run.body.run_id }],
    })
    expect((await send('GET', `/jobs/${id}/runs?outcome=failed`)).body).toMatchObject({ data: [] })
    expect((await send('GET', `/jobs/${id}`)).body).toMatchObject({ state: 'paused', totals: { runs: 1 } })
  })

  it('answers 202 at once without waiting, and 409 while the job runs', async () => {
    const { send } = await caller('jobs:write', 'markets:read')
    await addRoutine('slow', 'perform pg_sleep(1);')
    const { id } = (await send('POST', '/jobs', { ...input, task: { kind: 'sql', routine: 'public.slow' } })).body
    const run = await send('POST', `/jobs/${id}/run`)
    expect(run).toMatchObject({ status: 202, body: { outcome: 'running', finished_at: null } })
    expect(await send('POST', `/jobs/${id}/run`)).toMatchObject({ status: 409, body: { code: 'busy' } })
    await expect
      .poll(async () => (await send('GET', `/runs/${run.body.run_id}`)).body.outcome, { timeout: 10_000 })
      .toBe('succeeded')
  })

  it('knows no other run', async () => {
    const { send } = await caller('jobs:read')
    for (const id of ['00000000-0000-4000-8000-000000000000', 'x']) {
      expect(await send('GET', `/runs/${id}`)).toMatchObject({ status: 404, body: { code: 'run_not_found' } })
    }
  })
})

describe('a poll', () => {
  it('reads with the credential of the gateway, so its maker needs the scope to read there', async () => {
    const { send } = await caller('jobs:write', 'markets:read')
    const cloud = { ...input, task: { ...poll, upstream: 'cloud', path: '/projects' } }
    expect(await send('POST', '/jobs', cloud)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    const { id } = (await send('POST', '/jobs', input)).body
    expect(await send('PATCH', `/jobs/${id}`, { task: cloud.task })).toMatchObject({ status: 403 })
    const { send: reader } = await caller('jobs:write', 'cloud:read')
    expect(await reader('POST', '/jobs', cloud)).toMatchObject({ status: 201 })
  })
})

describe('a schedule', () => {
  it('that a user registers is worked off on cron ticks without a further call', async () => {
    rows('card.use.cron-schedules')
    const { send } = await caller('jobs:write', 'markets:read')
    const { id } = (await send('POST', '/jobs', { ...input, schedule: '* * * * *' })).body
    for (const minutes of [1, 2]) {
      const context = createExecutionContext()
      const controller = { scheduledTime: Date.now() + minutes * 60_000, cron: '* * * * *', noRetry: () => {} }
      await scheduled(controller, env as unknown as GatewayBindings, context)
      await waitOnExecutionContext(context)
    }
    expect((await send('GET', `/jobs/${id}/runs`)).body).toMatchObject({
      data: [{ outcome: 'succeeded' }, { outcome: 'succeeded', output: { status: 200, rows_changed: 1 } }],
    })
    const [stored] = await sql().query('select count(*)::int as n from tidegate.documents where job_id = $1', [id])
    expect(stored).toEqual({ n: 1 })
  })
})
