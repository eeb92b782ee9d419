import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Bucket, take } from '../../../shared/kernel/limit.ts'

const policy = { perSecond: 10, burst: 20 }

describe('take', () => {
  it('starts full and gives what is left', () => {
    const first = take(undefined, policy, 0, 15)
    expect(first.taken).toEqual({ granted: 15, remaining: 5, retryAfterMs: 0 })
    const second = take(first.bucket, policy, 0, 15)
    expect(second.taken).toEqual({ granted: 5, remaining: 0, retryAfterMs: 100 })
  })

  it('fills at the stated rate, up to the burst', () => {
    const { bucket } = take(undefined, policy, 0, 20)
    expect(take(bucket, policy, 500, 20).taken.granted).toBe(5)
    expect(take(bucket, policy, 60_000, 100).taken.granted).toBe(20)
  })

  it('does not fill when the clock goes back', () => {
    const { bucket } = take(undefined, policy, 10_000, 20)
    expect(take(bucket, policy, 5_000, 1).taken.granted).toBe(0)
  })

  it('never gives more than the burst plus the rate times the time', () => {
    const steps = fc.array(fc.record({ afterMs: fc.nat(3_000), wanted: fc.integer({ min: 1, max: 30 }) }), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(steps, (calls) => {
        let bucket: Bucket | undefined
        let nowMs = 0
        let given = 0
        for (const { afterMs, wanted } of calls) {
          nowMs += afterMs
          const result = take(bucket, policy, nowMs, wanted)
          bucket = result.bucket
          given += result.taken.granted
          expect(given).toBeLessThanOrEqual(policy.burst + (nowMs * policy.perSecond) / 1000 + 1e-6)
        }
      }),
    )
  })
})
