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
/** A draw that takes longer is taken for lost: the request that made it may have been cancelled. */
const lostDrawMs = 1_000
const limiterShards = 16

/**
 * What an isolate holds of a bucket. `drawingSinceMs`: a request is fetching more; those that come meanwhile are let
 * through on account of it (each drawing for itself would empty the bucket), up to one draw's worth.
 */
type Lease = {
  tokens: number
  remaining: number
  refusedUntilMs: number
  untilMs: number
  drawingSinceMs: number | undefined
}
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
  const lease = leaseOf(name)
  const nowMs = Date.now()
  if (lease.untilMs <= nowMs) lease.tokens = Math.min(lease.tokens, 0)
  if (lease.tokens < 1 && lease.refusedUntilMs <= nowMs && !mayGoOnAccount(lease, policy, nowMs)) {
    await draw(c, name, policy, lease)
  }
  lease.tokens--
  const windowSeconds = Math.ceil(policy.burst / policy.perSecond)
  c.set('limitHeaders', {
    'ratelimit-policy': `"default";q=${policy.burst};w=${windowSeconds}`,
    ratelimit: `"default";r=${Math.max(0, lease.remaining + lease.tokens)};t=${windowSeconds}`,
  })
  if (lease.refusedUntilMs > nowMs) {
    lease.tokens++
    throw new RateLimitedError(policy, lease.refusedUntilMs - nowMs)
  }
}

function leaseOf(name: string): Lease {
  const held = leases.get(name)
  if (held) return held
  if (leases.size > 10_000) leases.clear()
  const lease: Lease = { tokens: 0, remaining: 0, refusedUntilMs: 0, untilMs: 0, drawingSinceMs: undefined }
  leases.set(name, lease)
  return lease
}

/** Tokens of one draw; a bucket too small to share out is asked for each. */
const drawSize = ({ perSecond }: LimitPolicy): number => Math.max(1, Math.floor(perSecond / leaseShare))

const mayGoOnAccount = (lease: Lease, policy: LimitPolicy, nowMs: number): boolean =>
  lease.drawingSinceMs !== undefined &&
  nowMs - lease.drawingSinceMs < lostDrawMs &&
  -lease.tokens < drawSize(policy) - 1

async function draw(c: Context<GatewayEnv>, name: string, policy: LimitPolicy, lease: Lease): Promise<void> {
  lease.drawingSinceMs = Date.now()
  try {
    const taken = await c.env.LIMITER.getByName(`limiter:${shardOf(name)}`).take(name, policy, drawSize(policy))
    const nowMs = Date.now()
    lease.tokens += taken.granted
    lease.remaining = taken.remaining
    // A lease is given up after a second: tokens that rest in an idle isolate are lost to the others.
    lease.untilMs = nowMs + 1_000
    lease.refusedUntilMs = taken.granted === 0 ? nowMs + Math.max(1, taken.retryAfterMs) : 0
  } finally {
    lease.drawingSinceMs = undefined
  }
}

function shardOf(name: string): number {
  let hash = 0
  for (let at = 0; at < name.length; at++) hash = (hash * 31 + name.charCodeAt(at)) >>> 0
  return hash % limiterShards
}
