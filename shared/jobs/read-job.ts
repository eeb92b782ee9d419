import { InvalidInputError } from '../kernel/contract/parse.ts'
import type { FieldError } from '../kernel/errors.ts'
import { pollUrlFault } from './allowed-url.ts'
import type { JobInput, ScheduleInput } from './contract.ts'
import { cronFault, nextFires } from './cron.ts'
import { NotSupportedError } from './errors.ts'
import { formatInstant, type Micros, microsOf, millisecondsOf, parseInstant } from './instant.ts'
import { comparableMicros, formatInterval, type Interval, parseInterval } from './interval.ts'
import { parseRoutine } from './routine.ts'
import { type Schedule, startAfter } from './schedule.ts'
import { pollRoutine, type Task } from './task.ts'
import { isTimeZone } from './zone.ts'

const second = 1_000_000n
/** Postgres keeps dates up to the year 294276; nobody waits that long. */
const longestInterval = 1_000n * 366n * 86_400n * second

const invalid = (field: string, expected: string, given: unknown): InvalidInputError =>
  new InvalidInputError('body', [{ field, expected, given: short(given) } satisfies FieldError], ['custom'])

const short = (given: unknown): string => {
  const text = JSON.stringify(given) ?? 'nothing'
  return text.length > 200 ? `a text of ${text.length} characters` : text
}

/** Reads an interval of a job; a wrong one is refused with the name of the field. */
function readInterval(text: string, field: string, least: bigint, expected: string): Interval {
  const interval = parseInterval(text)
  const length = interval === undefined ? undefined : comparableMicros(interval)
  const { months = 0, days = 0, micros = 0n } = interval ?? {}
  if (
    !interval ||
    length === undefined ||
    length < least ||
    length > longestInterval ||
    months < 0 ||
    days < 0 ||
    micros < 0n
  ) {
    throw invalid(field, expected, text)
  }
  return interval
}

/**
 * Checks a schedule as it was given.
 *
 * @throws {InvalidInputError} names the wrong part: `schedule.minute`, `schedule.every`, `time_zone`, …
 */
export function readSchedule(input: ScheduleInput, timeZone: string | null): Schedule {
  if (typeof input === 'string') {
    const fault = cronFault(input, timeZone)
    if (!fault) return { kind: 'cron', expression: input, timeZone }
    const field =
      fault.field === 'time_zone' ? 'time_zone' : fault.field === 'expression' ? 'schedule' : `schedule.${fault.field}`
    throw invalid(field, fault.expected, fault.given)
  }
  const interval = readInterval(input.every, 'schedule.every', second, 'an interval of at least 1 s, such as 10 s')
  const fixed = input.fixed ?? false
  if (fixed && interval.months > 0 && (interval.days > 0 || interval.micros > 0n)) {
    throw invalid('schedule.every', 'months alone, or days and time alone, for a fixed schedule', input.every)
  }
  if (timeZone !== null && !isTimeZone(timeZone)) {
    throw invalid('time_zone', 'an IANA time zone, such as Europe/Berlin', timeZone)
  }
  const initialStart = input.start === undefined ? null : (parseInstant(input.start) ?? null)
  return { kind: 'interval', interval, fixed, initialStart, timeZone }
}

/** The next starts after an instant (exclusive) if each run ends at once; an interval's own first start counts. */
export function previewStarts(schedule: Schedule, from: Micros, count: number): Micros[] {
  if (schedule.kind === 'cron') {
    return nextFires(schedule.expression, schedule.timeZone, millisecondsOf(from), count).map(microsOf)
  }
  // Without a start the first run would be at `from`, which is where fixed slots are counted from then.
  const anchored = schedule.initialStart === null && schedule.fixed ? { ...schedule, initialStart: from } : schedule
  const starts: Micros[] = []
  const first = anchored.initialStart
  let at = from
  if (first !== null && first > from) {
    starts.push(first)
    at = first
  }
  while (starts.length < count) {
    const next = startAfter(anchored, at)
    if (next === undefined) break
    starts.push(next)
    at = next
  }
  return starts
}

/** A job as it is stored; intervals and times as text for the database. */
export type ReadJob = {
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

/**
 * Turns the input of a job into what is stored, and its first start (null: at the next tick).
 *
 * @throws {InvalidInputError} a member is wrong; it is named
 * @throws {NotSupportedError} the sink is one that polls cannot fill yet
 */
export function readJob(
  input: JobInput,
  { now, allowedHosts }: { now: Micros; allowedHosts: readonly string[] },
): { job: ReadJob; firstStart: string | null } {
  const timeZone = input.time_zone ?? null
  const schedule = readSchedule(input.schedule, timeZone)
  const maxRuntime = readInterval(input.max_runtime ?? '0', 'max_runtime', 0n, 'an interval, such as 10 minutes, or 0')
  const retryPeriod = readInterval(
    input.retry_period ?? '5 minutes',
    'retry_period',
    0n,
    'an interval, such as 5 minutes',
  )
  const { interval, initialStart, firstStart } = startsOf(schedule, now)
  const job = {
    name: input.name,
    ...readTask(input.task, allowedHosts),
    scheduled: input.scheduled ?? true,
    fixedSchedule: schedule.kind === 'cron' || schedule.fixed,
    scheduleInterval: formatInterval(interval),
    maxRuntime: formatInterval(maxRuntime),
    maxRetries: input.max_retries ?? -1,
    retryPeriod: formatInterval(retryPeriod),
    initialStart: initialStart === null ? null : formatInstant(initialStart),
    timezone: timeZone,
    cronExpression: schedule.kind === 'cron' ? schedule.expression : null,
    intervalTexts: {
      ...(typeof input.schedule === 'object' && { every: input.schedule.every }),
      ...(input.max_runtime !== undefined && { max_runtime: input.max_runtime }),
      ...(input.retry_period !== undefined && { retry_period: input.retry_period }),
    },
    alertUrl: input.alert?.url ?? null,
    alertAfterFailures: input.alert?.after_failures ?? 1,
  }
  return { job, firstStart: firstStart === null ? null : formatInstant(firstStart) }
}

function startsOf(
  schedule: Schedule,
  now: Micros,
): { interval: Interval; initialStart: Micros | null; firstStart: Micros | null } {
  if (schedule.kind === 'interval') {
    // A fixed schedule without a start counts from now, and starts now.
    const initialStart = schedule.initialStart ?? (schedule.fixed ? now : null)
    return { interval: schedule.interval, initialStart, firstStart: initialStart }
  }
  const [first = now, second = first + 60_000_000n] = previewStarts(schedule, now, 2)
  // The registry wants an interval of every job; that of a cron job is the distance of its next two starts.
  return { interval: { months: 0, days: 0, micros: second - first }, initialStart: first, firstStart: first }
}

function readTask(
  task: Task,
  allowedHosts: readonly string[],
): { procSchema: string; procName: string; config: string | null } {
  if (task.kind === 'sql') {
    const routine = parseRoutine(task.routine)
    if (!routine) throw invalid('task.routine', 'a routine with its schema', task.routine)
    if (routine.schema === pollRoutine.schema && routine.name === pollRoutine.name) {
      throw invalid('task.routine', 'a routine of yours; a poll is the kind poll', task.routine)
    }
    const config = task.config === undefined ? null : JSON.stringify(task.config)
    return { procSchema: routine.schema, procName: routine.name, config }
  }
  if (task.sink.kind !== 'documents') {
    throw new NotSupportedError({
      field: 'task.sink.kind',
      expected: 'documents (ticks and rows are not supported yet)',
      given: JSON.stringify(task.sink.kind),
    })
  }
  const fault = task.url === undefined ? undefined : pollUrlFault(task.url, allowedHosts)
  if (fault !== undefined) throw invalid('task.url', fault, task.url)
  return { procSchema: pollRoutine.schema, procName: pollRoutine.name, config: JSON.stringify(task) }
}
