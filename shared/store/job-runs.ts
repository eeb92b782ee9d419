import type { Sql } from '../kernel/sql/client.ts'
import type { Outcome } from './jobs.ts'

/** A run that was started by a claim. */
export type ClaimedRun = {
  readonly run_id: string
  readonly job_id: number
  readonly attempt: number
  readonly started_by: 'schedule' | 'request'
}

export type Claim = {
  /** Jobs that are due at this time; RFC 3339. */
  readonly dueAt: string
  /** When the runs start; RFC 3339. */
  readonly startedAt: string
  readonly leaseOwner: string
  /** Lease of a run without a limit of its own, and the most for any; Postgres interval text. */
  readonly longestRun: string
  /** How long after its limit a run that is not finished counts as lost. */
  readonly grace: string
}

/**
 * One statement claims and starts. Two claimers never get the same job: `skip locked` keeps them apart, and the update
 * of job_stats looks at the row as it is then, not as it was when the statement began; so a claimer that was late by a
 * whole run gets nothing. The crash counters are raised here and taken back at the end, so a process that dies leaves
 * them. A run that was asked for leaves the schedule alone.
 */
const claimStatement = (wanted: string, isDue: string): string => `
  with candidate as (
    select j.job_id, j.proc_schema, j.proc_name, j.owner, j.config, j.max_runtime, o.concurrency_key, s.next_start,
           r.requested_at, ${isDue} as due
      from timeseries_internal.jobs j
      left join timeseries_internal.job_stats s on s.job_id = j.job_id
      left join tidegate.job_options o on o.job_id = j.job_id
      left join tidegate.job_requests r on r.job_id = j.job_id
     where ${wanted}
       and s.run_id is null
       and not exists (select from timeseries_internal.settings where name = 'restoring' and value = 'on')
       and not exists (select from timeseries_internal.job_history h
                        where h.concurrency_key = o.concurrency_key and h.finish_time is null)
     order by coalesce(s.next_start, '-infinity'), j.job_id
     limit $2::integer
       for update of j skip locked
  ), picked as (
    select c.*, row_number() over (
             partition by c.concurrency_key, case when c.concurrency_key is null then c.job_id end
                 order by c.next_start nulls first, c.job_id) as place
      from candidate c
  ), claimed as (
    insert into timeseries_internal.job_stats as s
      (job_id, run_id, last_start, total_runs, total_crashes, consecutive_crashes)
    select job_id, gen_random_uuid(), $6::timestamptz, 1, 1, due::integer
      from picked
     where place = 1
    on conflict (job_id) do update
       set run_id = excluded.run_id,
           last_start = excluded.last_start,
           next_start = case when excluded.consecutive_crashes = 1 then '-infinity' else s.next_start end,
           total_runs = s.total_runs + 1,
           total_crashes = s.total_crashes + 1,
           consecutive_crashes = s.consecutive_crashes + excluded.consecutive_crashes
     where s.run_id is null and (excluded.consecutive_crashes = 0 or s.next_start <= $1::timestamptz)
    returning job_id, run_id, consecutive_failures, consecutive_crashes
  ), started as (
    insert into timeseries_internal.job_history
      (job_id, run_id, started_by, attempt, due_at, start_time, lease_owner, lease_expires_at, concurrency_key,
       proc_schema, proc_name, owner, config)
    select p.job_id, c.run_id, case when p.due then 'schedule' else 'request' end,
           case when p.due then c.consecutive_failures + c.consecutive_crashes else 1 end,
           case when p.due and isfinite(p.next_start) then p.next_start
                when p.due then $1::timestamptz else coalesce(p.requested_at, $1::timestamptz) end,
           $6::timestamptz, $3::text,
           $6::timestamptz + $5::interval + case when p.max_runtime > interval '0'
                                                 then least(p.max_runtime, $4::interval) else $4::interval end,
           p.concurrency_key, p.proc_schema, p.proc_name, p.owner, p.config
      from claimed c
      join picked p using (job_id)
    returning run_id, job_id, attempt, started_by
  ), taken as (
    delete from tidegate.job_requests r using claimed where r.job_id = claimed.job_id
  )
  select run_id, job_id, attempt, started_by from started`

const dueJobs = claimStatement(
  `((j.scheduled and coalesce(s.next_start, '-infinity') <= $1::timestamptz) or r.job_id is not null)
       and j.job_id <> all ($7::integer[])`,
  `(j.scheduled and coalesce(s.next_start, '-infinity') <= $1::timestamptz)`,
)
const oneJob = claimStatement('j.job_id = $7::integer', 'false')

const claimValues = (claim: Claim, limit: number): unknown[] => [
  claim.dueAt,
  limit,
  claim.leaseOwner,
  claim.longestRun,
  claim.grace,
  claim.startedAt,
]

/** Claims and starts up to `limit` jobs that are due or asked for, but none of `except`; the longest overdue first. */
export const claimDueJobs = (sql: Sql, claim: Claim, limit: number, except: readonly number[]): Promise<ClaimedRun[]> =>
  sql.query<ClaimedRun>(dueJobs, [...claimValues(claim, limit), `{${except.join(',')}}`])

/** Claims and starts one job, due or not; undefined: it is not there, runs already, or jobs are held back. */
export const claimJob = async (sql: Sql, claim: Claim, id: number): Promise<ClaimedRun | undefined> =>
  (await sql.query<ClaimedRun>(oneJob, [...claimValues(claim, 1), id]))[0]

export type RunEnd = {
  readonly runId: string
  readonly outcome: Exclude<Outcome, 'running'>
  /** RFC 3339. */
  readonly finishedAt: string
  /** RFC 3339 or `infinity`; used unless somebody has set another start during the run. */
  readonly nextStart: string
  /** The job is switched off. */
  readonly switchOff: boolean
  readonly pid: number | undefined
  readonly sqlState: string | undefined
  /** Message, detail and hint in one text, as the views show it. */
  readonly errorText: string | undefined
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string } | undefined
  readonly output: unknown
}

const finishStatement = `
  with run as (
    update timeseries_internal.job_history
       set outcome = $2::text, succeeded = $2::text = 'succeeded', finish_time = greatest($3::timestamptz, start_time),
           pid = $6::integer, sqlerrcode = $7::text, err_message = $8::text, error = $9::jsonb, output = $10::jsonb,
           logged = $2::text <> 'succeeded'
                    or coalesce(lower(current_setting('timeseries.enable_job_execution_logging', true)), '')
                       in ('on', 'true', 'yes', '1')
     where run_id = $1::uuid and finish_time is null
    returning job_id, started_by, start_time, finish_time, succeeded
  ), stats as (
    update timeseries_internal.job_stats s
       set run_id = null,
           last_finish = run.finish_time,
           last_successful_finish = case when run.succeeded then run.finish_time else s.last_successful_finish end,
           last_run_success = run.succeeded,
           total_duration = s.total_duration + (run.finish_time - run.start_time),
           total_duration_failures = s.total_duration_failures
                                     + case when run.succeeded then interval '0' else run.finish_time - run.start_time end,
           total_successes = s.total_successes + run.succeeded::integer,
           total_failures = s.total_failures + ($2::text in ('failed', 'timed_out'))::integer,
           total_crashes = s.total_crashes - ($2::text <> 'crashed')::integer,
           consecutive_failures = case when run.started_by = 'request' then s.consecutive_failures
                                       when run.succeeded then 0
                                       else s.consecutive_failures + ($2::text <> 'crashed')::integer end,
           consecutive_crashes = case when run.started_by = 'request' then s.consecutive_crashes
                                      when run.succeeded then 0
                                      else s.consecutive_crashes - ($2::text <> 'crashed')::integer end,
           next_start = case when run.started_by = 'schedule' and s.next_start = '-infinity' then $4::timestamptz
                             else s.next_start end
      from run
     where s.job_id = run.job_id and s.run_id = $1::uuid
  ), job as (
    update timeseries_internal.jobs j
       set scheduled = false
      from run
     where j.job_id = run.job_id and $5::boolean
  )
  select job_id from run`

/** Ends a run. False: it had ended before (its lease was over and somebody counted it as lost). */
export async function finishRun(sql: Sql, end: RunEnd): Promise<boolean> {
  const rows = await sql.query(
    finishStatement,
    [
      end.runId,
      end.outcome,
      end.finishedAt,
      end.nextStart,
      end.switchOff,
      end.pid ?? null,
      end.sqlState ?? null,
      end.errorText ?? null,
      end.error === undefined ? null : JSON.stringify(end.error),
      end.output === undefined ? null : JSON.stringify(end.output),
    ],
    { retry: true },
  ) // safe: a run ends once
  return rows.length > 0
}

/** Runs whose lease is over: what ran them has died. */
export const lostRuns = (sql: Sql, now: string): Promise<ClaimedRun[]> =>
  sql.query<ClaimedRun>(
    `select run_id, job_id, attempt, started_by
       from timeseries_internal.job_history
      where finish_time is null and lease_expires_at < $1::timestamptz
      order by id
      limit 100`,
    [now],
  )

/** A run; times in microseconds since 1970. */
export type RunRow = {
  readonly id: string
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

const runColumns = `id::text as id, run_id, job_id, attempt, outcome, timeseries_internal.epoch_micros(due_at) as due_at,
  timeseries_internal.epoch_micros(start_time) as started_at, timeseries_internal.epoch_micros(finish_time) as finished_at,
  error, output`

export const findRun = async (sql: Sql, runId: string): Promise<RunRow | undefined> =>
  (
    await sql.query<RunRow>(
      `select ${runColumns} from timeseries_internal.job_history where run_id = $1::uuid`,
      [runId],
      { retry: true },
    )
  )[0]

/** Runs of a job, the newest first; `before`: those older than this id. */
export const listRuns = (
  sql: Sql,
  jobId: number,
  { outcome, before, limit }: { outcome: Outcome | undefined; before: string | undefined; limit: number },
): Promise<RunRow[]> =>
  sql.query<RunRow>(
    `select ${runColumns}
       from timeseries_internal.job_history
      where job_id = $1::integer and ($2::text is null or outcome = $2::text)
        and ($3::bigint is null or id < $3::bigint)
      order by job_history.id desc
      limit $4::integer`,
    [jobId, outcome ?? null, before ?? null, limit],
    { retry: true },
  )
