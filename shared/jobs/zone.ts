import { floorDiv, type Micros } from './instant.ts'

/** A wall-clock reading: the microseconds since the epoch of a clock in UTC that shows the same digits. */
export type Local = bigint

const secondsPerDay = 86_400n
const micros = 1_000_000n

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', {
    timeZone: zone,
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  formats.set(zone, format)
  return format
}

/** Whether the text names an IANA zone. Offsets such as `+01:00`, which Intl takes too, are none. */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(text)) return false
  try {
    formatOf(text)
    return true
  } catch {
    return false
  }
}

/** Seconds that the zone's clocks are ahead of UTC at an instant. */
function offsetSeconds(instantSeconds: bigint, zone: string): bigint {
  const instant = Number(instantSeconds) * 1_000
  const part: Record<string, string> = {}
  for (const { type, value } of formatOf(zone).formatToParts(instant)) part[type] = value
  const year = Number(part.year)
  const local = new Date(0)
  local.setUTCFullYear(/^B/.test(part.era ?? '') ? 1 - year : year, Number(part.month) - 1, Number(part.day))
  local.setUTCHours(Number(part.hour), Number(part.minute), Number(part.second))
  return BigInt(local.getTime() - instant) / 1_000n
}

/** What a clock in the zone shows at an instant; null is UTC. */
export const toLocal = (instant: Micros, zone: string | null): Local =>
  zone === null ? instant : instant + offsetSeconds(floorDiv(instant, micros), zone) * micros

/**
 * The instant of a wall-clock reading as Postgres finds it: one that does not exist takes the offset before the change,
 * one that exists twice is the second (DetermineTimeZoneOffset in src/backend/utils/adt/datetime.c).
 */
export function fromLocal(local: Local, zone: string | null): Micros {
  if (zone === null) return local
  const seconds = floorDiv(local, micros)
  // No offset reaches a day, so these two instants lie on either side of the reading.
  const before = offsetSeconds(seconds - secondsPerDay, zone)
  const after = offsetSeconds(seconds + secondsPerDay, zone)
  if (before === after) return local - before * micros
  return offsetSeconds(seconds - after, zone) === after ? local - after * micros : local - before * micros
}

/** Days in a month of the Gregorian calendar; `month` from 0. */
const daysInMonth = (year: number, month: number): number => {
  const date = new Date(0)
  date.setUTCFullYear(year, month + 1, 0)
  return date.getUTCDate()
}

/** Adds months on the calendar; a day that the month lacks becomes its last. */
export function addMonths(local: Local, months: number): Local {
  if (months === 0) return local
  const dayMicros = secondsPerDay * micros
  const days = floorDiv(local, dayMicros)
  const date = new Date(Number(days) * 86_400_000)
  const index = date.getUTCFullYear() * 12 + date.getUTCMonth() + months
  const year = Math.floor(index / 12)
  const month = index - year * 12
  const moved = new Date(0)
  moved.setUTCFullYear(year, month, Math.min(date.getUTCDate(), daysInMonth(year, month)))
  return BigInt(moved.getTime() / 86_400_000) * dayMicros + (local - days * dayMicros)
}
