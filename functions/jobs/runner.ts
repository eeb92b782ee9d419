import { claimWindowMs, leaseGraceMs, longestRunMs, runsAtOnce } from '../../shared/jobs/claim.ts'
import { type Clock, toTimestamp } from '../../shared/kernel/clock.ts'
import type { Send } from '../../shared/kernel/http/send.ts'
import { createSql, DatabaseError, type Sql } from '../../shared/kernel/sql/client.ts'
import { type Claim, type ClaimedRun, claimDueJobs, claimJob, lostRuns } from '../../shared/store/job-runs.ts'
import type { GatewayBindings } from '../gateway/env.ts'
import { type EndedRun, endLost, execute, type RunContext } from './execute.ts'

/** A run by hand lives in the answer's invocation, which the platform ends 30 s after the answer. */
const afterAnswerMs = 25_000

export type RunnerOptions = {
  /** Sends to URLs of users instead of the network. */
  readonly outside?: Send
  readonly random?: () => number
}

/**
 * One tick: counts lost runs as crashed, then runs every job that is due now, once, up to four at a time. Jobs that
 * cannot be begun within the claim window wait for the next tick. At least once: a run whose end could not be stored
 * is found by its lease and the job runs again, with another run id.
 *
 * @param now a clock, or milliseconds since 1970: a clock that stands still
 */
export async function runDueJobs(
  env: GatewayBindings,
  now: Clock | number = Date.now,
  options: RunnerOptions = {},
): Promise<EndedRun[]> {
  const clock = typeof now === 'number' ? () => now : now
  const sql = createSql(env.DATABASE_URL)
  const invokedAtMs = clock()
  const context: RunContext = { env, sql, clock, invokedAtMs, ...options }
  const ended: EndedRun[] = []
  const lost = await lostRuns(sql, toTimestamp(invokedAtMs))
  for (const run of lost) ended.push(await endLost(context, run))
  const seen = lost.map((run) => run.job_id) // not again in this tick
  const active = new Set<Promise<void>>()
  const begin = async () => {
    for (const run of await nextRuns(context, runsAtOnce - active.size, seen)) {
      seen.push(run.job_id)
      const task: Promise<void> = execute(context, run)
        .then(
          (end) => void ended.push(end),
          (error: unknown) => logUnstored(run, error),
        )
        .finally(() => active.delete(task))
      active.add(task)
    }
  }
  try {
    for (await begin(); active.size > 0; await begin()) await Promise.race(active)
    return ended
  } finally {
    await Promise.all(active) // also when the database is gone: what runs is brought to its end
  }
}

async function nextRuns({ sql, clock, invokedAtMs }: RunContext, free: number, seen: readonly number[]) {
  if (free < 1 || clock() - invokedAtMs > claimWindowMs) return []
  const claim = claimAt(invokedAtMs, clock(), longestRunMs)
  return againstRaces(() => claimDueJobs(sql, claim, free, seen))
}

const claimAt = (dueAtMs: number, startedAtMs: number, longestMs: number): Claim => ({
  dueAt: toTimestamp(dueAtMs),
  startedAt: toTimestamp(startedAtMs),
  leaseOwner: crypto.randomUUID(),
  longestRun: `${longestMs} milliseconds`,
  grace: `${leaseGraceMs} milliseconds`,
})

/** Two claimers that take different jobs of one concurrency key meet on a unique index; the loser looks again. */
async function againstRaces<T>(claim: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await claim()
    } catch (error) {
      if (attempt === 3 || !isUniqueViolation(error)) throw error
    }
  }
}

const isUniqueViolation = (error: unknown): boolean => error instanceof DatabaseError && error.sqlstate === '23505'

/** The end of a run could not be stored: its lease will show. */
const logUnstored = ({ run_id: runId }: ClaimedRun, error: unknown): void =>
  console.error(
    JSON.stringify({ level: 'error', area: 'jobs', message: 'a run was not ended', runId, error: String(error) }),
  )

/** A run by hand that has begun; `done` never rejects. */
export type StartedRun = { readonly run: ClaimedRun; readonly done: Promise<EndedRun | undefined> }

/**
 * Starts one job now, due or not; undefined: it is not there or cannot start now. Its schedule is left alone. Such a run
 * gets at most `waitMs` and 25 s more, since nothing keeps its invocation alive longer.
 */
export async function startJob(
  env: GatewayBindings,
  jobId: number,
  waitMs: number,
  options: RunnerOptions = {},
): Promise<StartedRun | undefined> {
  const sql: Sql = createSql(env.DATABASE_URL)
  const nowMs = Date.now()
  const mostMs = waitMs + afterAnswerMs
  const run = await againstRaces(() => claimJob(sql, claimAt(nowMs, nowMs, mostMs), jobId))
  if (!run) return undefined
  const context: RunContext = { env, sql, clock: Date.now, invokedAtMs: nowMs, mostMs, ...options }
  const done = execute(context, run).catch((error: unknown) => {
    logUnstored(run, error)
    return undefined
  })
  return { run, done }
}
