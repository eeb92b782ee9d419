import { type Alert, wantsAlert } from '../../shared/jobs/alert.ts'
import { longestRunMs, runtimeLimitMs } from '../../shared/jobs/claim.ts'
import {
  crashError,
  type FinishedRun,
  finish,
  type RunError,
  type RunOutcome,
  timeoutError,
} from '../../shared/jobs/finish.ts'
import { formatInstant, microsOf } from '../../shared/jobs/instant.ts'
import { intervalOf, isPoll, nameOf } from '../../shared/jobs/record.ts'
import type { Clock } from '../../shared/kernel/clock.ts'
import { AppError } from '../../shared/kernel/errors.ts'
import { remote, type Send } from '../../shared/kernel/http/send.ts'
import type { Sql } from '../../shared/kernel/sql/client.ts'
import { type ClaimedRun, finishRun } from '../../shared/store/job-runs.ts'
import { findJob, type JobRow } from '../../shared/store/jobs.ts'
import type { GatewayBindings } from '../gateway/env.ts'
import { RunTimeoutError, withDeadline } from './deadline.ts'
import { runPoll } from './run-poll.ts'
import { hangMs, runRoutine, sqlErrorOf } from './run-sql.ts'

const alertTimeoutMs = 5_000

/** What a run needs of the world. */
export type RunContext = {
  readonly env: GatewayBindings
  readonly sql: Sql
  readonly clock: Clock
  /** When the invocation began, by the same clock. */
  readonly invokedAtMs: number
  /** The most that a run gets here. */
  readonly mostMs?: number
  /** Sends to URLs of users: polls of the allow list, and alerts. */
  readonly outside?: Send
  /** Uniform in 0 ≤ x < 1, for the jitter of retries. */
  readonly random?: () => number
}

export type EndedRun = ClaimedRun & { readonly outcome: RunOutcome }

type Result = {
  readonly outcome: RunOutcome
  readonly error?: RunError
  readonly output?: unknown
  readonly pid?: number | undefined
}

/** Runs a job that was claimed, and ends the run. Throws only when the database does not take the end; the lease is over then some time later. */
export async function execute(context: RunContext, run: ClaimedRun): Promise<EndedRun> {
  const job = await findJob(context.sql, run.job_id)
  const result: Result = job
    ? await work(context, job, run)
    : { outcome: 'failed', error: { code: '42704', sqlState: '42704', message: `job ${run.job_id} not found` } }
  await end(context, run, result)
  return { ...run, outcome: result.outcome }
}

/** Ends a run whose process has died: a crash. */
export async function endLost(context: RunContext, run: ClaimedRun): Promise<EndedRun> {
  await end(context, run, { outcome: 'crashed', error: crashError })
  return { ...run, outcome: 'crashed' }
}

async function work(context: RunContext, job: JobRow, run: ClaimedRun): Promise<Result> {
  const { env, sql, clock, invokedAtMs, mostMs = longestRunMs, outside } = context
  const limitMs = runtimeLimitMs(intervalOf(job.max_runtime), Math.max(0, clock() - invokedAtMs), mostMs)
  // Measured apart from the context's clock, which may be ahead.
  const startedAt = Date.now()
  const runId = run.run_id
  let pid: number | undefined
  try {
    if (isPoll(job)) {
      const output = await withDeadline(limitMs, (signal) =>
        runPoll(env, sql, job, { runId, clock, signal, ...(outside && { outside }) }),
      )
      return { outcome: 'succeeded', output }
    }
    const onStart = (given: number) => {
      pid = given
    }
    const output = await withDeadline(limitMs + hangMs, () => runRoutine(sql, job, { runId, limitMs, onStart }))
    return { outcome: 'succeeded', output, pid }
  } catch (error) {
    const sqlError = isPoll(job) ? undefined : sqlErrorOf(error)
    const atLimit = sqlError?.sqlState === '57014' && Date.now() - startedAt >= limitMs - 50
    if (error instanceof RunTimeoutError || atLimit) {
      return { outcome: 'timed_out', error: timeoutError(job, limitMs), pid }
    }
    return { outcome: 'failed', error: sqlError ?? errorOf(error), pid }
  }
}

/** An error of ours as it is; of anything else only that it happened (its text may hold what nobody should see). */
function errorOf(error: unknown): RunError {
  if (error instanceof AppError) return { code: error.code.slice(error.code.indexOf('.') + 1), message: error.message }
  log({
    level: 'error',
    message: 'a run failed unexpectedly',
    error: error instanceof Error ? error.stack : String(error),
  })
  return { code: 'unexpected', message: 'internal error' }
}

async function end(context: RunContext, run: ClaimedRun, { outcome, error, output, pid }: Result): Promise<void> {
  const { sql, clock, random = Math.random } = context
  // The job as it is now: its schedule may have been changed, its next start set, or the job deleted during the run.
  const job = await findJob(sql, run.job_id)
  const finishedAt = microsOf(clock())
  const bySchedule = run.started_by === 'schedule'
  const finished = nextOf(job, { outcome, finishedAt, bySchedule }, Math.floor(random() * 32))
  const ended = await finishRun(sql, {
    runId: run.run_id,
    outcome,
    finishedAt: formatInstant(finishedAt),
    nextStart: finished.nextStart,
    switchOff: finished.switchOff,
    pid,
    sqlState: error?.sqlState,
    errorText: error?.text ?? error?.message,
    error: error && {
      code: error.code,
      message: error.message,
      ...(error.hint !== undefined && { hint: error.hint }),
    },
    output,
  })
  const { job_id: jobId, run_id: runId, attempt } = run
  log({
    level: outcome === 'succeeded' ? 'info' : 'warn',
    message: 'job run ended',
    jobId,
    runId,
    attempt,
    outcome,
    ended,
  })
  if (finished.switchOff) {
    const count = finished.failuresInARow
    log({ level: 'warn', message: `job ${jobId} reached max_retries after ${count} consecutive failures`, jobId })
  }
  const after = job?.alert_after_failures ?? 1
  if (job && ended && bySchedule && wantsAlert({ url: job.alert_url, after }, finished)) {
    await alert(context, job, run, { outcome, ...(error && { error }) }, finished)
  }
}

/** A schedule that cannot be followed (a zone that SQL has stored and nobody knows) parks its job instead of holding up all others. */
function nextOf(job: JobRow | undefined, run: Parameters<typeof finish>[1], jitter: number): FinishedRun {
  const parked = { nextStart: 'infinity', switchOff: false, failuresInARow: run.outcome === 'succeeded' ? 0 : 1 }
  if (!job) return parked
  try {
    return finish(job, run, jitter)
  } catch (error) {
    log({ level: 'error', message: 'a schedule cannot be followed', jobId: job.job_id, error: String(error) })
    return parked
  }
}

/** Posts the failure to the job's webhook. A receiver that is slow, away or says no changes nothing about the run. */
async function alert(
  { outside = remote() }: RunContext,
  job: JobRow,
  { run_id, attempt }: ClaimedRun,
  { outcome, error }: Result,
  { failuresInARow, switchOff }: FinishedRun,
): Promise<void> {
  const body: Alert = {
    type: 'job.failed',
    job: { id: job.job_id, name: nameOf(job) },
    run: { run_id, outcome, attempt, ...(error && { error: { code: error.code, message: error.message } }) },
    failures_in_a_row: failuresInARow,
    switched_off: switchOff,
  }
  try {
    const request = new Request(job.alert_url ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'tidegate-jobs' },
      body: JSON.stringify(body),
      redirect: 'manual',
    })
    const response = await withDeadline(alertTimeoutMs, () => outside(request))
    await response.body?.cancel()
    if (!response.ok)
      log({ level: 'warn', message: 'an alert was refused', jobId: job.job_id, status: response.status })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.name : 'unknown'
    log({ level: 'warn', message: 'an alert was not delivered', jobId: job.job_id, reason })
  }
}

const log = (line: Readonly<Record<string, unknown>>): void => console.log(JSON.stringify({ area: 'jobs', ...line }))
