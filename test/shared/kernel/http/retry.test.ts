import { describe, expect, it } from 'vitest'
import { parseRetryAfter, readRetry, withRetry } from '../../../../shared/kernel/http/retry.ts'
import { UpstreamUnreachableError } from '../../../../shared/kernel/http/send.ts'

/** A sender that gives the answers in turn, and a clock that only sleeping moves. */
function fixture(answers: (number | Error | Response)[]) {
  let nowMs = 0
  const slept: number[] = []
  let calls = 0
  const send = withRetry(
    async () => {
      const answer = answers[calls++] ?? 500
      if (answer instanceof Error) throw answer
      return answer instanceof Response ? answer : new Response('body', { status: answer })
    },
    readRetry,
    {
      random: () => 0.5,
      clock: () => nowMs,
      sleep: async (ms) => {
        slept.push(ms)
        nowMs += ms
      },
    },
  )
  return { get: () => send(new Request('http://upstream.test/')), slept, calls: () => calls }
}

const unreachable = () => new UpstreamUnreachableError('gone')

describe('withRetry', () => {
  it('sends again after failures that pass, waiting longer each time', async () => {
    const { get, slept, calls } = fixture([503, unreachable(), 200])
    expect((await get()).status).toBe(200)
    expect(calls()).toBe(3)
    expect(slept).toEqual([100, 200])
  })

  it('gives the last answer, or error, after three tries', async () => {
    expect((await fixture([500, 500, 502, 200]).get()).status).toBe(502)
    await expect(fixture([unreachable(), unreachable(), unreachable()]).get()).rejects.toThrow('gone')
  })

  it.each([200, 301, 400, 401, 404, 409, 501])('does NOT send again after %d', async (status) => {
    const { get, calls } = fixture([status])
    expect((await get()).status).toBe(status)
    expect(calls()).toBe(1)
  })

  it('does NOT send again after an error of our own', async () => {
    const { get, calls } = fixture([new TypeError('a bug')])
    await expect(get()).rejects.toThrow('a bug')
    expect(calls()).toBe(1)
  })

  it('waits as long as Retry-After says, but gives up when that is too long', async () => {
    const limited = (seconds: string) => new Response('', { status: 429, headers: { 'retry-after': seconds } })
    const patient = fixture([limited('3'), 200])
    expect((await patient.get()).status).toBe(200)
    expect(patient.slept).toEqual([3_000])
    expect((await fixture([limited('6'), 200]).get()).status).toBe(429)
  })
})

describe('parseRetryAfter', () => {
  it('reads seconds and dates', () => {
    const clock = () => Date.parse('2026-01-01T00:00:00Z')
    expect(parseRetryAfter('12', clock)).toBe(12_000)
    expect(parseRetryAfter('Thu, 01 Jan 2026 00:00:07 GMT', clock)).toBe(7_000)
    expect(parseRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', clock)).toBe(0)
    expect(parseRetryAfter('soon', clock)).toBeUndefined()
    expect(parseRetryAfter(null, clock)).toBeUndefined()
  })
})
