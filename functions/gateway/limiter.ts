import { DurableObject } from 'cloudflare:workers'
import { type Bucket, type LimitPolicy, type Taken, take } from '../../shared/kernel/limit.ts'

/** Buckets idle for longer are full again under every policy in use, so forgetting them changes nothing. */
const forgetAfterMs = 10 * 60_000

/**
 * Counts the tokens of a share of the callers, so that every isolate in the world draws from one bucket. In memory
 * only: an eviction refills the buckets, which costs less than a write per request.
 */
export class Limiter extends DurableObject {
  readonly #buckets = new Map<string, Bucket>()

  /** Takes up to `wanted` tokens of the bucket `name`. */
  take(name: string, policy: LimitPolicy, wanted: number): Taken {
    const nowMs = Date.now()
    const { bucket, taken } = take(this.#buckets.get(name), policy, nowMs, wanted)
    this.#buckets.delete(name) // set anew at the end: the map is ordered by last use
    this.#buckets.set(name, bucket)
    this.#forget(nowMs)
    return taken
  }

  #forget(nowMs: number): void {
    for (const [name, { atMs }] of this.#buckets) {
      if (nowMs - atMs < forgetAfterMs) return
      this.#buckets.delete(name)
    }
  }
}
