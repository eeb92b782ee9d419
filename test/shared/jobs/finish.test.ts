import { describe, expect, it } from 'vitest'
import { runtimeLimitMs } from '../../../shared/jobs/claim.ts'
import { finish, joinError } from '../../../shared/jobs/finish.ts'
import { parseInstant } from '../../../shared/jobs/instant.ts'
import { patchJob, startOnResume } from '../../../shared/jobs/patch-job.ts'
import { toJob } from '../../../shared/jobs/record.ts'

const at = (text: string) => parseInstant(text) as bigint
const noon = at('2026-01-05T12:00:00Z')

/** A stored job of a fixed interval of ten minutes from midnight, running. */
const stored = {
  job_id: 1000,
  application_name: 'test [1000]',
  name: 'test',
  proc_schema: 'public',
  proc_name: 'my_job',
  config: '{"id": 1}',
  scheduled: true,
  fixed_schedule: true,
  schedule_interval: '0 0 600000000',
  max_runtime: '0 0 0',
  max_retries: -1,
  retry_period: '0 0 60000000',
  initial_start: String(at('2026-01-05T00:00:00.000001Z')),
  timezone: null,
  owner: 'postgres',
  cron_expression: null,
  interval_texts: { every: '10 min' },
  alert_url: null,
  alert_after_failures: 1,
  owner_key_id: null,
  next_start: null,
  start_unset: true,
  running: true,
  total_runs: '1',
  total_successes: '0',
  total_failures: '0',
  total_crashes: '1',
  consecutive_failures: 0,
  consecutive_crashes: 1,
  last_run: null,
} as const

describe('finish', () => {
  const end = (
    job: Partial<Parameters<typeof finish>[0]>,
    outcome: 'succeeded' | 'failed' | 'crashed',
    bySchedule = true,
  ) => finish({ ...stored, ...job }, { outcome, finishedAt: noon, bySchedule }, 16)

  it('gives the next slot after a success', () => {
    expect(end({}, 'succeeded')).toEqual({
      nextStart: '2026-01-05T12:00:00.000001Z',
      switchOff: false,
      failuresInARow: 0,
    })
  })

  it('counts the running one as no crash once it has ended', () => {
    expect(end({ fixed_schedule: false }, 'failed')).toMatchObject({
      nextStart: '2026-01-05T12:01:00.000000Z',
      failuresInARow: 1,
    })
    expect(end({ fixed_schedule: false, consecutive_failures: 2, consecutive_crashes: 2 }, 'failed')).toMatchObject({
      nextStart: '2026-01-05T12:03:00.000000Z',
      failuresInARow: 4,
    })
  })

  it('waits five minutes after a crash', () => {
    expect(end({}, 'crashed')).toMatchObject({ nextStart: '2026-01-05T12:05:00.000000Z', failuresInARow: 1 })
  })

  it('keeps a start that was set during the run', () => {
    expect(end({ next_start: String(at('2027-01-01T00:00:00Z')) }, 'failed').nextStart).toBe(
      '2027-01-01T00:00:00.000000Z',
    )
  })

  it('switches off at max_retries, with the next slot for whoever switches it on again', () => {
    expect(end({ max_retries: 2, consecutive_failures: 1 }, 'failed')).toMatchObject({
      switchOff: true,
      nextStart: '2026-01-05T12:00:00.000001Z',
    })
    expect(end({ max_retries: 2, consecutive_failures: 1 }, 'failed', false).switchOff).toBe(false)
  })
})

describe('joinError', () => {
  it('joins message, detail and hint as the original does', () => {
    expect(joinError(['boom', 'more', 'try'])).toBe('boom. more. try')
    expect(joinError(['boom.', undefined, ''])).toBe('boom')
  })
})

describe('runtimeLimitMs', () => {
  const seconds = (count: number) => ({ months: 0, days: 0, micros: BigInt(count) * 1_000_000n })

  it.each([
    [0, 0, 840_000],
    [10, 0, 10_000],
    [3_600, 0, 840_000],
    [0, 45_000, 825_000],
    [10, 45_000, 10_000],
  ])('of %i s, %i ms into the invocation, is %i ms', (limit, since, expected) => {
    expect(runtimeLimitMs(seconds(limit), since)).toBe(expected)
  })
})

describe('toJob', () => {
  it('shows intervals as they were written while they mean the same', () => {
    expect(toJob(stored).schedule).toEqual({ every: '10 min', fixed: true, start: '2026-01-05T00:00:00.000Z' })
    expect(toJob({ ...stored, schedule_interval: '0 0 1200000000' }).schedule).toMatchObject({ every: '20 minutes' })
  })

  it('does not count the running run as a crash', () => {
    expect(toJob(stored)).toMatchObject({ state: 'running', totals: { crashes: 0 } })
  })
})

describe('patchJob', () => {
  const idle = { ...stored, running: false, start_unset: false, next_start: String(at('2026-01-05T12:10:00Z')) }
  const patch = (change: Parameters<typeof patchJob>[1], job: Parameters<typeof patchJob>[0] = idle) =>
    patchJob(job, change, { now: noon, allowedHosts: [] })

  it('changes what is named and keeps the rest, the next start too', () => {
    const { job, nextStart } = patch({ name: 'renamed', max_retries: 5 })
    expect(nextStart).toBeUndefined()
    expect(job).toMatchObject({
      name: 'renamed',
      maxRetries: 5,
      config: '{"id": 1}',
      procName: 'my_job',
      initialStart: '2026-01-05T00:00:00.000001Z',
      scheduleInterval: '10 minutes',
    })
  })

  it('finds the next start of a new schedule', () => {
    expect(patch({ schedule: '0 9 * * *', time_zone: 'Europe/Berlin' }).nextStart).toBe('2026-01-06T08:00:00.000000Z')
    const last_run = { run_id: 'r', outcome: 'succeeded', started_at: String(noon), finished_at: String(noon) } as const
    expect(patch({ schedule: { every: '1 hour' } }, { ...idle, last_run }).nextStart).toBe(
      '2026-01-05T13:00:00.000000Z',
    )
    expect(patch({ schedule: { every: '1 hour' } }).nextStart).toBeUndefined()
    const start = '2026-02-01T00:00:00Z'
    expect(patch({ schedule: { every: '1 hour', fixed: true, start } }).nextStart).toBe('2026-02-01T00:00:00.000000Z')
  })

  it('leaves out the slots that were missed while the job was off', () => {
    const late = { ...idle, scheduled: false, next_start: String(at('2026-01-05T06:00:00Z')) }
    expect(patch({ scheduled: true }, late).nextStart).toBe('2026-01-05T12:00:00.000001Z')
    expect(startOnResume({ ...late, next_start: String(at('2026-01-06T00:00:00Z')) }, noon)).toBeUndefined()
  })
})
