import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { JobInput } from '../../shared/jobs/contract.ts'
import { microsOf } from '../../shared/jobs/instant.ts'
import { readJob } from '../../shared/jobs/read-job.ts'
import type { Sql } from '../../shared/kernel/sql/client.ts'
import { migrate } from '../../shared/kernel/sql/migrate.ts'
import { latestEtag, storeDocuments } from '../../shared/store/documents.ts'
import { type Claim, claimDueJobs, claimJob, finishRun, listRuns, lostRuns } from '../../shared/store/job-runs.ts'
import { deleteJob, findJob, insertJob, routineFault } from '../../shared/store/jobs.ts'
import { startPostgres } from '../support/postgres.ts'

const folder = fileURLToPath(new URL('../../shared/store/migrations/', import.meta.url).href)
const migrations = readdirSync(folder)
  .filter((name) => name.endsWith('.sql'))
  .sort()
  .map((name) => ({ name, text: readFileSync(folder + name, 'utf8') }))

type Database = { readonly sql: Sql; readonly close: () => Promise<unknown> }
type Run = (text: string, params?: readonly unknown[]) => Promise<{ rows: unknown[] }>

/** The statements of the stores need queries and batches only. */
const sqlOver = (run: Run, transaction: (work: (run: Run) => Promise<unknown>) => Promise<unknown>): Sql => ({
  query: async <Row>(text: string, params?: readonly unknown[]) => (await run(text, params)).rows as Row[],
  batch: async (statements) => {
    const results: Record<string, unknown>[][] = []
    await transaction(async (inside) => {
      for (const { text, params } of statements) {
        results.push((await inside(text, params)).rows as Record<string, unknown>[])
      }
    })
    return results
  },
  interactive: () => Promise.reject(new Error('not used here')),
})

async function openPglite(): Promise<Database> {
  const database = await PGlite.create()
  const run: Run = (text, params = []) => database.query(text, [...params])
  const sql = sqlOver(run, (work) =>
    database.transaction((inside) => work((text, params = []) => inside.query(text, [...params]))),
  )
  return { sql, close: () => database.close() }
}

/** A real server, and a role without superuser rights that owns its database, as with a hosted one. */
async function openPostgres(): Promise<Database> {
  const server = await startPostgres()
  const admin = new pg.Client(server.url)
  await admin.connect()
  await admin.query(`create role app login password 'app'`)
  await admin.query('create database app owner app')
  await admin.end()
  const url = new URL(server.url)
  Object.assign(url, { username: 'app', password: 'app', pathname: '/app' })
  const pool = new pg.Pool({ connectionString: url.href, max: 8 })
  pool.on('error', () => undefined) // the server says goodbye to connections that are closing already
  const run: Run = (text, params = []) => pool.query(text, [...params])
  const sql = sqlOver(run, async (work) => {
    const client = await pool.connect()
    try {
      await client.query('begin')
      await work((text, params = []) => client.query(text, [...params]))
      await client.query('commit')
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  })
  const close = async () => {
    await pool.end()
    await server.stop()
  }
  return { sql, close }
}

const at = (time: string): string => `2030-01-07T${time}Z`
const claimAt = (time: string): Claim => ({
  dueAt: at(time),
  startedAt: at(time),
  leaseOwner: 'test',
  longestRun: '14 minutes',
  grace: '5 minutes',
})

async function addJob(sql: Sql, input: Record<string, unknown> = {}): Promise<number> {
  const task = { kind: 'sql', routine: 'public.nothing' }
  const parsed = JobInput.parse({ name: 'test', schedule: { every: '10 minutes' }, task, ...input })
  const { job, firstStart } = readJob(parsed, { now: microsOf(Date.parse(at('00:00:00'))), allowedHosts: [] })
  return insertJob(sql, job, 'testkey1', firstStart)
}

const ending = {
  switchOff: false,
  pid: 7,
  sqlState: undefined,
  errorText: undefined,
  error: undefined,
  output: undefined,
}
const success = { ...ending, outcome: 'succeeded' } as const
const failure = {
  ...ending,
  outcome: 'failed',
  sqlState: 'P0001',
  errorText: 'boom. more',
  error: { code: 'P0001', message: 'boom' },
} as const

describe.each([
  ['PGlite', openPglite],
  ['PostgreSQL', openPostgres],
])('the job registry on %s', (_, open) => {
  let database: Database
  let sql: Sql

  beforeAll(async () => {
    database = await open()
    sql = database.sql
    expect(await migrate(sql, migrations)).toContain('0003-jobs.sql')
    // The job of the system has a schedule of its own.
    await sql.query(`update timeseries_internal.job_stats set next_start = 'infinity' where job_id = 3`)
  })
  afterAll(() => database?.close())

  const removeJobs = () => sql.query('delete from timeseries_internal.jobs where job_id >= 1000')

  it('is made once: a second run of the migrations changes nothing', async () => {
    expect(await migrate(sql, migrations)).toEqual([])
  })

  it.each([
    [
      'jobs',
      'job_id application_name schedule_interval max_runtime max_retries retry_period proc_schema proc_name owner scheduled fixed_schedule config next_start initial_start hypertable_schema hypertable_name check_schema check_name',
    ],
    [
      'job_stats',
      'hypertable_schema hypertable_name job_id last_run_started_at last_successful_finish last_run_status job_status last_run_duration next_start total_runs total_successes total_failures',
    ],
    ['job_errors', 'job_id proc_schema proc_name pid start_time finish_time sqlerrcode err_message'],
    [
      'job_history',
      'id job_id succeeded proc_schema proc_name pid start_time finish_time config sqlerrcode err_message',
    ],
  ])('has the view %s with the columns of the original, in order', async (view, columns) => {
    const found = await sql.query<{ name: string }>(
      `select column_name::text as name
         from information_schema.columns
        where table_schema = 'timeseries_information' and table_name = $1
        order by ordinal_position`,
      [view],
    )
    expect(found.map(({ name }) => name).join(' ')).toBe(columns)
  })

  it('numbers jobs of users from 1000 on', async () => {
    expect(await addJob(sql)).toBeGreaterThanOrEqual(1000)
    await removeJobs()
  })

  it('gives every due job to one claimer only', async () => {
    const ids = []
    for (let count = 0; count < 40; count++) ids.push(await addJob(sql))
    const claims = Array.from({ length: 16 }, () => claimDueJobs(sql, claimAt('00:00:00'), 4, []))
    const claimed = (await Promise.all(claims)).flat().map(({ job_id }) => job_id)
    expect(new Set(claimed).size).toBe(claimed.length)
    // What `skip locked` left to somebody else in the crowd is there for the next claim.
    for (;;) {
      const more = await claimDueJobs(sql, claimAt('00:00:00'), 4, [])
      if (more.length === 0) break
      claimed.push(...more.map(({ job_id }) => job_id))
    }
    expect(claimed.sort()).toEqual(ids.sort())
    await removeJobs()
  })

  it('does not run jobs of one concurrency key at the same time', async () => {
    for (let count = 0; count < 3; count++) {
      await sql.query(`update tidegate.job_options set concurrency_key = 'one' where job_id = $1`, [await addJob(sql)])
    }
    const [first, ...others] = await claimDueJobs(sql, claimAt('00:00:00'), 4, [])
    expect(others).toEqual([])
    expect(await claimDueJobs(sql, claimAt('00:00:00'), 4, [])).toEqual([])
    const runId = first?.run_id ?? ''
    await finishRun(sql, { ...success, runId, finishedAt: at('00:00:01'), nextStart: at('00:10:01') })
    expect(await claimDueJobs(sql, claimAt('00:00:02'), 4, [])).toHaveLength(1)
    await removeJobs()
  })

  it('counts starts, ends and crashes as the original does', async () => {
    const id = await addJob(sql)
    const [run] = await claimDueJobs(sql, claimAt('00:00:00'), 4, [])
    const runId = run?.run_id ?? ''
    expect(await findJob(sql, id)).toMatchObject({
      running: true,
      total_runs: '1',
      total_crashes: '1',
      consecutive_crashes: 1,
      start_unset: true,
    })
    const end = { ...failure, runId, finishedAt: at('00:00:02'), nextStart: at('00:05:00') }
    expect(await finishRun(sql, end)).toBe(true)
    expect(await finishRun(sql, { ...end, ...success })).toBe(false)
    expect(await findJob(sql, id)).toMatchObject({
      running: false,
      total_failures: '1',
      total_crashes: '0',
      consecutive_failures: 1,
      consecutive_crashes: 0,
      next_start: `${Date.parse(at('00:05:00')) * 1_000}`,
      last_run: { outcome: 'failed' },
    })
    expect(await sql.query('select * from timeseries_information.job_errors where job_id = $1', [id])).toMatchObject([
      { proc_name: 'nothing', pid: 7, sqlerrcode: 'P0001', err_message: 'boom. more' },
    ])
    const [stats] = await sql.query('select * from timeseries_information.job_stats where job_id = $1', [id])
    expect(stats).toMatchObject({ last_run_status: 'Failed', job_status: 'Scheduled' })

    const [second] = await claimDueJobs(sql, claimAt('00:05:00'), 4, [])
    expect(second).toMatchObject({ attempt: 2 })
    const done = { ...success, runId: second?.run_id ?? '', finishedAt: at('00:05:01'), nextStart: at('00:15:01') }
    await finishRun(sql, done)
    expect(await findJob(sql, id)).toMatchObject({ consecutive_failures: 0, total_successes: '1', total_runs: '2' })
    // Successes are listed only where the setting asks for it.
    const history = await sql.query('select * from timeseries_information.job_history where job_id = $1', [id])
    expect(history).toMatchObject([{ succeeded: false }])
    expect(await listRuns(sql, id, { outcome: undefined, before: undefined, limit: 9 })).toHaveLength(2)
    await removeJobs()
  })

  it('keeps a next start that was set during the run, and switches off when told', async () => {
    const id = await addJob(sql)
    const [run] = await claimDueJobs(sql, claimAt('00:00:00'), 4, [])
    await sql.query('update timeseries_internal.job_stats set next_start = $2::timestamptz where job_id = $1', [
      id,
      at('12:00:00'),
    ])
    const runId = run?.run_id ?? ''
    await finishRun(sql, { ...failure, runId, finishedAt: at('00:00:01'), nextStart: at('00:10:00'), switchOff: true })
    expect(await findJob(sql, id)).toMatchObject({
      scheduled: false,
      next_start: `${Date.parse(at('12:00:00')) * 1_000}`,
    })
    await removeJobs()
  })

  it('leaves the schedule alone when a run was asked for', async () => {
    const id = await addJob(sql, { schedule: '0 12 * * *', scheduled: false })
    const run = await claimJob(sql, claimAt('00:00:00'), id)
    expect(run).toMatchObject({ started_by: 'request', attempt: 1 })
    expect(await claimJob(sql, claimAt('00:00:00'), id)).toBeUndefined()
    const runId = run?.run_id ?? ''
    await finishRun(sql, { ...failure, runId, finishedAt: at('00:00:01'), nextStart: at('00:10:00') })
    expect(await findJob(sql, id)).toMatchObject({
      next_start: `${Date.parse(at('12:00:00')) * 1_000}`,
      consecutive_failures: 0,
      consecutive_crashes: 0,
      total_failures: '1',
    })
    await removeJobs()
  })

  it('finds runs whose lease is over', async () => {
    const id = await addJob(sql, { max_runtime: '1 minute' })
    await claimDueJobs(sql, claimAt('00:00:00'), 4, [])
    const lostAt = async (time: string) => (await lostRuns(sql, at(time))).filter(({ job_id }) => job_id === id).length
    expect(await lostAt('00:06:00')).toBe(0)
    expect(await lostAt('00:06:01')).toBe(1)
    expect(await deleteJob(sql, id)).toBe(true)
    expect(await lostAt('00:06:01')).toBe(1) // history outlives the job
    await sql.query('delete from timeseries_internal.job_history')
  })

  it('has tidegate.poll as a routine that asks for a run', async () => {
    expect(await routineFault(sql, 'tidegate', 'poll')).toBeUndefined()
    expect(await routineFault(sql, 'public', 'not_there')).toBe('missing')
    expect(await routineFault(sql, 'pg_catalog', 'abs')).toBe('missing')
    const id = await addJob(sql, { task: { kind: 'poll', upstream: 'gamma', path: '/markets' }, scheduled: false })
    expect(await claimDueJobs(sql, claimAt('00:00:00'), 4, [])).toEqual([])
    await sql.query('call tidegate.poll($1, null)', [id])
    expect(await claimDueJobs(sql, claimAt('00:00:00'), 4, [])).toMatchObject([{ job_id: id, started_by: 'request' }])
    await expect(sql.query('call tidegate.poll(1, null)')).rejects.toThrow('job 1 not found')
    await removeJobs()
  })

  it('drops old history and keeps the newest runs of each job', async () => {
    await sql.query('delete from timeseries_internal.job_history')
    await sql.query(
      `insert into timeseries_internal.job_history
         (job_id, run_id, started_by, attempt, outcome, succeeded, due_at, start_time, finish_time, lease_owner,
          lease_expires_at, proc_schema, proc_name, owner)
       select 1000 + n % 2, gen_random_uuid(), 'schedule', 1, 'succeeded', true, t, t, t, 'x', t, 'a', 'b',
              quote_ident(current_user)::regrole
         from generate_series(20, 1, -1) as n, lateral (select now() - n * interval '4 days' as t) as times`,
    )
    await sql.query(
      `call timeseries_internal.policy_job_history_retention(3, '{"drop_after": "30 days", "max_successes_per_job": 3}')`,
    )
    const left = await sql.query(
      'select job_id, count(*)::int as n from timeseries_internal.job_history group by job_id',
    )
    expect(left.sort((a, b) => Number(a.job_id) - Number(b.job_id))).toEqual([
      { job_id: 1000, n: 3 },
      { job_id: 1001, n: 3 },
    ])
    await sql.query('delete from timeseries_internal.job_history')
  })

  it('stores documents with all digits, and one row of history per change', async () => {
    const runId = '00000000-0000-4000-8000-000000000000'
    const source = {
      jobId: 1,
      runId,
      upstream: 'gamma',
      path: '/m',
      status: 200,
      etag: '"a"',
      fetchedAt: at('00:00:00'),
    }
    const hash = (letter: string) => letter.repeat(64)
    const first = [
      { key: 'a', contentHash: hash('a'), body: '{"n": 12345678901234567890123.10}' },
      { key: 'b "quoted"', contentHash: hash('b'), body: 'null' },
    ]
    expect(await storeDocuments(sql, source, first)).toBe(2)
    expect(await storeDocuments(sql, { ...source, etag: '"b"', fetchedAt: at('00:01:00') }, first)).toBe(0)
    const changed = [{ key: 'a', contentHash: hash('c'), body: '2' }]
    expect(await storeDocuments(sql, { ...source, etag: '"c"', fetchedAt: at('00:02:00') }, changed)).toBe(1)
    expect(await latestEtag(sql, 1, '/m')).toBe('"c"')
    expect(await sql.query('select key, body::text from tidegate.document_history order by id')).toEqual([
      { key: 'a', body: '{"n": 12345678901234567890123.10}' },
      { key: 'b "quoted"', body: 'null' },
      { key: 'a', body: '2' },
    ])
    expect(await sql.query('select key, body::text from tidegate.documents order by key')).toMatchObject([
      { key: 'a', body: '2' },
      { key: 'b "quoted"', body: 'null' },
    ])
  })
})
