import { describe, expect, it } from 'vitest'
import { JobInput, operations } from '../../../shared/jobs/contract.ts'
import { formatInstant, parseInstant } from '../../../shared/jobs/instant.ts'
import { previewStarts, readJob, readSchedule } from '../../../shared/jobs/read-job.ts'
import { InvalidInputError, parse } from '../../../shared/kernel/contract/parse.ts'
import type { AppError } from '../../../shared/kernel/errors.ts'
import { toProblem } from '../../../shared/kernel/problem.ts'

const now = parseInstant('2026-01-05T00:00:30Z') as bigint
const options = { now, allowedHosts: ['api.example.com'] }
const poll = { kind: 'poll', upstream: 'gamma', path: '/markets', sink: { kind: 'documents' } }
const sql = { kind: 'sql', routine: 'public.my_job' }
const input = { name: 'a job', schedule: '*/5 * * * *', task: poll }

const read = (body: unknown) => readJob(parse(JobInput, body, 'body'), options)

function problemOf(work: () => unknown): { code: string; errors: { field: string }[] } {
  try {
    work()
  } catch (error) {
    return toProblem(error as AppError, 'r').body as { code: string; errors: { field: string }[] }
  }
  throw new Error('nothing was refused')
}

describe('readJob', () => {
  it('stores a cron job with its first start and the distance to the second', () => {
    const { job, firstStart } = read({ ...input, time_zone: 'Europe/Berlin' })
    expect(job).toMatchObject({
      procSchema: 'tidegate',
      procName: 'poll',
      cronExpression: '*/5 * * * *',
      timezone: 'Europe/Berlin',
      scheduleInterval: '5 minutes',
      retryPeriod: '5 minutes',
      maxRetries: -1,
      scheduled: true,
    })
    expect(firstStart).toBe('2026-01-05T00:05:00.000000Z')
  })

  it('starts a drifting interval at the next tick and a fixed one at its start', () => {
    expect(read({ ...input, schedule: { every: '10 s' } }).firstStart).toBeNull()
    const start = '2026-01-05T06:00:00Z'
    expect(read({ ...input, schedule: { every: '1 day', fixed: true, start } }).firstStart).toBe(
      '2026-01-05T06:00:00.000000Z',
    )
  })

  it('keeps null as a config apart from none', () => {
    expect(read({ ...input, task: { ...sql, config: null } }).job.config).toBe('null')
    expect(read({ ...input, task: sql }).job.config).toBeNull()
  })

  it.each([
    ['schedule.minute', { schedule: '60 * * * *' }],
    ['schedule.day_of_month', { schedule: '0 0 30 2 *' }],
    ['schedule', { schedule: '* * * *' }],
    ['schedule', { schedule: 5 }],
    ['time_zone', { time_zone: 'Europe/Berln' }],
    ['time_zone', { schedule: { every: '1 day' }, time_zone: '' }],
    ['schedule.every', { schedule: { every: '10 parsecs' } }],
    ['schedule.every', { schedule: { every: '0.5 s' } }],
    ['schedule.every', { schedule: { every: '-1 day' } }],
    ['schedule.every', { schedule: { every: '1 month 1 day', fixed: true } }],
    ['schedule.start', { schedule: { every: '1 day', start: '2026-01-05 00:00' } }],
    ['max_runtime', { max_runtime: 'soon' }],
    ['retry_period', { retry_period: '-5 minutes' }],
    ['max_retries', { max_retries: -2 }],
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(64) }],
    ['task.upstream', { task: { ...poll, upstream: 'nowhere' } }],
    ['task.upstream', { task: { kind: 'poll', path: '/x' } }],
    ['task.path', { task: { ...poll, path: undefined } }],
    ['task.path', { task: { ...poll, path: '//evil.example.com/' } }],
    ['task.upstream', { task: { ...poll, url: 'https://api.example.com/' } }],
    ['task.url', { task: { kind: 'poll', url: 'https://other.example.com/' } }],
    ['task.url', { task: { kind: 'poll', url: 'http://api.example.com/' } }],
    ['task.url', { task: { kind: 'poll', url: 'https://127.0.0.1/' } }],
    ['task.sink.key', { task: { ...poll, sink: { kind: 'documents', key: '$..id' } } }],
    ['task.pages.by', { task: { ...poll, pages: { by: 'magic' } } }],
    ['task.routine', { task: { kind: 'sql', routine: 'my_job' } }],
    ['task.routine', { task: { kind: 'sql', routine: 'tidegate.poll' } }],
    ['task.kind', { task: { kind: 'shell' } }],
    ['alert.url', { alert: { url: 'http://hooks.example.com/' } }],
  ])('names %s in %j', (field, change) => {
    const problem = problemOf(() => read({ ...input, ...change }))
    expect(problem.code).toBe('invalid_input')
    expect(problem.errors.map((error) => error.field)).toContain(field)
  })

  it.each([
    ['extra', { extra: 1 }],
    ['task.extra', { task: { ...sql, extra: 1 } }],
    ['task.sink.extra', { task: { ...poll, sink: { kind: 'documents', extra: 1 } } }],
    ['schedule.extra', { schedule: { every: '1 day', extra: 1 } }],
    ['alert.extra', { alert: { url: 'https://hooks.example.com/', extra: 1 } }],
  ])('refuses the unknown member %s as unknown_field', (field, change) => {
    const problem = problemOf(() => read({ ...input, ...change }))
    expect(problem.code).toBe('unknown_field')
    expect(problem.errors.map((error) => error.field)).toContain(field)
  })

  it.each([
    { kind: 'ticks', symbol: 's', price: 'p' },
    { kind: 'rows', table: 'public.t', key: ['id'] },
  ])('refuses the sink $kind as not supported', (sink) => {
    expect(problemOf(() => read({ ...input, task: { ...poll, sink } }))).toMatchObject({
      code: 'not_supported',
      errors: [{ field: 'task.sink.kind' }],
    })
  })

  it('takes a URL whose host is on the allow list', () => {
    expect(read({ ...input, task: { kind: 'poll', url: 'https://api.example.com/v1?x=1' } }).job.procName).toBe('poll')
  })
})

describe('previewStarts', () => {
  const preview = (schedule: Parameters<typeof readSchedule>[0], zone: string | null = null) =>
    previewStarts(readSchedule(schedule, zone), now, 3).map(formatInstant)

  it('of a cron schedule follows the zone', () => {
    expect(preview('0 9 * * 1-5', 'Europe/Berlin')).toEqual([
      '2026-01-05T08:00:00.000000Z',
      '2026-01-06T08:00:00.000000Z',
      '2026-01-07T08:00:00.000000Z',
    ])
  })

  it('of an interval begins with its start when that is ahead', () => {
    expect(preview({ every: '1 month', fixed: true, start: '2026-01-31T00:00:00Z' })).toEqual([
      '2026-01-31T00:00:00.000000Z',
      '2026-02-28T00:00:00.000000Z',
      '2026-03-31T00:00:00.000000Z',
    ])
    expect(preview({ every: '10 s' })[0]).toBe('2026-01-05T00:00:40.000000Z')
  })
})

describe('operations', () => {
  it('name a scope each', () => {
    expect(Object.values(operations).every(({ scope }) => scope === 'jobs:read' || scope === 'jobs:write')).toBe(true)
  })

  it('refuse a limit above 200', () => {
    const { query } = operations.getJobs
    expect(() => parse(query, { limit: '201' }, 'query')).toThrow(InvalidInputError)
    expect(parse(query, {}, 'query')).toMatchObject({ limit: 50 })
  })
})

describe('instants', () => {
  it.each([
    ['2026-01-05T00:00:00.1234567Z', '2026-01-05T00:00:00.123456Z'],
    ['2026-01-05t01:30:00+01:30', '2026-01-05T00:00:00.000000Z'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
  ])('are read from %s', (text, formatted) => {
    const instant = parseInstant(text)
    expect(instant !== undefined && formatInstant(instant)).toBe(formatted)
  })

  it('after the year 9999 are written as Postgres reads them', () => {
    expect(formatInstant(parseInstant('9999-12-31T23:59:59Z') as bigint)).toBe('9999-12-31T23:59:59.000000Z')
    expect(formatInstant((parseInstant('9999-12-31T23:59:59Z') as bigint) + 1_000_000n)).toBe(
      '10000-01-01T00:00:00.000000Z',
    )
  })

  it.each(['2026-02-30T00:00:00Z', '2026-01-05T00:00:00', '2026-01-05', '2026-01-05T25:00:00Z', 'now'])(
    'are not read from %s',
    (text) => {
      expect(parseInstant(text)).toBeUndefined()
    },
  )
})
