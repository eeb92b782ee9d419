import type { JobInput, JobPatch } from './contract.ts'
import { formatInstant, type Micros, millisecondsOf } from './instant.ts'
import { parseInterval } from './interval.ts'
import { type ReadJob, readJob } from './read-job.ts'
import { type StoredJob, scheduleOf, toJob } from './record.ts'
import { startAfter } from './schedule.ts'

type Patchable = StoredJob & { readonly start_unset: boolean }

/**
 * A stored job with some members replaced. `nextStart` (RFC 3339) is undefined where the next start stays: only a new
 * schedule moves it, and switching on a job whose next start has passed.
 *
 * @throws as {@link readJob}
 */
export function patchJob(
  stored: Patchable,
  patch: JobPatch,
  options: { now: Micros; allowedHosts: readonly string[] },
): { job: ReadJob; nextStart: string | undefined } {
  const current = toJob(stored)
  const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
  const merged = {
    ...current,
    alert: current.alert ?? undefined,
    ...given,
    // Only its schedule is read then; what is stored goes back as it is.
    task: patch.task ?? { kind: 'sql', routine: 'public.kept' },
  } as JobInput
  const { job: read } = readJob(merged, options)
  const reschedules = patch.schedule !== undefined || patch.time_zone !== undefined
  const job: ReadJob = {
    ...read,
    ...(patch.task === undefined && {
      procSchema: stored.proc_schema,
      procName: stored.proc_name,
      config: stored.config,
    }),
    // The wire form has milliseconds, the origin of the slots may have more.
    ...(patch.schedule === undefined && {
      initialStart: stored.initial_start === null ? null : formatInstant(BigInt(stored.initial_start)),
    }),
  }
  const rescheduled = reschedules ? newStart(stored, job, options.now) : undefined
  const resumed = patch.scheduled === true && !stored.scheduled ? startOnResume(stored, options.now) : undefined
  return { job, nextStart: rescheduled ?? resumed }
}

/** The next start by a new schedule: a first start still ahead, else the next slot, else an interval after the last end. */
function newStart(stored: Patchable, job: ReadJob, now: Micros): string | undefined {
  const initial = job.initialStart === null ? null : BigInt(Date.parse(job.initialStart)) * 1_000n
  if (initial !== null && initial >= now) return formatInstant(initial)
  const { cronExpression: expression, timezone: timeZone } = job
  const lastEnd = stored.last_run?.finished_at ?? null
  const schedule =
    expression !== null
      ? ({ kind: 'cron', expression, timeZone } as const)
      : scheduleOf({
          cron_expression: null,
          timezone: timeZone,
          schedule_interval: partsOf(job.scheduleInterval),
          fixed_schedule: job.fixedSchedule,
          initial_start: initial === null ? null : String(initial),
        })
  const from = schedule.kind === 'interval' && !schedule.fixed ? lastEnd : String(now)
  if (from === null) return undefined // never ran, drifting: it keeps the start it has
  const start = startAfter(schedule, BigInt(from))
  return start === undefined ? undefined : formatInstant(start)
}

function partsOf(text: string): string {
  const interval = parseInterval(text)
  return interval ? `${interval.months} ${interval.days} ${interval.micros}` : '0 0 0'
}

/** A paused job skips what it has missed: when its next start has passed, it waits for the next slot. */
export function startOnResume(stored: Patchable, now: Micros): string | undefined {
  if (
    stored.start_unset ||
    stored.next_start === null ||
    millisecondsOf(BigInt(stored.next_start)) >= millisecondsOf(now)
  ) {
    return undefined
  }
  const schedule = scheduleOf(stored)
  if (schedule.kind === 'interval' && !schedule.fixed) return undefined // due since then: at once
  const start = startAfter(schedule, now)
  return start === undefined ? undefined : formatInstant(start)
}
