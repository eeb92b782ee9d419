import { toTimestamp } from '../kernel/clock.ts'
import type { JobOutput, RunOutput } from './contract.ts'
import { type Micros, millisecondsOf } from './instant.ts'
import { formatInterval, type Interval, parseInterval, sameInterval } from './interval.ts'
import { formatRoutine } from './routine.ts'
import type { Schedule } from './schedule.ts'
import { pollRoutine } from './task.ts'

type Outcome = RunOutput['outcome']

/** A job as the registry keeps it: intervals "months days microseconds", times microseconds since 1970. */
export type StoredJob = {
  readonly job_id: number
  readonly application_name: string
  readonly name: string | null
  readonly proc_schema: string
  readonly proc_name: string
  readonly config: string | null
  readonly scheduled: boolean
  readonly fixed_schedule: boolean
  readonly schedule_interval: string
  readonly max_runtime: string
  readonly max_retries: number
  readonly retry_period: string
  readonly initial_start: string | null
  readonly timezone: string | null
  readonly owner: string
  readonly cron_expression: string | null
  readonly interval_texts: Readonly<Record<string, string>>
  readonly alert_url: string | null
  readonly alert_after_failures: number
  readonly owner_key_id: string | null
  readonly next_start: string | null
  readonly running: boolean
  readonly total_runs: string
  readonly total_successes: string
  readonly total_failures: string
  readonly total_crashes: string
  readonly last_run: {
    readonly run_id: string
    readonly outcome: Outcome
    readonly started_at: string
    readonly finished_at: string | null
  } | null
}

/** Reads "months days microseconds". */
export function intervalOf(parts: string): Interval {
  const [months = '0', days = '0', micros = '0'] = parts.split(' ')
  return { months: Number(months), days: Number(days), micros: BigInt(micros) }
}

export const scheduleOf = (
  job: Pick<StoredJob, 'cron_expression' | 'timezone' | 'schedule_interval' | 'fixed_schedule' | 'initial_start'>,
): Schedule =>
  job.cron_expression !== null
    ? { kind: 'cron', expression: job.cron_expression, timeZone: job.timezone }
    : {
        kind: 'interval',
        interval: intervalOf(job.schedule_interval),
        fixed: job.fixed_schedule,
        initialStart: job.initial_start === null ? null : BigInt(job.initial_start),
        timeZone: job.timezone,
      }

export const isPoll = (job: Pick<StoredJob, 'proc_schema' | 'proc_name'>): boolean =>
  job.proc_schema === pollRoutine.schema && job.proc_name === pollRoutine.name

const timestamp = (micros: string): string => toTimestamp(millisecondsOf(BigInt(micros) as Micros))

/** As it was written, while that still means the stored interval. */
function intervalText(parts: string, written: string | undefined): string {
  const stored = intervalOf(parts)
  const read = written === undefined ? undefined : parseInterval(written)
  return written !== undefined && read && sameInterval(read, stored) ? written : formatInterval(stored)
}

function scheduleText(job: StoredJob): JobOutput['schedule'] {
  if (job.cron_expression !== null) return job.cron_expression
  return {
    every: intervalText(job.schedule_interval, job.interval_texts.every),
    ...(job.fixed_schedule && { fixed: true }),
    ...(job.initial_start !== null && { start: timestamp(job.initial_start) }),
  }
}

/** JSON of a stored config, which the database has checked. */
const parsed = (config: string | null) => (config === null ? undefined : JSON.parse(config))

function taskOf(job: StoredJob): JobOutput['task'] {
  if (isPoll(job)) return { ...parsed(job.config), kind: 'poll' }
  return {
    kind: 'sql',
    routine: formatRoutine({ schema: job.proc_schema, name: job.proc_name }),
    ...(job.config !== null && { config: parsed(job.config) }),
  }
}

/** The name as it was given; of a job made in SQL it is the application's name without the id behind it. */
export const nameOf = (job: Pick<StoredJob, 'name' | 'application_name'>): string =>
  job.name ?? job.application_name.replace(/ \[\d+\]$/, '')

export const toJob = (job: StoredJob): JobOutput => ({
  id: job.job_id,
  name: nameOf(job),
  schedule: scheduleText(job),
  time_zone: job.timezone,
  task: taskOf(job),
  scheduled: job.scheduled,
  max_runtime: intervalText(job.max_runtime, job.interval_texts.max_runtime ?? '0'),
  max_retries: job.max_retries,
  retry_period: intervalText(job.retry_period, job.interval_texts.retry_period),
  alert: job.alert_url === null ? null : { url: job.alert_url, after_failures: job.alert_after_failures },
  kind: isPoll(job) ? 'poll' : 'sql',
  state: job.running ? 'running' : job.scheduled ? 'scheduled' : 'paused',
  next_start: job.scheduled && job.next_start !== null ? timestamp(job.next_start) : null,
  last_run: job.last_run && {
    run_id: job.last_run.run_id,
    outcome: job.last_run.outcome,
    started_at: timestamp(job.last_run.started_at),
    finished_at: job.last_run.finished_at && timestamp(job.last_run.finished_at),
  },
  totals: {
    runs: Number(job.total_runs),
    successes: Number(job.total_successes),
    failures: Number(job.total_failures),
    crashes: Number(job.total_crashes) - (job.running ? 1 : 0), // a run counts as crashed until it has ended
  },
  owner: job.owner_key_id ?? job.owner,
})

/** A run as the history keeps it; times microseconds since 1970. */
export type StoredRun = {
  readonly run_id: string
  readonly job_id: number
  readonly attempt: number
  readonly outcome: Outcome
  readonly due_at: string
  readonly started_at: string
  readonly finished_at: string | null
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string } | null
  readonly output: unknown
}

export const toRun = (run: StoredRun): RunOutput => ({
  run_id: run.run_id,
  job_id: run.job_id,
  attempt: run.attempt,
  outcome: run.outcome,
  due_at: timestamp(run.due_at),
  started_at: timestamp(run.started_at),
  finished_at: run.finished_at === null ? null : timestamp(run.finished_at),
  duration_ms: run.finished_at === null ? null : Number(BigInt(run.finished_at) - BigInt(run.started_at)) / 1_000,
  ...(run.error !== null && { error: run.error }),
  ...(run.output !== null && run.output !== undefined && { output: run.output }),
})
