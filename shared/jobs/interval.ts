/** A Postgres interval: three parts that do not convert into each other (a month has no fixed days, a day no fixed hours). */
export type Interval = { readonly months: number; readonly days: number; readonly micros: bigint }

const microsPerSecond = 1_000_000n
const microsPerDay = 86_400n * microsPerSecond
const maxInt = 2_147_483_647n

type Unit = { readonly kind: 'months' | 'days' | 'micros'; readonly size: bigint }

const unitTable: readonly (readonly [Unit, string])[] = [
  [{ kind: 'micros', size: 1n }, 'us usec usecs usecond useconds microsecond microseconds'],
  [{ kind: 'micros', size: 1_000n }, 'ms msec msecs msecond mseconds millisecond milliseconds'],
  [{ kind: 'micros', size: microsPerSecond }, 's sec secs second seconds'],
  [{ kind: 'micros', size: 60n * microsPerSecond }, 'm min mins minute minutes'],
  [{ kind: 'micros', size: 3_600n * microsPerSecond }, 'h hr hrs hour hours'],
  [{ kind: 'days', size: 1n }, 'd day days'],
  [{ kind: 'days', size: 7n }, 'w week weeks'],
  [{ kind: 'months', size: 1n }, 'mon mons month months'],
  [{ kind: 'months', size: 12n }, 'y yr yrs year years'],
  [{ kind: 'months', size: 120n }, 'dec decs decade decades'],
  [{ kind: 'months', size: 1_200n }, 'c cent century centuries'],
  [{ kind: 'months', size: 12_000n }, 'mil mils millennium millennia'],
]
const units = new Map(unitTable.flatMap(([unit, words]) => words.split(' ').map((word) => [word, unit] as const)))

type Parts = { months: bigint; days: bigint; micros: bigint }

/**
 * Reads an interval as Postgres does (documentation, section 8.5.4): `10 s`, `1 day 02:00:00`, `1.5 hours`, `2 days ago`,
 * `PT10S`, `P1M`, `1-2`. Undefined when the text is none, is infinite or out of range.
 */
export function parseInterval(text: string): Interval | undefined {
  const trimmed = text.trim().toLowerCase()
  if (trimmed === '' || trimmed.length > 200) return undefined
  const parts: Parts = { months: 0n, days: 0n, micros: 0n }
  if (!(trimmed.startsWith('p') ? readIso(trimmed, parts) : readWords(trimmed, parts))) return undefined
  const { months, days, micros } = parts
  const inRange = abs(months) <= maxInt && abs(days) <= maxInt && abs(micros) < 2n ** 63n
  return inRange ? { months: Number(months), days: Number(days), micros } : undefined
}

const token =
  /\s*(?:([+-]?)(\d+):(\d{1,2})(?::(\d{1,2}(?:\.\d{0,9})?))?|([+-]?)(\d+)-(\d{1,2})|([+-]?(?:\d+\.?\d{0,18}|\.\d{1,18}))\s*([a-z]+)?)(?=\s|[+-]|\d|$)/y

function readWords(text: string, parts: Parts): boolean {
  const ago = /\sago$/.test(text)
  const body = text.replace(/^@\s*/, '').replace(/\s+ago$/, '')
  if (body === '') return false
  const seen = new Set<string>()
  token.lastIndex = 0
  while (token.lastIndex < body.length) {
    const found = token.exec(body)
    if (!found) return false
    const [, timeSign, hours, minutes, seconds, yearSign, years, months, number, word] = found
    if (hours !== undefined && minutes !== undefined) {
      if (Number(minutes) > 59 || Number(seconds ?? 0) > 60 || !once(seen, 'time')) return false
      const sign = timeSign === '-' ? -1n : 1n
      const time = BigInt(hours) * 3_600n * microsPerSecond + BigInt(minutes) * 60n * microsPerSecond
      parts.micros += sign * (time + scaled(seconds ?? '0', microsPerSecond))
    } else if (years !== undefined && months !== undefined) {
      if (Number(months) > 11 || !once(seen, 'year-month')) return false
      parts.months += (yearSign === '-' ? -1n : 1n) * (BigInt(years) * 12n + BigInt(months))
    } else if (number !== undefined) {
      // A number without a unit is seconds, and only at the end (a "1" before a time of day would be days).
      const last = token.lastIndex >= body.length
      const unit = word !== undefined ? units.get(word) : last ? units.get('s') : isTime(body.slice(token.lastIndex))
      if (!unit || !once(seen, `${unit.kind}${unit.size}`)) return false
      add(parts, number, unit)
    }
  }
  if (ago) Object.assign(parts, { months: -parts.months, days: -parts.days, micros: -parts.micros })
  return true
}

const isTime = (rest: string): Unit | undefined => (/^\s*[+-]?\d+:/.test(rest) ? units.get('d') : undefined)

const once = (seen: Set<string>, what: string): boolean => !seen.has(what) && seen.add(what) !== undefined

const isoDate: Readonly<Record<string, string>> = { y: 'y', m: 'mon', w: 'w', d: 'd' }

function readIso(text: string, parts: Parts): boolean {
  const found = /^p((?:[+-]?\d+(?:\.\d{1,18})?[ymwd])*)(?:t((?:[+-]?\d+(?:\.\d{1,18})?[hms])+))?$/.exec(text)
  if (!found || text === 'p') return false
  const [, date = '', time = ''] = found
  if (date === '' && time === '') return false
  for (const [, number = '', letter = ''] of date.matchAll(/([+-]?[\d.]+)([ymwd])/g)) {
    add(parts, number, units.get(isoDate[letter] ?? '') as Unit)
  }
  for (const [, number = '', letter = ''] of time.matchAll(/([+-]?[\d.]+)([hms])/g)) {
    add(parts, number, units.get(letter) as Unit)
  }
  return true
}

/** Adds a decimal number of a unit; a fraction cascades downwards: months of 30 days, days of 24 hours. */
function add(parts: Parts, number: string, { kind, size }: Unit): void {
  if (kind === 'micros') {
    parts.micros += scaled(number, size)
    return
  }
  const whole = BigInt(/^[+-]?\d+/.exec(number)?.[0] ?? 0)
  const fraction = `${number.startsWith('-') ? '-' : ''}0${/\.\d+/.exec(number)?.[0] ?? ''}`
  if (kind === 'months' && size > 1n) {
    parts.months += whole * size + scaled(fraction, size)
    return
  }
  if (kind === 'months') parts.months += whole
  else parts.days += whole * size
  const micros = scaled(fraction, (kind === 'months' ? 30n : size) * microsPerDay)
  parts.days += micros / microsPerDay
  parts.micros += micros % microsPerDay
}

/** A decimal number times an integer, rounded to the nearest integer. */
function scaled(number: string, factor: bigint): bigint {
  const [, sign, whole = '', fraction = ''] = /^([+-]?)(\d*)\.?(\d*)$/.exec(number) ?? []
  const scale = 10n ** BigInt(fraction.length)
  const value = (BigInt(`${whole}${fraction}` || '0') * factor * 2n + scale) / (2n * scale)
  return sign === '-' ? -value : value
}

const abs = (value: bigint): bigint => (value < 0n ? -value : value)

/** The length when a month has 30 days and a day 24 hours: how Postgres compares intervals. */
export const comparableMicros = ({ months, days, micros }: Interval): bigint =>
  (BigInt(months) * 30n + BigInt(days)) * microsPerDay + micros

export const sameInterval = (left: Interval, right: Interval): boolean =>
  left.months === right.months && left.days === right.days && left.micros === right.micros

/** Interval times a fraction as Postgres multiplies: what is left of a month becomes days of it, what is left of a day time. */
export function multiply({ months, days, micros }: Interval, numerator: bigint, denominator = 1n): Interval {
  const monthTotal = BigInt(months) * numerator
  const dayTotal = BigInt(days) * numerator + (monthTotal % denominator) * 30n
  const wholeDays = dayTotal / denominator
  const restMicros = ((dayTotal % denominator) * microsPerDay) / denominator
  return {
    months: Number(monthTotal / denominator),
    days: Number(wholeDays),
    micros: (micros * numerator) / denominator + restMicros,
  }
}

const plural = (count: number | bigint, unit: string): string =>
  `${count} ${unit}${abs(BigInt(count)) === 1n ? '' : 's'}`

/** Text that Postgres and {@link parseInterval} read back as the same interval: `1 month 2 days 3 hours`, `10 seconds`. */
export function formatInterval({ months, days, micros }: Interval): string {
  const years = Math.trunc(months / 12)
  const hours = micros / (3_600n * microsPerSecond)
  const minutes = (micros / (60n * microsPerSecond)) % 60n
  const rest = micros % (60n * microsPerSecond)
  const words = [
    ...(years !== 0 ? [plural(years, 'year')] : []),
    ...(months % 12 !== 0 ? [plural(months % 12, 'month')] : []),
    ...(days !== 0 ? [plural(days, 'day')] : []),
    ...(hours !== 0n ? [plural(hours, 'hour')] : []),
    ...(minutes !== 0n ? [plural(minutes, 'minute')] : []),
  ]
  if (rest !== 0n || words.length === 0) {
    const fraction = abs(rest % microsPerSecond)
    const decimals = fraction === 0n ? '' : `.${String(fraction).padStart(6, '0').replace(/0+$/, '')}`
    const sign = rest < 0n ? '-' : ''
    const seconds = `${sign}${abs(rest / microsPerSecond)}${decimals}`
    words.push(`${seconds} ${seconds === '1' || seconds === '-1' ? 'second' : 'seconds'}`)
  }
  return words.join(' ')
}
