import { formatInstant, type Micros, parseInstant } from '../../../shared/jobs/instant.ts'
import { type Interval, parseInterval } from '../../../shared/jobs/interval.ts'
import { type Ended, nextAfter, type Schedule, startAfter } from '../../../shared/jobs/schedule.ts'

type Job = {
  readonly schedule_interval: string
  readonly fixed_schedule: boolean
  readonly initial_start: string | null
  readonly timezone: string | null
  readonly retry_period: string
  readonly max_retries: number
}

type Next = { next_start?: string; next_start_min?: string; next_start_max?: string; scheduled?: boolean }

/** A case of `test/vectors/schedule.json`: the next start after a run, or a row of slots. */
export type ScheduleCase = { readonly id: string; readonly rows: readonly string[]; readonly title: string } & {
  readonly job: Job
} & (
    | {
        readonly kind: 'run'
        readonly history: readonly Ended['outcome'][]
        readonly finish: string
        readonly r?: number
        readonly own_next_start?: string
        readonly expected: Next
      }
    | { readonly kind: 'slots'; readonly from: string; readonly expected: { readonly slots: readonly string[] } }
  )

export function runCase(vector: ScheduleCase): { expected: unknown; got: unknown } {
  const schedule = scheduleOf(vector.job)
  if (vector.kind === 'slots') {
    const expected = vector.expected.slots.map(instant)
    let at = instant(vector.from)
    const slots = expected.map(() => {
      at = startAfter(schedule, at) ?? at
      return at
    })
    return { expected: expected.map(formatInstant), got: slots.map(formatInstant) }
  }
  const { expected } = vector
  const got = (r: number) => nextOf(vector, schedule, r)
  if (expected.next_start_min !== undefined && expected.next_start_max !== undefined) {
    return {
      expected: [expected.next_start_min, expected.next_start_max].map((text) => formatInstant(instant(text))),
      got: [got(31), got(0)],
    }
  }
  if (expected.scheduled !== undefined) return { expected: { scheduled: expected.scheduled }, got: got(16) }
  // Without an r the answer must be the same for the least and the greatest jitter.
  const draws = vector.r === undefined ? [0, 31] : [vector.r]
  const text = formatInstant(instant(expected.next_start ?? ''))
  return { expected: draws.map(() => text), got: draws.map(got) }
}

function nextOf(vector: ScheduleCase & { kind: 'run' }, schedule: Schedule, jitter: number): unknown {
  const { history } = vector
  const outcome = history.at(-1) ?? 'success'
  const sinceSuccess = history.slice(history.lastIndexOf('success') + 1)
  const next = nextAfter(
    schedule,
    { retryPeriod: interval(vector.job.retry_period), maxRetries: vector.job.max_retries },
    {
      outcome,
      inARow: sinceSuccess.filter((each) => each === outcome).length,
      finishedAt: instant(vector.finish),
      jitter,
      ...(vector.own_next_start !== undefined && { ownNextStart: instant(vector.own_next_start) }),
    },
  )
  if ('scheduled' in next) return next
  return next.nextStart === undefined ? 'never' : formatInstant(next.nextStart)
}

const scheduleOf = (job: Job): Schedule => ({
  kind: 'interval',
  interval: interval(job.schedule_interval),
  fixed: job.fixed_schedule,
  initialStart: job.initial_start === null ? null : instant(job.initial_start),
  timeZone: job.timezone,
})

function instant(text: string): Micros {
  const parsed = parseInstant(text)
  if (parsed === undefined) throw new Error(`not a time: ${text}`)
  return parsed
}

function interval(text: string): Interval {
  const parsed = parseInterval(text)
  if (!parsed) throw new Error(`not an interval: ${text}`)
  return parsed
}
