import { AppError } from '../errors.ts'
import type { Send } from './send.ts'

export type RetryPolicy = {
  /** Tries in all. */
  readonly tries: number
  /** The first wait is at most this long; each next one twice as long. */
  readonly baseMs: number
  /** No new try starts when its wait would end after this long. */
  readonly budgetMs: number
  /** A longer `Retry-After` is not waited for. */
  readonly maxRetryAfterMs: number
  readonly statuses: readonly number[]
}

/** Reads may be sent again after these; writes never blindly. */
export const readRetry: RetryPolicy = {
  tries: 3,
  baseMs: 200,
  budgetMs: 10_000,
  maxRetryAfterMs: 5_000,
  statuses: [408, 425, 429, 500, 502, 503, 504],
}

export type RetryEffects = {
  /** Uniform in 0 ≤ x < 1, for full jitter. */
  readonly random: () => number
  readonly clock: () => number
  readonly sleep: (milliseconds: number) => Promise<void>
}

/** Sends a request without a body again when it failed in a way that passes. Wrap it around the authentication, so that each try signs afresh. */
export const withRetry =
  (send: Send, policy: RetryPolicy, { random, clock, sleep }: RetryEffects): Send =>
  async (request) => {
    const startedAt = clock()
    for (let attempt = 1; ; attempt++) {
      const outcome = await settle(send, request)
      const waitMs = waitBefore(outcome, attempt, policy, random, clock)
      if (waitMs === undefined || clock() - startedAt + waitMs > policy.budgetMs) {
        if ('error' in outcome) throw outcome.error
        return outcome.response
      }
      if ('response' in outcome) await outcome.response.body?.cancel()
      await sleep(waitMs)
    }
  }

type Outcome = { readonly response: Response } | { readonly error: unknown }

const settle = async (send: Send, request: Request): Promise<Outcome> => {
  try {
    return { response: await send(request.clone()) }
  } catch (error) {
    return { error }
  }
}

function waitBefore(
  outcome: Outcome,
  attempt: number,
  policy: RetryPolicy,
  random: () => number,
  clock: () => number,
): number | undefined {
  if (attempt >= policy.tries) return undefined
  const backoffMs = random() * policy.baseMs * 2 ** (attempt - 1)
  if ('error' in outcome)
    return outcome.error instanceof AppError && outcome.error.fault === 'upstream' ? backoffMs : undefined
  if (!policy.statuses.includes(outcome.response.status)) return undefined
  const retryAfterMs = parseRetryAfter(outcome.response.headers.get('retry-after'), clock)
  if (retryAfterMs === undefined) return backoffMs
  return retryAfterMs > policy.maxRetryAfterMs ? undefined : Math.max(retryAfterMs, backoffMs)
}

/** Milliseconds of a `Retry-After` header (RFC 9110, section 10.2.3: seconds or an HTTP date), undefined when absent or unreadable. */
export function parseRetryAfter(value: string | null, clock: () => number): number | undefined {
  if (value === null) return undefined
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - clock())
}
