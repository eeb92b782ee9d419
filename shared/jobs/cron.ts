import { Cron } from 'croner'
import { isTimeZone } from './zone.ts'

export type CronField = 'minute' | 'hour' | 'day_of_month' | 'month' | 'day_of_week'

/** What is wrong with a cron schedule: the first wrong field, what it takes, and the text that stands there. */
export type CronFault = {
  readonly field: CronField | 'expression' | 'time_zone'
  readonly expected: string
  readonly given: string
}

type FieldRule = {
  readonly field: CronField
  readonly low: number
  readonly high: number
  readonly names: readonly string[]
  readonly expected: string
}

const months = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ')
const weekdays = 'SUN MON TUE WED THU FRI SAT'.split(' ')

const fields: readonly FieldRule[] = [
  { field: 'minute', low: 0, high: 59, names: [], expected: '0-59, *, ranges, steps */n and lists' },
  { field: 'hour', low: 0, high: 23, names: [], expected: '0-23, *, ranges, steps */n and lists' },
  {
    field: 'day_of_month',
    low: 1,
    high: 31,
    names: [],
    expected: '1-31, *, ?, ranges, steps */n, L, nW, LW and lists',
  },
  { field: 'month', low: 1, high: 12, names: months, expected: '1-12 or JAN-DEC, *, ranges, steps */n and lists' },
  {
    field: 'day_of_week',
    low: 0,
    high: 7,
    names: weekdays,
    expected: '0-7 or SUN-SAT, *, ?, ranges, steps */n, d#k with k 1-5, dL and lists',
  },
]

const nicknames: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** Checks an expression of five fields (or a nickname) and its zone; null is UTC. Undefined: all is well. */
export function cronFault(expression: string, timeZone: string | null): CronFault | undefined {
  const parts = partsOf(expression)
  if (!parts) {
    return {
      field: 'expression',
      expected: 'five fields, or @hourly, @daily, @weekly, @monthly, @yearly',
      given: expression,
    }
  }
  for (const [index, rule] of fields.entries()) {
    const part = parts[index] ?? ''
    if (!normalField(part, rule)) return { field: rule.field, expected: rule.expected, given: part }
  }
  if (neverFires(parts)) {
    return { field: 'day_of_month', expected: 'a day that one of the chosen months has', given: parts[2] ?? '' }
  }
  if (timeZone !== null && !isTimeZone(timeZone)) {
    return { field: 'time_zone', expected: 'an IANA time zone, such as Europe/Berlin', given: timeZone }
  }
  return undefined
}

function partsOf(expression: string): string[] | undefined {
  const text = expression.replace(/^[ \t]+|[ \t]+$/g, '')
  const parts = (text.startsWith('@') ? (nicknames[text.toLowerCase()] ?? '') : text).split(/[ \t]+/)
  return parts.length === fields.length ? parts : undefined
}

/** The field with names as numbers and `?` as `*`, the way croner reads it without surprises; undefined: wrong. */
function normalField(part: string, rule: FieldRule): string | undefined {
  const isDayField = rule.field === 'day_of_month' || rule.field === 'day_of_week'
  if (part === '?' && isDayField) return '*'
  const items = part.split(',').map((item) => normalItem(item, rule))
  if (items.includes(undefined) || (items.includes('LW') && items.length > 1)) return undefined
  return items.join(',')
}

function normalItem(item: string, rule: FieldRule): string | undefined {
  const special = specialItem(item.toUpperCase(), rule)
  if (special !== undefined) return special
  const found = /^(?:\*|([0-9A-Za-z]+)(?:-([0-9A-Za-z]+))?)(?:\/(\d+))?$/.exec(item)
  if (!found) return undefined
  const [, first, last, step] = found
  if (step !== undefined) {
    // `a/n` means something else in every implementation.
    if (first !== undefined && last === undefined) return undefined
    if (Number(step) < 1 || Number(step) > rule.high) return undefined
  }
  if (first === undefined) return step === undefined ? '*' : `*/${Number(step)}`
  const low = valueIn(first, rule)
  if (low === undefined) return undefined
  if (last === undefined) return String(low)
  const named = valueIn(last, rule)
  const high = named === 0 && last.toUpperCase() === 'SUN' ? 7 : named
  if (high === undefined || low > high) return undefined
  return `${low}-${high}${step === undefined ? '' : `/${Number(step)}`}`
}

function specialItem(item: string, rule: FieldRule): string | undefined {
  if (rule.field === 'day_of_month') {
    if (item === 'L' || item === 'LW') return item
    const [, day] = /^(\d+)W$/.exec(item) ?? []
    const value = day === undefined ? undefined : valueIn(day, rule)
    return value === undefined ? undefined : `${value}W`
  }
  if (rule.field !== 'day_of_week') return undefined
  const [, day, suffix] = /^(\d+|[A-Z]{3})(L|#[1-5])$/.exec(item) ?? []
  const value = day === undefined ? undefined : valueIn(day, rule)
  return value === undefined ? undefined : `${value}${suffix}`
}

function valueIn(text: string, { low, high, names }: FieldRule): number | undefined {
  const index = names.indexOf(text.toUpperCase())
  if (index >= 0) return index + low
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return value >= low && value <= high ? value : undefined
}

/** Days a month has at most, from January. */
const longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Whether no chosen month has a chosen day. With a day of the week beside it, that one still fires. */
function neverFires(parts: readonly string[]): boolean {
  const [, , days = '', chosenMonths = '', weekday = ''] = parts
  if (!/^[*?]$/.test(weekday)) return false
  const earliest = Math.min(
    ...days.split(',').map((item) => {
      const [, first] = /^(\d+)/.exec(item) ?? []
      return first === undefined ? 1 : Number(first)
    }),
  )
  const most = Math.max(...monthsIn(chosenMonths).map((month) => longest[month - 1] ?? 0))
  return earliest > most
}

function monthsIn(part: string): number[] {
  const rule = fields[3] as FieldRule
  return (normalField(part, rule) ?? '').split(',').flatMap((item) => {
    const [, first = '1', last, step] = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(item) ?? []
    const high = item.startsWith('*') ? 12 : Number(last ?? first)
    return Array.from({ length: 12 }, (_, index) => index + 1).filter(
      (month) => month >= Number(first) && month <= high && (month - Number(first)) % Number(step ?? 1) === 0,
    )
  })
}

/**
 * The next `count` times at which a valid expression fires after an instant, in milliseconds since the epoch.
 * The start is exclusive. At clock changes the rule of Vixie cron holds: a job at fixed times that fall into a gap runs
 * at its end, and once in an overlap; one with `*` or a step in minute or hour follows elapsed time.
 */
export function nextFires(expression: string, timeZone: string | null, afterMs: number, count: number): number[] {
  const parts = partsOf(expression) ?? []
  const pattern = fields.map((rule, index) => normalField(parts[index] ?? '', rule) ?? '').join(' ')
  const cron = new Cron(pattern, {
    mode: '5-part',
    fixedTimeRule: 'no-wildcard',
    timezone: timeZone ?? 'UTC',
    paused: true,
  })
  return cron.nextRuns(count, new Date(afterMs)).map((date) => date.getTime())
}

export const nextFire = (expression: string, timeZone: string | null, afterMs: number): number | undefined =>
  nextFires(expression, timeZone, afterMs, 1)[0]
