import type { Sql } from '../kernel/sql/client.ts'

/** A registered job with its statistics. Intervals are "months days microseconds", times microseconds since 1970 (null: none, or infinite). */
export type JobRow = {
  readonly job_id: number
  readonly application_name: string
  readonly name: string | null
  readonly proc_schema: string
  readonly proc_name: string
  /** JSON text; null is SQL NULL. */
  readonly config: string | null
  readonly scheduled: boolean
  readonly fixed_schedule: boolean
  readonly schedule_interval: string
  readonly max_runtime: string
  readonly max_retries: number
  readonly retry_period: string
  readonly initial_start: string | null
  readonly timezone: string | null
  /** The database role that owns the job. */
  readonly owner: string
  readonly cron_expression: string | null
  readonly interval_texts: Readonly<Record<string, string>>
  readonly alert_url: string | null
  readonly alert_after_failures: number
  readonly owner_key_id: string | null
  readonly next_start: string | null
  /** No start is set: a job that never ran, or one that runs now. */
  readonly start_unset: boolean
  readonly running: boolean
  readonly total_runs: string
  readonly total_successes: string
  readonly total_failures: string
  readonly total_crashes: string
  readonly consecutive_failures: number
  readonly consecutive_crashes: number
  readonly last_run: LastRun | null
}

export type LastRun = {
  readonly run_id: string
  readonly outcome: Outcome
  readonly started_at: string
  readonly finished_at: string | null
}

export type Outcome = 'running' | 'succeeded' | 'failed' | 'crashed' | 'timed_out'

const jobColumns = `
  j.job_id, j.application_name, o.name, j.proc_schema::text, j.proc_name::text, j.config::text as config, j.scheduled,
  j.fixed_schedule, timeseries_internal.interval_parts(j.schedule_interval) as schedule_interval,
  timeseries_internal.interval_parts(j.max_runtime) as max_runtime, j.max_retries,
  timeseries_internal.interval_parts(j.retry_period) as retry_period,
  timeseries_internal.epoch_micros(j.initial_start) as initial_start, j.timezone,
  pg_get_userbyid(j.owner::oid)::text as owner, o.cron_expression, coalesce(o.interval_texts, '{}') as interval_texts,
  o.alert_url, coalesce(o.alert_after_failures, 1) as alert_after_failures, o.owner_key_id,
  timeseries_internal.epoch_micros(s.next_start) as next_start,
  coalesce(s.next_start, '-infinity') = '-infinity' as start_unset, s.run_id is not null as running,
  coalesce(s.total_runs, 0)::text as total_runs, coalesce(s.total_successes, 0)::text as total_successes,
  coalesce(s.total_failures, 0)::text as total_failures, coalesce(s.total_crashes, 0)::text as total_crashes,
  coalesce(s.consecutive_failures, 0) as consecutive_failures, coalesce(s.consecutive_crashes, 0) as consecutive_crashes,
  l.last_run`

const jobTables = `
  timeseries_internal.jobs j
  left join timeseries_internal.job_stats s on s.job_id = j.job_id
  left join tidegate.job_options o on o.job_id = j.job_id
  left join lateral (
    select jsonb_build_object('run_id', h.run_id, 'outcome', h.outcome,
                              'started_at', timeseries_internal.epoch_micros(h.start_time),
                              'finished_at', timeseries_internal.epoch_micros(h.finish_time)) as last_run
      from timeseries_internal.job_history h
     where h.job_id = j.job_id
     order by h.id desc
     limit 1
  ) l on true`

/** The first id that `add_job` gives; below are jobs of the system. */
const firstUserJob = 1000

export async function findJobs(sql: Sql, ids: readonly number[]): Promise<JobRow[]> {
  if (ids.length === 0) return []
  return sql.query<JobRow>(`select ${jobColumns} from ${jobTables} where j.job_id = any ($1::integer[])`, [
    `{${ids.join(',')}}`,
  ])
}

export const findJob = async (sql: Sql, id: number): Promise<JobRow | undefined> => (await findJobs(sql, [id]))[0]

export type JobFilter = {
  /** Part of the name, in any case. */
  readonly q: string | undefined
  readonly state: 'scheduled' | 'running' | 'paused' | undefined
  readonly kind: 'sql' | 'poll' | undefined
  /** Jobs with a greater id. */
  readonly after: number
  readonly limit: number
}

/** Jobs of users by id. */
export const listJobs = (sql: Sql, { q, state, kind, after, limit }: JobFilter): Promise<JobRow[]> =>
  sql.query<JobRow>(
    `select ${jobColumns}
       from ${jobTables}
      where j.job_id > $1::integer and j.job_id >= ${firstUserJob}
        and ($2::text is null or strpos(lower(coalesce(o.name, j.application_name)), lower($2::text)) > 0)
        and ($3::text is null or $3::text = case when s.run_id is not null then 'running'
                                                 when j.scheduled then 'scheduled' else 'paused' end)
        and ($4::text is null or $4::text = case when (j.proc_schema, j.proc_name) = ('tidegate', 'poll') then 'poll'
                                                 else 'sql' end)
      order by j.job_id
      limit $5::integer`,
    [after, q ?? null, state ?? null, kind ?? null, limit],
    { retry: true },
  )

/** The stored members of a job; intervals as Postgres text, times as RFC 3339, `config` as JSON text. */
export type JobValues = {
  readonly name: string
  readonly procSchema: string
  readonly procName: string
  readonly config: string | null
  readonly scheduled: boolean
  readonly fixedSchedule: boolean
  readonly scheduleInterval: string
  readonly maxRuntime: string
  readonly maxRetries: number
  readonly retryPeriod: string
  readonly initialStart: string | null
  readonly timezone: string | null
  readonly cronExpression: string | null
  readonly intervalTexts: Readonly<Record<string, string>>
  readonly alertUrl: string | null
  readonly alertAfterFailures: number
}

/** Postgres refuses an application name of more than 63 bytes, and ` [2147483647]` takes 13. */
const applicationName = (name: string): string => {
  let short = name
  while (new TextEncoder().encode(short).length > 50) short = Array.from(short).slice(0, -1).join('')
  return short
}

const valuesOf = (job: JobValues): unknown[] => [
  applicationName(job.name),
  job.scheduleInterval,
  job.maxRuntime,
  job.maxRetries,
  job.retryPeriod,
  job.procSchema,
  job.procName,
  job.scheduled,
  job.fixedSchedule,
  job.initialStart,
  job.timezone,
  job.config,
  job.name,
  job.cronExpression,
  JSON.stringify(job.intervalTexts),
  job.alertUrl,
  job.alertAfterFailures,
]

/** Registers a job that starts first at `nextStart` (RFC 3339; null: at the next tick). */
export async function insertJob(
  sql: Sql,
  job: JobValues,
  ownerKeyId: string,
  nextStart: string | null,
): Promise<number> {
  const rows = await sql.query<{ job_id: number }>(
    `with new as (
       select nextval('timeseries_internal.job_id_seq')::integer as job_id
     ), job as (
       insert into timeseries_internal.jobs
         (job_id, application_name, schedule_interval, max_runtime, max_retries, retry_period, proc_schema, proc_name,
          scheduled, fixed_schedule, initial_start, timezone, config)
       select job_id, $1::text || ' [' || job_id || ']', $2::interval, $3::interval, $4::integer, $5::interval, $6::name,
              $7::name, $8::boolean, $9::boolean, $10::timestamptz, $11::text, $12::jsonb
         from new
     ), options as (
       insert into tidegate.job_options
         (job_id, name, cron_expression, interval_texts, alert_url, alert_after_failures, owner_key_id)
       select job_id, $13::text, $14::text, $15::jsonb, $16::text, $17::integer, $18::text
         from new
     ), stats as (
       insert into timeseries_internal.job_stats (job_id, next_start)
       select job_id, $19::timestamptz
         from new
        where $19::timestamptz is not null
     )
     select job_id from new`,
    [...valuesOf(job), ownerKeyId, nextStart],
  )
  return (rows[0] as { job_id: number }).job_id
}

/**
 * Replaces the members of a job. `nextStart`: RFC 3339, or undefined to keep it. While the job runs its next start is
 * found when the run ends, by the new schedule. Answers whether the job is there.
 */
export async function updateJob(sql: Sql, id: number, job: JobValues, nextStart: string | undefined): Promise<boolean> {
  const rows = await sql.query(
    `with job as (
       update timeseries_internal.jobs
          set application_name = $1::text || ' [' || job_id || ']', schedule_interval = $2::interval,
              max_runtime = $3::interval, max_retries = $4::integer, retry_period = $5::interval, proc_schema = $6::name,
              proc_name = $7::name, scheduled = $8::boolean, fixed_schedule = $9::boolean,
              initial_start = $10::timestamptz, timezone = $11::text, config = $12::jsonb
        where job_id = $18::integer
       returning job_id
     ), options as (
       insert into tidegate.job_options as o
         (job_id, name, cron_expression, interval_texts, alert_url, alert_after_failures)
       select job_id, $13::text, $14::text, $15::jsonb, $16::text, $17::integer
         from job
       on conflict (job_id) do update
          set name = excluded.name, cron_expression = excluded.cron_expression, interval_texts = excluded.interval_texts,
              alert_url = excluded.alert_url, alert_after_failures = excluded.alert_after_failures
     ), stats as (
       insert into timeseries_internal.job_stats as s (job_id, next_start)
       select job_id, $19::timestamptz
         from job
        where $19::timestamptz is not null
       on conflict (job_id) do update set next_start = excluded.next_start where s.run_id is null
     )
     select job_id from job`,
    [...valuesOf(job), id, nextStart ?? null],
  )
  return rows.length > 0
}

/** Switches automatic runs on or off. On: failures are counted anew, and a `nextStart` (RFC 3339) replaces one that has passed. */
export async function setScheduled(sql: Sql, id: number, scheduled: boolean, nextStart?: string): Promise<boolean> {
  const rows = await sql.query(
    `with job as (
       update timeseries_internal.jobs set scheduled = $2::boolean where job_id = $1::integer returning job_id
     ), stats as (
       update timeseries_internal.job_stats s
          set consecutive_failures = case when $2::boolean then 0 else s.consecutive_failures end,
              next_start = case when s.run_id is null then coalesce($3::timestamptz, s.next_start) else s.next_start end
         from job
        where s.job_id = job.job_id
     )
     select job_id from job`,
    [id, scheduled, nextStart ?? null],
  )
  return rows.length > 0
}

/** Deletes a job; its history stays. Answers whether it was there. */
export async function deleteJob(sql: Sql, id: number): Promise<boolean> {
  const rows = await sql.query(
    `delete from timeseries_internal.jobs where job_id = $1::integer and job_id >= ${firstUserJob} returning job_id`,
    [id],
  )
  return rows.length > 0
}

/**
 * What stands in the way of calling a routine as (integer, jsonb): it does not exist, or this role may not execute it.
 * Postgres itself looks it up, so defaults and overloads count as in a call.
 */
export async function routineFault(sql: Sql, schema: string, name: string): Promise<'missing' | 'denied' | undefined> {
  const [row] = await sql.query<{ found: boolean; allowed: boolean | null }>(
    `select p.oid is not null as found,
            has_function_privilege(p.oid, 'execute') and has_schema_privilege(p.pronamespace, 'usage') as allowed
       from (values (1)) as one
       left join lateral (
         select p.oid, p.pronamespace
           from pg_proc p
           join pg_namespace n on n.oid = p.pronamespace
          where n.nspname = $1::text and p.proname = $2::text and p.prokind in ('f', 'p') and p.provariadic = 0
            and p.pronargs >= 2 and p.pronargs - p.pronargdefaults <= 2
            and p.proargtypes[0] = 'integer'::regtype and p.proargtypes[1] = 'jsonb'::regtype
          order by p.pronargs
          limit 1
       ) p on true`,
    [schema, name],
  )
  if (!row?.found) return 'missing'
  return row.allowed ? undefined : 'denied'
}
