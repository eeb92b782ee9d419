import { PGlite } from '@electric-sql/pglite'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatInterval, multiply, parseInterval, sameInterval } from '../../../shared/jobs/interval.ts'

let database: PGlite
beforeAll(async () => {
  database = await PGlite.create()
})
afterAll(() => database.close())

/** Months, days and microseconds as Postgres reads the text. */
async function inPostgres(text: string): Promise<string> {
  const { rows } = await database.query<{ parts: string }>(
    `select (extract(year from i) * 12 + extract(month from i))::int || ' ' || extract(day from i)::int || ' '
         || (extract(hour from i) * 3600000000 + extract(minute from i) * 60000000 + extract(microseconds from i))::bigint
            as parts
       from (select $1::text::interval as i) as x`,
    [text],
  )
  return rows[0]?.parts ?? ''
}

const shown = (text: string): string => {
  const interval = parseInterval(text)
  return interval ? `${interval.months} ${interval.days} ${interval.micros}` : 'refused'
}

const texts =
  `10 s|10s|1h30m|1 day 02:00:00|1.5 hours|2 days ago|PT10S|P1M|1-2|1.5 months|1.25 years|1.5 weeks|0.3 days|
1 month -1 day|@ 1 minute|10|1 10:00|01:30|1:2:3.5|-00:00:01|P1Y2M3DT4H5M6.7S|P1W|PT-5M|1 m|.5 s|3 decades|1 c|1.7 months|
0.1 years|25:00:00|P0.5D|P1.5M|1 us|0 s|1 week 3 days|PT1.5H|1 day 1:2:3 ago|100 msec|00:00:00.000001`
    .split('|')
    .map((text) => text.trim())

describe('parseInterval', () => {
  it.each(texts)('reads %j as Postgres does', async (text) => {
    expect(shown(text)).toBe(await inPostgres(text))
  })

  it.each([
    '',
    'P',
    '1 fortnight',
    '1e3 s',
    'infinity',
    '5 minutes 5 minutes',
    '00:60',
    'ten s',
    '100000000000 days',
    '1 2',
  ])('refuses %j', (text) => {
    expect(parseInterval(text)).toBeUndefined()
  })
})

const anInterval = fc.record({
  months: fc.integer({ min: -5_000, max: 5_000 }),
  days: fc.integer({ min: -5_000, max: 5_000 }),
  micros: fc.bigInt(-(10n ** 14n), 10n ** 14n),
})

describe('formatInterval', () => {
  it('gives a text that is read back as the same interval', () => {
    fc.assert(
      fc.property(anInterval, (interval) => {
        const back = parseInterval(formatInterval(interval))
        expect(back && sameInterval(back, interval)).toBe(true)
      }),
    )
  })

  it('gives a text that Postgres reads as the same interval', async () => {
    await fc.assert(
      fc.asyncProperty(anInterval, async (interval) => {
        const { months, days, micros } = interval
        expect(await inPostgres(formatInterval(interval))).toBe(`${months} ${days} ${micros}`)
      }),
    )
  })
})

describe('multiply', () => {
  it('turns what is left of months into days and of days into time', () => {
    expect(multiply({ months: 1, days: 1, micros: 0n }, 1n, 2n)).toEqual({
      months: 0,
      days: 15,
      micros: 43_200_000_000n,
    })
  })
})
