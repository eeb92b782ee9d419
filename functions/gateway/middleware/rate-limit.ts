import type { Context } from 'hono'
import { AppError } from '../../../shared/kernel/errors.ts'
import type { LimitPolicy } from '../../../shared/kernel/limit.ts'
import type { GatewayEnv } from '../app-env.ts'

export class RateLimitedError extends AppError {
  override readonly name = 'RateLimitedError'
  readonly code = 'limit.rate_limited'
  readonly status = 429

  constructor(policy: LimitPolicy, retryAfterMs: number) {
    super(`more than ${policy.perSecond} requests a second; slow down`, { retryAfterSeconds: retryAfterMs / 1000 })
  }
}

/** For keys that state no limits of their own. */
const keyPolicy: LimitPolicy = { perSecond: 10_000, burst: 20_000 }
const anonymousPolicy: LimitPolicy = { perSecond: 500, burst: 1_000 }

/** A tenth of a second's worth is drawn at once, so that the hot path makes no object call per request. */
const leaseShare = 10
const limiterShards = 16

type Lease = { tokens: number; readonly remaining: number; readonly isRefusal: boolean; readonly untilMs: number }
const leases = new Map<string, Lease>()

/**
 * Takes one token of the caller's bucket: of its key, or of the one that all callers without a key share.
 *
 * @throws {RateLimitedError} the bucket is empty
 */
export async function rateLimit(c: Context<GatewayEnv>): Promise<void> {
  const { caller } = c.var
  const name = caller ? `key ${caller.keyId}` : 'anonymous'
  const policy = caller ? (caller.limit ?? keyPolicy) : anonymousPolicy
  const nowMs = Date.now()
  const lease = await leaseOf(c, name, policy, nowMs)
  const headers = {
    'ratelimit-policy': `"default";q=${policy.burst};w=${Math.ceil(policy.burst / policy.perSecond)}`,
    ratelimit: `"default";r=${Math.max(0, lease.remaining + lease.tokens - 1)};t=${Math.ceil(policy.burst / policy.perSecond)}`,
  }
  c.set('limitHeaders', headers)
  if (lease.tokens < 1) throw new RateLimitedError(policy, Math.max(1, lease.untilMs - nowMs))
  lease.tokens--
}

/** Tokens in hand; when they are used up, new ones, or a refusal that holds until the bucket has one again. */
async function leaseOf(c: Context<GatewayEnv>, name: string, policy: LimitPolicy, nowMs: number): Promise<Lease> {
  const held = leases.get(name)
  if (held && nowMs < held.untilMs && (held.tokens >= 1 || held.isRefusal)) return held
  const limiter = c.env.LIMITER.getByName(`limiter:${shardOf(name)}`)
  const taken = await limiter.take(name, policy, Math.max(1, Math.floor(policy.perSecond / leaseShare)))
  // A lease is given up after a second: tokens that rest in an idle isolate are lost to the others.
  const isRefusal = taken.granted === 0
  const untilMs = nowMs + (isRefusal ? taken.retryAfterMs : 1_000)
  const lease = { tokens: taken.granted, remaining: taken.remaining, isRefusal, untilMs }
  leases.set(name, lease)
  if (leases.size > 10_000) leases.clear()
  return lease
}

function shardOf(name: string): number {
  let hash = 0
  for (let at = 0; at < name.length; at++) hash = (hash * 31 + name.charCodeAt(at)) >>> 0
  return hash % limiterShards
}
