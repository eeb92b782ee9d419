import { formatInstant, type Micros } from './instant.ts'
import { intervalOf, type StoredJob, scheduleOf } from './record.ts'
import { nextAfter, startAfter } from './schedule.ts'

export type RunOutcome = 'succeeded' | 'failed' | 'crashed' | 'timed_out'

/** Why a run failed: what the history and the run's own record say. */
export type RunError = {
  readonly code: string
  readonly message: string
  readonly hint?: string
  /** The SQLSTATE when the database refused. */
  readonly sqlState?: string
  /** Message, detail and hint in one text; the message alone without it. */
  readonly text?: string
}

export const crashError: RunError = {
  code: 'crashed',
  message: 'job crash detected, see server logs',
  sqlState: 'XX000',
}

/** A run that was ended at its limit. The text is that of the original for a worker that was ended. */
export const timeoutError = (job: Pick<StoredJob, 'job_id' | 'application_name'>, limitMs: number): RunError => ({
  code: 'timed_out',
  message: `the run was ended after ${limitMs / 1_000} s`,
  hint: 'Raise max_runtime (a run takes 14 minutes at most), or let each run do less.',
  sqlState: 'XX000',
  text: `failed to execute job Job ${job.job_id} ("${job.application_name}") failed to execute.`,
})

/** Message, detail and hint joined the way the views show them. */
export const joinError = (parts: readonly (string | undefined)[]): string =>
  parts.flatMap((part) => (part ? [part.replace(/\.$/, '')] : [])).join('. ')

type Counted = StoredJob & { readonly consecutive_failures: number; readonly consecutive_crashes: number }

export type FinishedRun = {
  /** RFC 3339, or `infinity`. */
  readonly nextStart: string
  readonly switchOff: boolean
  /** Runs in a row that did not succeed, with this one; 0 after a success. */
  readonly failuresInARow: number
}

/**
 * What a run's end means for its job, read just before (with the counters as the claim left them: the running one counts
 * as a crash until now).
 *
 * @param jitter uniform in 0 to 31
 */
export function finish(
  job: Counted,
  run: { readonly outcome: RunOutcome; readonly finishedAt: Micros; readonly bySchedule: boolean },
  jitter: number,
): FinishedRun {
  const schedule = scheduleOf(job)
  const { finishedAt, outcome, bySchedule } = run
  const crashes = job.consecutive_crashes - (bySchedule && outcome !== 'crashed' ? 1 : 0)
  const failures = job.consecutive_failures + (outcome === 'crashed' ? 0 : 1)
  const next = nextAfter(
    schedule,
    { retryPeriod: intervalOf(job.retry_period), maxRetries: job.max_retries },
    {
      outcome: outcome === 'succeeded' ? 'success' : outcome === 'crashed' ? 'crash' : 'failure',
      inARow: outcome === 'succeeded' ? 0 : outcome === 'crashed' ? Math.max(1, crashes) : failures,
      finishedAt,
      jitter,
      ...(job.next_start !== null && bySchedule && { ownNextStart: BigInt(job.next_start) }),
    },
  )
  const switchOff = bySchedule && 'scheduled' in next
  const start = 'scheduled' in next ? startAfter(schedule, finishedAt) : next.nextStart
  return {
    nextStart: start === undefined ? 'infinity' : formatInstant(start),
    switchOff,
    failuresInARow: outcome === 'succeeded' ? 0 : failures + Math.max(0, crashes),
  }
}
