import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it } from 'vitest'
import type { GatewayBindings } from '../../../functions/gateway/env.ts'
import { runDueJobs, startJob } from '../../../functions/jobs/runner.ts'
import { JobInput } from '../../../shared/jobs/contract.ts'
import { microsOf } from '../../../shared/jobs/instant.ts'
import { readJob } from '../../../shared/jobs/read-job.ts'
import { toJob, toRun } from '../../../shared/jobs/record.ts'
import { createSql } from '../../../shared/kernel/sql/client.ts'
import { claimDueJobs, listRuns } from '../../../shared/store/job-runs.ts'
import { findJob, insertJob, setScheduled } from '../../../shared/store/jobs.ts'
import { rows } from '../../support/rows.ts'

const bindings = { ...(env as unknown as GatewayBindings), JOBS_ALLOWED_HOSTS: 'api.example.com, b.example.com' }
const sql = createSql(bindings.DATABASE_URL)
/** A Monday; far enough ahead that nothing else in the database is due. */
const start = Date.UTC(2030, 0, 7)
const minute = 60_000

const noNetwork = async (request: Request): Promise<Response> => {
  throw new Error(`nothing may be sent to ${request.url}`)
}

async function addJob(input: Record<string, unknown>): Promise<number> {
  const parsed = JobInput.parse({ name: 'test', schedule: { every: '10 minutes' }, ...input })
  const options = { now: microsOf(start), allowedHosts: ['api.example.com', 'b.example.com'] }
  const { job, firstStart } = readJob(parsed, options)
  return insertJob(sql, job, 'testkey1', firstStart)
}

const jobNow = async (id: number) => toJob((await findJob(sql, id)) as NonNullable<Awaited<ReturnType<typeof findJob>>>)
const runsOf = async (id: number) =>
  (await listRuns(sql, id, { outcome: undefined, before: undefined, limit: 50 })).map(toRun)
/** Jobs of the system, such as the retention of the history, have their own times. */
const tick = async (at: number, outside = noNetwork) =>
  (await runDueJobs(bindings, at, { outside, random: () => 0.5 })).filter(({ job_id }) => job_id >= 1000)

/** A routine that notes its calls in a table of its own. */
async function addRoutine(name: string, body: string, kind = 'function'): Promise<string> {
  await sql.query(
    'create table if not exists public.job_calls (id serial, routine text, job_id int, config jsonb, run_id text)',
  )
  const returns = kind === 'function' ? 'returns void' : ''
  await sql.query(
    `create or replace ${kind} public.${name}(job_id int default null, config jsonb default null) ${returns}
       language plpgsql as $$ begin ${body} end $$`,
  )
  return `public.${name}`
}
const noteCall = (name: string) =>
  `insert into public.job_calls (routine, job_id, config, run_id)
     values ('${name}', $1, $2, current_setting('tidegate.run_id', true));`
const callsOf = (name: string) =>
  sql.query<{ job_id: number; config: unknown; run_id: string }>(
    'select job_id, config, run_id from public.job_calls where routine = $1 order by id',
    [name],
  )

afterEach(async () => {
  await sql.query('delete from timeseries_internal.jobs where job_id >= 1000')
  await sql.query('drop table if exists public.job_calls')
})

describe('a tick', () => {
  it('runs the due jobs of the database once, and not those that are off', async () => {
    rows('card.cron.job-tasks')
    const a = await addRoutine('tick_a', noteCall('tick_a'))
    const b = await addRoutine('tick_b', `${noteCall('tick_b')} commit; ${noteCall('tick_b')}`, 'procedure')
    const config = { n: 1, deep: [null, 'ü'] }
    const due = await addJob({ task: { kind: 'sql', routine: a, config } })
    const committing = await addJob({ task: { kind: 'sql', routine: b } })
    const off = await addJob({ task: { kind: 'sql', routine: a }, scheduled: false })
    const later = await addJob({ schedule: '0 12 * * *', task: { kind: 'sql', routine: a } })

    const ended = await tick(start)
    expect(ended.map(({ job_id, outcome }) => [job_id, outcome]).sort()).toEqual([
      [due, 'succeeded'],
      [committing, 'succeeded'],
    ])
    const [run] = await runsOf(due)
    expect(await callsOf('tick_a')).toEqual([{ job_id: due, config, run_id: run?.run_id }])
    expect(await callsOf('tick_b')).toMatchObject([{ config: null }, { job_id: committing }])
    expect(await runsOf(off)).toEqual([])
    expect(await runsOf(later)).toEqual([])
    expect(await jobNow(due)).toMatchObject({
      state: 'scheduled',
      next_start: '2030-01-07T00:10:00.000Z',
      totals: { runs: 1, successes: 1, failures: 0, crashes: 0 },
      last_run: { outcome: 'succeeded' },
    })
  })

  it('runs a job once per interval as time goes on', async () => {
    rows('ts.job.rule.runs-on-schedule')
    const routine = await addRoutine('hourly', noteCall('hourly'))
    const origin = new Date(start).toISOString()
    const fixed = await addJob({
      schedule: { every: '10 minutes', fixed: true, start: origin },
      task: { kind: 'sql', routine },
    })
    const short = await addJob({ schedule: { every: '10 s' }, task: { kind: 'sql', routine } })
    for (let passed = 0; passed < 60; passed++) await tick(start + passed * minute)
    const due = (await runsOf(fixed)).map(({ due_at }) => due_at)
    expect(due.reverse()).toEqual(
      [0, 10, 20, 30, 40, 50].map((after) => new Date(start + after * minute).toISOString()),
    )
    expect(await jobNow(short)).toMatchObject({ totals: { runs: 60, successes: 60 } })
  }, 60_000)

  it('runs a job as the role that owns it, and with no more rights than that role has', async () => {
    await sql.query(`do $$ begin create role job_owner; exception when duplicate_object then null; end $$`)
    await sql.query('grant job_owner to current_user')
    const routine = await addRoutine('as_owner', `raise notice 'I am %', current_user;`)
    const id = await addJob({ task: { kind: 'sql', routine } })
    await sql.query(`update timeseries_internal.jobs set owner = 'job_owner' where job_id = $1`, [id])
    await tick(start)
    expect(await runsOf(id)).toMatchObject([{ outcome: 'succeeded', output: { notices: ['I am job_owner'] } }])
    await sql.query('revoke execute on function public.as_owner from public')
    await tick(start + 10 * minute)
    expect((await runsOf(id))[0]).toMatchObject({ outcome: 'failed', error: { code: '42501' } })
  })

  it('never runs a job beside itself, however many ticks come at once', async () => {
    const routine = await addRoutine('alone', noteCall('alone'))
    const ids = await Promise.all(Array.from({ length: 6 }, () => addJob({ task: { kind: 'sql', routine } })))
    const ended = (await Promise.all([tick(start), tick(start), tick(start)])).flat()
    expect(ended.map(({ job_id }) => job_id).sort()).toEqual(ids.sort())
    expect(await callsOf('alone')).toHaveLength(6)
  })

  it('parks a job whose schedule cannot be followed, and runs the others', async () => {
    const routine = await addRoutine('odd', noteCall('odd'))
    const odd = await addJob({ schedule: '* * * * *', task: { kind: 'sql', routine } })
    const sound = await addJob({ schedule: '* * * * *', task: { kind: 'sql', routine } })
    await sql.query(`update timeseries_internal.jobs set timezone = 'Mars/Olympus' where job_id = $1`, [odd])
    expect(await tick(start + minute)).toHaveLength(2)
    expect(await tick(start + 2 * minute)).toMatchObject([{ job_id: sound }])
    expect(await jobNow(odd)).toMatchObject({ state: 'scheduled', next_start: null, totals: { successes: 1 } })
  })

  it('starts nothing while the database is being restored', async () => {
    const routine = await addRoutine('restoring', noteCall('restoring'))
    const id = await addJob({ task: { kind: 'sql', routine } })
    await sql.query(`insert into timeseries_internal.settings values ('restoring', 'on')`)
    try {
      expect(await tick(start)).toEqual([])
      expect(await startJob(bindings, id, 0)).toBeUndefined()
    } finally {
      await sql.query('delete from timeseries_internal.settings')
    }
    expect(await tick(start)).toMatchObject([{ job_id: id }])
  })
})

describe('a job that fails', () => {
  const failing = `raise exception 'boom' using detail = 'more', hint = 'try';`

  it('is recorded, tried again by the rule, told about, and switched off at max_retries', async () => {
    const routine = await addRoutine('failing', failing)
    const id = await addJob({
      schedule: { every: '10 minutes' },
      task: { kind: 'sql', routine },
      max_retries: 3,
      retry_period: '1 minute',
      alert: { url: 'https://hooks.example.com/alert', after_failures: 2 },
    })
    const alerts: { url: string; body: unknown }[] = []
    const outside = async (request: Request) => {
      alerts.push({ url: request.url, body: await request.json() })
      return new Response('no', { status: 500 })
    }
    await tick(start, outside)
    expect(alerts).toEqual([])
    expect(await jobNow(id)).toMatchObject({ next_start: '2030-01-07T00:01:00.000Z', state: 'scheduled' })
    expect(await runsOf(id)).toMatchObject([
      { outcome: 'failed', attempt: 1, error: { code: 'P0001', message: 'boom', hint: 'try' } },
    ])
    const [logged] = await sql.query('select * from timeseries_information.job_errors where job_id = $1', [id])
    expect(logged).toMatchObject({ sqlerrcode: 'P0001', err_message: 'boom. more. try', proc_name: 'failing' })

    await tick(start + minute, outside)
    await tick(start + 3 * minute, outside)
    expect(alerts).toMatchObject([
      { url: 'https://hooks.example.com/alert', body: { job: { id }, failures_in_a_row: 2, switched_off: false } },
      { body: { type: 'job.failed', run: { outcome: 'failed', attempt: 3 }, switched_off: true } },
    ])
    expect(await jobNow(id)).toMatchObject({ state: 'paused', scheduled: false, totals: { failures: 3, crashes: 0 } })
  })

  it('says that its routine is gone', async () => {
    const id = await addJob({ task: { kind: 'sql', routine: 'public.not_there' } })
    await tick(start)
    expect(await runsOf(id)).toMatchObject([
      { outcome: 'failed', error: { code: '42883', message: expect.stringContaining('not_there(integer, jsonb)') } },
    ])
  })

  it('is ended at max_runtime and counts as timed out', async () => {
    const routine = await addRoutine('endless', 'perform pg_sleep(60);')
    const id = await addJob({ task: { kind: 'sql', routine }, max_runtime: '1 s' })
    await tick(start)
    expect(await runsOf(id)).toMatchObject([{ outcome: 'timed_out', error: { code: 'timed_out' } }])
    expect(await jobNow(id)).toMatchObject({ totals: { failures: 1 } })
  })
})

describe('a run whose process died', () => {
  it('is found by its lease, counts as a crash, and the job waits at least five minutes', async () => {
    const routine = await addRoutine('lost', noteCall('lost'))
    const id = await addJob({ task: { kind: 'sql', routine }, schedule: { every: '1 minute' }, retry_period: '1 s' })
    const at = new Date(start).toISOString()
    const claim = { dueAt: at, startedAt: at, leaseOwner: 'dead', longestRun: '10 minutes', grace: '5 minutes' }
    await claimDueJobs(sql, claim, 4, [])
    expect(await jobNow(id)).toMatchObject({ state: 'running', totals: { crashes: 0 } })

    expect(await tick(start + 14 * minute)).toEqual([])
    const found = start + 15 * minute + 1
    expect(await tick(found)).toMatchObject([{ job_id: id, outcome: 'crashed' }])
    expect(await runsOf(id)).toMatchObject([{ outcome: 'crashed', error: { code: 'crashed' } }])
    expect(await jobNow(id)).toMatchObject({
      totals: { runs: 1, crashes: 1 },
      next_start: new Date(found + 5 * minute).toISOString(),
    })
    expect(await tick(found + 5 * minute)).toMatchObject([{ outcome: 'succeeded' }])
    expect(await runsOf(id)).toMatchObject([{ attempt: 2 }, {}])
  })
})

describe('a poll', () => {
  it('of an upstream stores what it answers at the next tick, and later only what has changed', async () => {
    rows('card.cron.polling-tasks')
    const id = await addJob({
      schedule: '*/5 * * * *',
      task: {
        kind: 'poll',
        upstream: 'gamma',
        path: '/markets?closed=false',
        sink: { kind: 'documents', key: '$.id' },
      },
    })
    await tick(start + 5 * minute)
    const [run] = await runsOf(id)
    expect(run).toMatchObject({ outcome: 'succeeded', output: { pages: 1, status: 200 } })
    const { rows_changed } = (run as { output: unknown }).output as { rows_changed: number }
    expect(rows_changed).toBeGreaterThan(0)
    const stored = await sql.query<{ upstream: string; path: string; key: string; body: { id: string } }>(
      'select upstream, path, key, body from tidegate.documents where job_id = $1',
      [id],
    )
    expect(stored).toHaveLength(rows_changed)
    expect(stored.every(({ key, body }) => body.id === key)).toBe(true)
    expect(stored[0]).toMatchObject({ upstream: 'gamma', path: '/markets?closed=false' })
    await tick(start + 10 * minute)
    expect((await runsOf(id))[0]).toMatchObject({ outcome: 'succeeded' })
    const history = await sql.query('select key, content_hash from tidegate.document_history where job_id = $1', [id])
    const kept = await sql.query('select key, content_hash from tidegate.documents where job_id = $1', [id])
    expect(history.length).toBeGreaterThanOrEqual(kept.length)
  })

  const urlJob = (more: Record<string, unknown> = {}) =>
    addJob({ task: { kind: 'poll', url: 'https://api.example.com/items', sink: { kind: 'documents' }, ...more } })

  it('of a URL asks by entity tag and takes 304 for no change', async () => {
    const id = await urlJob()
    const tags: (string | null)[] = []
    const outside = async (request: Request) => {
      tags.push(request.headers.get('if-none-match'))
      if (tags.length > 1) return new Response(null, { status: 304 })
      return Response.json({ a: 1 }, { headers: { etag: '"v1"' } })
    }
    await tick(start, outside)
    await tick(start + 10 * minute, outside)
    expect(tags).toEqual([null, '"v1"'])
    expect((await runsOf(id)).map(({ output }) => output)).toMatchObject([
      { status: 304, pages: 0, rows_changed: 0 },
      { status: 200, pages: 1, rows_changed: 1, bytes: 7 },
    ])
  })

  it('reads page after page, up to its limit', async () => {
    const id = await urlJob({ pages: { by: 'offset', limit: 2, max: 3 }, sink: { kind: 'documents', key: 'id' } })
    const asked: string[] = []
    const outside = async (request: Request) => {
      const offset = Number(new URL(request.url).searchParams.get('offset') ?? 0)
      asked.push(new URL(request.url).search)
      return Response.json([{ id: offset }, { id: offset + 1 }])
    }
    await tick(start, outside)
    expect(asked).toEqual(['?limit=2', '?limit=2&offset=2', '?limit=2&offset=4'])
    expect((await runsOf(id))[0]).toMatchObject({ output: { pages: 3, documents: 6, rows_changed: 6 } })
  })

  it.each([
    ['to a host that is not on the list', 'https://evil.example.net/', 'failed'],
    ['to an address', 'https://169.254.169.254/latest', 'failed'],
    ['to another host of the list', 'https://b.example.com/items', 'succeeded'],
  ])('checks a redirect %s', async (_, location, outcome) => {
    const id = await urlJob()
    const asked: string[] = []
    await tick(start, async (request) => {
      asked.push(request.url)
      return asked.length === 1 ? new Response(null, { status: 302, headers: { location } }) : Response.json([])
    })
    expect((await runsOf(id))[0]).toMatchObject({ outcome })
    expect(asked).toEqual(['https://api.example.com/items', ...(outcome === 'succeeded' ? [location] : [])])
  })

  it('does not leave the path of its upstream', async () => {
    const path = '/../../../internal'
    await expect(addJob({ task: { kind: 'poll', upstream: 'cloud', path } })).rejects.toThrow('. and .. segments')
    // Made in SQL, past the check of the route.
    const id = await addJob({ task: { kind: 'poll', upstream: 'cloud', path: '/x' } })
    await sql.query(
      `update timeseries_internal.jobs set config = jsonb_set(config, '{path}', to_jsonb($2::text)) where job_id = $1`,
      [id, path],
    )
    await tick(start)
    expect((await runsOf(id))[0]).toMatchObject({ outcome: 'failed', error: { code: 'poll_config' } })
  })

  it.each([
    ['a status', () => new Response('no', { status: 503 }), 'answered 503'],
    ['no JSON', () => new Response('<html>'), 'no JSON'],
  ])('fails on %s', async (_, respond, message) => {
    const id = await urlJob()
    await tick(start, async () => respond())
    expect((await runsOf(id))[0]).toMatchObject({
      outcome: 'failed',
      error: { code: 'poll_answer', message: expect.stringContaining(message) },
    })
  })

  it('that was called in SQL runs at the next tick, also when it is off, and keeps its schedule', async () => {
    const id = await urlJob()
    await setScheduled(sql, id, false)
    await sql.query('call tidegate.poll($1, null)', [id])
    expect(await tick(start, async () => Response.json([]))).toMatchObject([{ job_id: id, started_by: 'request' }])
    expect(await tick(start + minute)).toEqual([])
    expect(await jobNow(id)).toMatchObject({ state: 'paused', totals: { runs: 1, successes: 1 } })
  })
})
