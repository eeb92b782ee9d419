import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatInstant, parseInstant } from '../../../shared/jobs/instant.ts'
import { nextAfter, type Schedule, startAfter } from '../../../shared/jobs/schedule.ts'
import { runCase, type ScheduleCase } from '../../support/vectors/schedule.ts'

const cases = (
  JSON.parse(readFileSync(fileURLToPath(new URL('../../vectors/schedule.json', import.meta.url).href), 'utf8')) as {
    cases: ScheduleCase[]
  }
).cases

describe('vectors of schedule.json', () => {
  it('are all there', () => {
    expect(cases).toHaveLength(64)
  })

  it.each(cases)('$id: $title', (vector) => {
    const { expected, got } = runCase(vector)
    expect(got).toEqual(expected)
  })
})

const at = (text: string) => parseInstant(text) as bigint
const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/Sao_Paulo', null]

describe('startAfter', () => {
  it('is always later, and no slot lies between', () => {
    const schedule = fc.record({
      kind: fc.constant('interval' as const),
      interval: fc.oneof(
        fc.record({
          months: fc.constant(0),
          days: fc.integer({ min: 0, max: 9 }),
          micros: fc.bigInt(1_000_000n, 90_000_000_000n),
        }),
        fc.record({ months: fc.integer({ min: 1, max: 14 }), days: fc.constant(0), micros: fc.constant(0n) }),
      ),
      fixed: fc.constant(true),
      initialStart: fc.bigInt(0n, 2_000_000_000_000_000n),
      timeZone: fc.constantFrom(...zones),
    })
    fc.assert(
      fc.property(schedule, fc.bigInt(0n, 2_000_000_000_000_000n), (each: Schedule, instant) => {
        const next = startAfter(each, instant) as bigint
        expect(next).toBeGreaterThan(instant)
        expect(startAfter(each, next - 1n)).toBe(next)
        expect(startAfter(each, (instant + next - 1n) / 2n)).toBe(next)
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
    )
  })

  it('of a cron schedule is in its zone', () => {
    const schedule: Schedule = { kind: 'cron', expression: '30 2 * * *', timeZone: 'Europe/Berlin' }
    const next = startAfter(schedule, at('2026-03-29T00:00:00Z')) as bigint
    expect(formatInstant(next)).toBe('2026-03-29T01:00:00.000000Z')
  })
})

describe('nextAfter', () => {
  const cron: Schedule = { kind: 'cron', expression: '*/10 * * * *', timeZone: null }
  const rule = { retryPeriod: { months: 0, days: 0, micros: 60_000_000n }, maxRetries: -1 }

  it('tries a failed cron job again before its next slot, but not after it', () => {
    const ended = { outcome: 'failure', jitter: 16 } as const
    expect(nextAfter(cron, rule, { ...ended, inARow: 2, finishedAt: at('2026-01-05T00:01:00Z') })).toEqual({
      nextStart: at('2026-01-05T00:03:00Z'),
    })
    expect(nextAfter(cron, rule, { ...ended, inARow: 20, finishedAt: at('2026-01-05T00:01:00Z') })).toEqual({
      nextStart: at('2026-01-05T00:10:00Z'),
    })
  })

  it('switches a job off at max_retries, also when it has set its own next start', () => {
    const ended = { outcome: 'failure', jitter: 0, inARow: 3, finishedAt: 0n, ownNextStart: 5n } as const
    expect(nextAfter(cron, { ...rule, maxRetries: 3 }, ended)).toEqual({ scheduled: false })
  })
})
