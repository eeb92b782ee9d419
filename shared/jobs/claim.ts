import { comparableMicros, type Interval } from './interval.ts'

/** The platform ends a cron run after 15 minutes; no job gets longer than this. */
export const longestRunMs = 14 * 60_000

/** A run that is not finished so long after its limit is lost. */
export const leaseGraceMs = 5 * 60_000

/** Jobs that run at the same time in one invocation. */
export const runsAtOnce = 4

/** New runs are only begun in the first minute of an invocation: the next tick is there for the rest. */
export const claimWindowMs = 45_000

/** An invocation is over after this long, whatever still runs. */
const invocationMs = longestRunMs + 30_000

/**
 * How long a run may take, in milliseconds: its own limit (0 is none), at most 14 minutes, and not past the end of the
 * invocation that it runs in.
 */
export function runtimeLimitMs(maxRuntime: Interval, sinceInvocationMs: number, mostMs = longestRunMs): number {
  const ownMs = Number(comparableMicros(maxRuntime)) / 1_000
  const limit = Math.min(ownMs > 0 ? ownMs : mostMs, mostMs, invocationMs - sinceInvocationMs)
  return Math.max(1, Math.floor(limit))
}
