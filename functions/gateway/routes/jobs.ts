import type { Context } from 'hono'
import { operations } from '../../../shared/jobs/contract.ts'
import { JobBusyError, UnknownJobError, UnknownRunError } from '../../../shared/jobs/errors.ts'
import { type Micros, microsOf, millisecondsOf, parseInstant } from '../../../shared/jobs/instant.ts'
import { patchJob, startOnResume } from '../../../shared/jobs/patch-job.ts'
import { previewStarts, type ReadJob, readJob, readSchedule } from '../../../shared/jobs/read-job.ts'
import { toJob, toRun } from '../../../shared/jobs/record.ts'
import { formatRoutine } from '../../../shared/jobs/routine.ts'
import type { PollUpstream, Task } from '../../../shared/jobs/task.ts'
import { allows, MissingScopeError, type Scope } from '../../../shared/kernel/auth/scope.ts'
import { toTimestamp } from '../../../shared/kernel/clock.ts'
import type { Handlers, Operation } from '../../../shared/kernel/contract/operation.ts'
import { InvalidInputError } from '../../../shared/kernel/contract/parse.ts'
import { createSql, type Sql } from '../../../shared/kernel/sql/client.ts'
import { findRun, listRuns } from '../../../shared/store/job-runs.ts'
import {
  deleteJob,
  findJob,
  insertJob,
  type JobRow,
  listJobs,
  routineFault,
  setScheduled,
  updateJob,
} from '../../../shared/store/jobs.ts'
import { operationRoutes } from '../../http/operation-routes.ts'
import { startJob } from '../../jobs/runner.ts'
import type { Caller, GatewayEnv } from '../app-env.ts'
import { configOf, type GatewayBindings } from '../env.ts'
import { limitBody } from '../middleware/body-limit.ts'
import { requireCaller } from '../middleware/caller.ts'
import { rateLimit } from '../middleware/rate-limit.ts'

type JobsContext = {
  readonly caller: Caller
  readonly env: GatewayBindings
  readonly sql: Sql
  readonly now: Micros
  readonly waitUntil: (work: Promise<unknown>) => void
}

const bodyLimitBytes = 1024 * 1024

async function admit(c: Context<GatewayEnv>, operation: Operation | undefined): Promise<JobsContext> {
  const caller = await requireCaller(c, operation?.scope ?? 'jobs:read')
  await rateLimit(c)
  c.req.raw = await limitBody(c.req.raw, bodyLimitBytes)
  return {
    caller,
    env: c.env,
    sql: createSql(c.env.DATABASE_URL),
    now: microsOf(Date.now()),
    waitUntil: (work) => c.executionCtx.waitUntil(work),
  }
}

/** Jobs below are the system's own, which nobody manages over HTTP. */
const firstUserJob = 1_000
const lastJob = 2_147_483_647

/** @throws {UnknownJobError} there is no such job */
async function jobOf(sql: Sql, id: number): Promise<JobRow> {
  const job = id >= firstUserJob && id <= lastJob ? await findJob(sql, id) : undefined
  if (!job) throw new UnknownJobError(`there is no job ${id}`, { id })
  return job
}

/** What a poll reads with the gateway's credential, its maker must be allowed to read. */
const readScopes = {
  cloud: 'cloud:read',
  mst: 'mst:read',
  clob: 'orders:write', // open orders and API keys are behind the same path as public books
  gamma: 'markets:read',
  data: 'markets:read',
} as const satisfies Record<PollUpstream, Scope>

/** @throws {MissingScopeError} */
function checkUpstreamScope({ scopes }: Caller, task: Task | undefined): void {
  if (task?.kind !== 'poll' || task.upstream === undefined) return
  const needed = readScopes[task.upstream]
  if (!allows(scopes, needed)) throw new MissingScopeError(needed)
}

/** @throws {InvalidInputError} the routine is missing or may not be called */
async function checkRoutine(sql: Sql, { procSchema: schema, procName: name }: ReadJob): Promise<void> {
  const fault = await routineFault(sql, schema, name)
  if (fault === undefined) return
  const expected =
    fault === 'missing'
      ? 'a function or procedure that can be called as (integer, jsonb)'
      : 'a function or procedure that this database role may execute'
  const given = JSON.stringify(formatRoutine({ schema, name }))
  throw new InvalidInputError('body', [{ field: 'task.routine', expected, given }], ['custom'])
}

const handlers: Handlers<typeof operations, JobsContext> = {
  createJob: async ({ body }, { sql, now, env, caller }) => {
    const { job, firstStart } = readJob(body, { now, allowedHosts: configOf(env).jobsAllowedHosts })
    checkUpstreamScope(caller, body.task)
    if (body.task.kind === 'sql') await checkRoutine(sql, job)
    const id = await insertJob(sql, job, caller.keyId, firstStart)
    return { status: 201, headers: { location: `/jobs/${id}` }, body: toJob(await jobOf(sql, id)) }
  },

  getJobs: async ({ query }, { sql }) => {
    const { q, state, kind, limit, cursor } = query
    const after = Math.min(Number(cursor ?? 0), lastJob)
    const rows = await listJobs(sql, { q, state, kind, after, limit: limit + 1 })
    const page = rows.slice(0, limit)
    const next = rows.length > limit ? String(page.at(-1)?.job_id) : null
    return { status: 200, body: { data: page.map(toJob), next_cursor: next } }
  },

  previewSchedule: ({ body }, { now }) => {
    const schedule = readSchedule(body.schedule, body.time_zone ?? null)
    const from = body.from === undefined ? now : (parseInstant(body.from) ?? now)
    const times = previewStarts(schedule, from, body.count).map((start) => toTimestamp(millisecondsOf(start)))
    return { status: 200, body: { times } }
  },

  getJob: async ({ params }, { sql }) => ({ status: 200, body: toJob(await jobOf(sql, params.id)) }),

  updateJob: async ({ params, body }, { sql, now, env, caller }) => {
    const stored = await jobOf(sql, params.id)
    const { job, nextStart } = patchJob(stored, body, { now, allowedHosts: configOf(env).jobsAllowedHosts })
    checkUpstreamScope(caller, body.task)
    if (body.task?.kind === 'sql') await checkRoutine(sql, job)
    await updateJob(sql, params.id, job, nextStart)
    return { status: 200, body: toJob(await jobOf(sql, params.id)) }
  },

  deleteJob: async ({ params }, { sql }) => {
    await jobOf(sql, params.id)
    await deleteJob(sql, params.id)
    return { status: 204 }
  },

  runJob: async ({ params, body }, { sql, env, waitUntil }) => {
    const job = await jobOf(sql, params.id)
    const waitMs = body.wait_seconds * 1_000
    const started = await startJob(env, job.job_id, waitMs)
    if (!started) {
      throw new JobBusyError(`job ${job.job_id} runs already, or jobs are held back now; try again later`, {
        id: job.job_id,
        retryAfterSeconds: 5,
      })
    }
    waitUntil(started.done)
    const ended = waitMs > 0 && (await endsWithin(started.done, waitMs))
    const run = await findRun(sql, started.run.run_id)
    if (!run) throw new UnknownRunError(`there is no run ${started.run.run_id}`)
    return { status: ended ? 200 : 202, body: toRun(run) }
  },

  pauseJob: async ({ params }, { sql }) => {
    await jobOf(sql, params.id)
    await setScheduled(sql, params.id, false)
    return { status: 200, body: toJob(await jobOf(sql, params.id)) }
  },

  resumeJob: async ({ params }, { sql, now }) => {
    const job = await jobOf(sql, params.id)
    // Of a job that is on already, a start that has passed is only late.
    await setScheduled(sql, params.id, true, job.scheduled ? undefined : startOnResume(job, now))
    return { status: 200, body: toJob(await jobOf(sql, params.id)) }
  },

  getRuns: async ({ params, query }, { sql }) => {
    await jobOf(sql, params.id)
    const { outcome, cursor, limit } = query
    const rows = await listRuns(sql, params.id, { outcome, before: cursor, limit: limit + 1 })
    const page = rows.slice(0, limit)
    const next = rows.length > limit ? (page.at(-1)?.id ?? null) : null
    return { status: 200, body: { data: page.map(toRun), next_cursor: next } }
  },

  getRun: async ({ params }, { sql }) => {
    const run = isUuid(params.run_id) ? await findRun(sql, params.run_id) : undefined
    if (!run) throw new UnknownRunError(`there is no run ${params.run_id.slice(0, 64)}`)
    return { status: 200, body: toRun(run) }
  },
}

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

async function endsWithin(done: Promise<unknown>, waitMs: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), waitMs)
  })
  try {
    return await Promise.race([done.then(() => true), over])
  } finally {
    clearTimeout(timer)
  }
}

/** Schedules and their runs: `/jobs` and `/runs`. */
export const jobsRoutes = operationRoutes<typeof operations, GatewayEnv, JobsContext>(
  operations,
  handlers,
  admit,
  '/jobs',
)
