import { nextFire } from './cron.ts'
import { floorDiv, type Micros, microsOf, millisecondsOf } from './instant.ts'
import { comparableMicros, type Interval, multiply } from './interval.ts'
import { addMonths, fromLocal, type Local, toLocal } from './zone.ts'

const microsPerDay = 86_400_000_000n
const fiveMinutes = 300_000_000n

/** When a job is due. Of a fixed interval the slots are counted from `initialStart`; a drifting one starts an interval after its last end. */
export type Schedule =
  | { readonly kind: 'cron'; readonly expression: string; readonly timeZone: string | null }
  | {
      readonly kind: 'interval'
      readonly interval: Interval
      readonly fixed: boolean
      readonly initialStart: Micros | null
      readonly timeZone: string | null
    }

/** The first start after an instant (exclusive) when every run succeeds at once; undefined: never again. */
export function startAfter(schedule: Schedule, instant: Micros): Micros | undefined {
  if (schedule.kind === 'cron') {
    const fire = nextFire(schedule.expression, schedule.timeZone, millisecondsOf(instant))
    return fire === undefined ? undefined : microsOf(fire)
  }
  const { interval, fixed, initialStart, timeZone } = schedule
  // The stored zone moves the slots of fixed schedules only.
  if (!fixed || initialStart === null) return addInterval(instant, interval, 1)
  return interval.months === 0
    ? slotAfter(instant, interval, initialStart, timeZone)
    : monthSlotAfter(instant, interval, initialStart, timeZone)
}

/** Months first, then days, then time, on a clock without changes. */
const addInterval = (local: Local, { months, days, micros }: Interval, times: number): Local =>
  addMonths(local, months * times) + (BigInt(days) * microsPerDay + micros) * BigInt(times)

function slotAfter(instant: Micros, interval: Interval, origin: Micros, zone: string | null): Micros {
  const width = BigInt(interval.days) * microsPerDay + interval.micros
  const start = toLocal(origin, zone)
  let slot = start + (floorDiv(toLocal(instant, zone) - start, width) + 1n) * width
  // A reading that does not exist, or exists twice, can be an instant that is past already.
  while (fromLocal(slot, zone) <= instant) slot += width
  return fromLocal(slot, zone)
}

/** Each slot is counted from the origin, not from the one before: 31 January, 28 February, 31 March. */
function monthSlotAfter(instant: Micros, interval: Interval, origin: Micros, zone: string | null): Micros {
  const start = toLocal(origin, zone)
  const slot = (times: number): Micros => fromLocal(addInterval(start, interval, times), zone)
  let times = Math.floor(Number(toLocal(instant, zone) - start) / Number(comparableMicros(interval)))
  while (slot(times) <= instant) times += 1
  while (slot(times - 1) > instant) times -= 1
  return slot(times)
}

export type RetryRule = {
  readonly retryPeriod: Interval
  /** The job is switched off when this many runs in a row have failed; below 0: never. */
  readonly maxRetries: number
}

export type Ended = {
  readonly outcome: 'success' | 'failure' | 'crash'
  /** Runs that ended like this one since the last success, with it; 0 after a success. */
  readonly inARow: number
  readonly finishedAt: Micros
  /** Uniform in 0 to 31, for the jitter of a retry. */
  readonly jitter: number
  /** The start that the job itself, or somebody else, has set during the run; it is kept. */
  readonly ownNextStart?: Micros
}

/** `nextStart` undefined: never again (a schedule without a further slot). */
export type Next = { readonly nextStart: Micros | undefined } | { readonly scheduled: false }

/**
 * When a job starts next after a run has ended. A failed run is tried again after
 * min(retry_period × min(n, 20), 5 × schedule_interval), with a jitter of -12 to +12.5 percent; fixed schedules and cron
 * do not wait past their next slot; a crash waits at least five minutes
 * (timescale/timescaledb, src/bgw/job_stat.c, calculate_next_start_on_failure).
 */
export function nextAfter(schedule: Schedule, { retryPeriod, maxRetries }: RetryRule, ended: Ended): Next {
  const { outcome, inARow, finishedAt, jitter, ownNextStart } = ended
  if (outcome === 'failure' && maxRetries >= 0 && inARow >= maxRetries) return { scheduled: false }
  if (ownNextStart !== undefined) return { nextStart: ownNextStart }
  const regular = startAfter(schedule, finishedAt)
  if (outcome === 'success') return { nextStart: regular }
  const wait = multiply(waitOf(schedule, retryPeriod, inARow), BigInt(128 + 16 - jitter), 128n)
  const retry = addInterval(finishedAt, wait, 1)
  const bySlot = schedule.kind === 'cron' || schedule.fixed ? least(retry, regular) : retry
  if (outcome === 'failure') return { nextStart: bySlot }
  const earliest = finishedAt + fiveMinutes
  return { nextStart: bySlot < earliest ? earliest : bySlot }
}

function waitOf(schedule: Schedule, retryPeriod: Interval, inARow: number): Interval {
  const wait = multiply(retryPeriod, BigInt(Math.min(inARow, 20)))
  if (schedule.kind === 'cron') return wait // its next slot is the limit
  const limit = multiply(schedule.interval, 5n)
  return comparableMicros(limit) < comparableMicros(wait) ? limit : wait
}

const least = (left: Micros, right: Micros | undefined): Micros => (right === undefined || left < right ? left : right)
