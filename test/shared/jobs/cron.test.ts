import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cronFault, nextFires } from '../../../shared/jobs/cron.ts'
import { type CronCase, runCase } from '../../support/vectors/cron.ts'

const cases = (
  JSON.parse(readFileSync(fileURLToPath(new URL('../../vectors/cron.json', import.meta.url).href), 'utf8')) as {
    cases: CronCase[]
  }
).cases

describe('vectors of cron.json', () => {
  it('are all there', () => {
    expect(cases).toHaveLength(235)
  })

  it.each(cases)('$id: $expression in $zone', (vector) => {
    const { expected, got } = runCase(vector)
    expect(got).toEqual(expected)
  })
})

describe('cronFault', () => {
  it.each([
    ['0 0 L-3 * *', 'day_of_month'],
    ['0 0 LW,1 * *', 'day_of_month'],
    ['0 0 W15 * *', 'day_of_month'],
    ['0 0 30W 2 *', 'day_of_month'],
    ['0 0 1,? * *', 'day_of_month'],
    ['? * * * *', 'minute'],
    ['*/60 * * * *', 'minute'],
    ['0x1 * * * *', 'minute'],
    ['* */24 * * *', 'hour'],
    ['0 0 1 */13 *', 'month'],
    ['0 0 * * 7-1', 'day_of_week'],
    ['0 0 * * */8', 'day_of_week'],
    ['0 0\n* * *', 'expression'],
    ['0 0 * *', 'expression'],
  ])('names the first wrong field of %j: %s', (expression, field) => {
    expect(cronFault(expression, null)?.field).toBe(field)
  })

  it('takes a day that no month has when a day of the week is chosen beside it', () => {
    expect(cronFault('0 0 30 2 1', null)).toBeUndefined()
  })

  it('refuses an offset in place of a zone', () => {
    expect(cronFault('* * * * *', '+01:00')).toMatchObject({ field: 'time_zone', given: '+01:00' })
  })

  it('shows what stands in the wrong field and what it takes', () => {
    expect(cronFault('0 25 * * *', null)).toEqual({
      field: 'hour',
      expected: '0-23, *, ranges, steps */n and lists',
      given: '25',
    })
  })
})

/** The slow version: every minute is held against every field. */
const matches = (item: string, value: number, low: number, high: number): boolean =>
  item.split(',').some((part) => {
    const [range = '', step = '1'] = part.split('/')
    const [first, last] = range === '*' ? [low, high] : range.split('-').map(Number)
    const end = last ?? first ?? low
    return value >= (first ?? low) && value <= end && (value - (first ?? low)) % Number(step) === 0
  })

const field = (low: number, high: number) =>
  fc.oneof(
    fc.constant('*'),
    fc.integer({ min: low, max: high }).map(String),
    fc.tuple(fc.integer({ min: low, max: high }), fc.integer({ min: low, max: high })).map(([a, b]) => {
      return `${Math.min(a, b)}-${Math.max(a, b)}`
    }),
    fc.integer({ min: 1, max: high }).map((step) => `*/${step}`),
    fc.tuple(fc.integer({ min: low, max: high }), fc.integer({ min: low, max: high })).map(([a, b]) => `${a},${b}`),
  )

describe('nextFires', () => {
  it('agrees in UTC with a search through every minute', () => {
    const expression = fc.tuple(field(0, 59), field(0, 23), field(1, 28), fc.constant('*'), field(0, 6))
    const start = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2030, 0, 1) })
    fc.assert(
      fc.property(expression, start, (fields, from) => {
        const [minute, hour, day, , weekday] = fields
        const [next = 0] = nextFires(fields.join(' '), null, from, 1)
        let at = Math.floor(from / 60_000) * 60_000
        for (let found = false; !found; ) {
          at += 60_000
          const date = new Date(at)
          const inDay = matches(day, date.getUTCDate(), 1, 31)
          const inWeek = matches(weekday, date.getUTCDay(), 0, 6)
          const onDay = day === '*' || weekday === '*' ? inDay && inWeek : inDay || inWeek
          if (!onDay && at % 86_400_000 === 0) at += 86_340_000
          else found = onDay && matches(hour, date.getUTCHours(), 0, 23) && matches(minute, date.getUTCMinutes(), 0, 59)
        }
        expect(new Date(next).toISOString()).toBe(new Date(at).toISOString())
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 100) },
    )
  })

  it('finds a day that comes once in 28 years', () => {
    const [next = 0] = nextFires('0 0 * 2 MON#5', null, Date.UTC(2026, 0, 1), 1)
    expect(new Date(next).toISOString()).toBe('2044-02-29T00:00:00.000Z')
  })
})
