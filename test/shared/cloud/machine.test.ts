import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConflictError } from '../../../shared/cloud/errors.ts'
import {
  apply,
  begin,
  type ChangeName,
  changes,
  defaultDurations,
  exits,
  InvalidTimeScaleError,
  move,
  nextStepAtMs,
  parseTimeScale,
  scaleDurations,
} from '../../../shared/cloud/machine.ts'
import { type ServiceStatus, serviceStatuses } from '../../../shared/cloud/record.ts'

const startMs = 1_000_000
const build = begin('build', startMs, defaultDurations)

describe('move', () => {
  const pairs = serviceStatuses.flatMap((from) => serviceStatuses.map((to) => [from, to] as const))

  it.each(pairs)('from %s to %s follows the table', (from, to) => {
    const allowed: readonly ServiceStatus[] = exits[from]
    if (allowed.includes(to)) expect(move(from, to)).toBe(to)
    else expect(() => move(from, to)).toThrow(ConflictError)
  })

  it('leads from every live status to DELETING, and from DELETED nowhere', () => {
    for (const status of serviceStatuses) {
      const allowed: readonly ServiceStatus[] = exits[status]
      expect(allowed.includes('DELETING')).toBe(status !== 'DELETING' && status !== 'DELETED')
    }
    expect(exits.DELETED).toEqual([])
  })
})

describe('changes', () => {
  it.each(Object.keys(changes) as ChangeName[])('%s takes only ways that the table has', (name) => {
    const begun = begin(name, startMs, defaultDurations)
    let status = begun.status
    for (const step of begun.steps) status = move(status, step.status)
    expect(status).toBe(changes[name].end)
  })
})

describe('a build', () => {
  it.each([
    [0, 'QUEUED'],
    [999, 'QUEUED'],
    [1_000, 'CONFIGURING'],
    [2_999, 'CONFIGURING'],
    [3_000, 'READY'],
    [86_400_000, 'READY'],
  ])('is after %i ms %s', (afterMs, status) => {
    expect(apply(build, startMs + afterMs).status).toBe(status)
  })

  it('names its next step until there is none', () => {
    expect(nextStepAtMs(build)).toBe(startMs + 1_000)
    expect(nextStepAtMs(apply(build, startMs + 1_000))).toBe(startMs + 3_000)
    expect(nextStepAtMs(apply(build, startMs + 3_000))).toBeNull()
  })

  it('is at its end at once when durations are scaled to nothing', () => {
    const now = begin('build', startMs, scaleDurations(defaultDurations, 0))
    expect(now.status).toBe('QUEUED')
    expect(apply(now, startMs)).toEqual({ status: 'READY', steps: [] })
  })

  it('takes half as long at half the scale', () => {
    const fast = begin('build', startMs, scaleDurations(defaultDurations, 0.5))
    expect(fast.steps.map(({ atMs }) => atMs - startMs)).toEqual([500, 1_500])
  })
})

describe('apply', () => {
  it('gives the same state back when nothing is due', () => {
    expect(apply(build, startMs)).toBe(build)
    const ready = apply(build, startMs + 3_000)
    expect(apply(ready, startMs + 9_000)).toBe(ready)
  })

  it('does not change what it is given, and keeps what it does not know', () => {
    const state = { ...build, name: 'ticks' }
    const before = structuredClone(state)
    expect(apply(state, startMs + 3_000)).toEqual({ name: 'ticks', status: 'READY', steps: [] })
    expect(state).toEqual(before)
  })

  it('ends in the same state however often it is asked on the way', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(4_000)), fc.nat(4_000), (stops, end) => {
        const moments = [...stops.filter((stop) => stop <= end).sort((a, b) => a - b), end]
        const stepwise = moments.reduce((state, afterMs) => apply(state, startMs + afterMs), build)
        expect(stepwise).toEqual(apply(build, startMs + end))
      }),
    )
  })

  it('never goes back when the clock does', () => {
    const configuring = apply(build, startMs + 1_500)
    expect(apply(configuring, startMs)).toBe(configuring)
  })

  it('refuses stored steps that no way leads to', () => {
    const broken = { status: 'DELETED', steps: [{ status: 'READY', atMs: 1 }] } as const
    expect(() => apply(broken, 1)).toThrow(ConflictError)
  })
})

describe('parseTimeScale', () => {
  it.each([
    [undefined, 1],
    ['', 1],
    ['1', 1],
    ['0', 0],
    ['0.25', 0.25],
    ['10', 10],
  ])('reads %j as %d', (text, scale) => {
    expect(parseTimeScale(text)).toBe(scale)
  })

  it.each(['-1', 'fast', 'NaN', 'Infinity', '1e3', '0x1', ' 1', '1,5', '9'.repeat(400)])('refuses %j', (text) => {
    expect(() => parseTimeScale(text)).toThrow(InvalidTimeScaleError)
  })
})
