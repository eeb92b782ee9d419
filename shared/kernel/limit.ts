/** A token bucket: `perSecond` tokens flow in, at most `burst` are kept. */
export type LimitPolicy = { readonly perSecond: number; readonly burst: number }

export type Bucket = { readonly tokens: number; readonly atMs: number }

export type Taken = {
  /** Tokens given, from 0 to what was wanted. */
  readonly granted: number
  /** Whole tokens left. */
  readonly remaining: number
  /** How long until one token is there; 0 when some are left. */
  readonly retryAfterMs: number
}

/**
 * Takes up to `wanted` tokens: fewer when fewer are left, none when less than one is.
 *
 * @param bucket undefined = never used, so full
 */
export function take(
  bucket: Bucket | undefined,
  policy: LimitPolicy,
  nowMs: number,
  wanted: number,
): { readonly bucket: Bucket; readonly taken: Taken } {
  const { perSecond, burst } = policy
  const elapsedMs = bucket ? Math.max(0, nowMs - bucket.atMs) : 0
  const tokens = bucket ? Math.min(burst, bucket.tokens + (elapsedMs * perSecond) / 1000) : burst
  const granted = Math.min(wanted, Math.floor(tokens))
  const left = tokens - granted
  return {
    bucket: { tokens: left, atMs: Math.max(nowMs, bucket?.atMs ?? nowMs) },
    taken: {
      granted,
      remaining: Math.floor(left),
      retryAfterMs: left >= 1 ? 0 : Math.ceil(((1 - left) / perSecond) * 1000),
    },
  }
}
