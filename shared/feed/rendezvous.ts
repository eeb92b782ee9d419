import { utf8 } from '../kernel/bytes.ts'

/** FNV-1a, 32 bits. */
export function fnv1a(bytes: Uint8Array): number {
  let hash = 2_166_136_261
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 16_777_619)
  return hash >>> 0
}

/** The finaliser of murmur3: every input bit moves every output bit. */
export function fmix32(value: number): number {
  let mixed = value | 0
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/**
 * Shards for a key, best first, by rendezvous hashing: with one shard more, only the keys that move to it move.
 * Weight of shard i: `fmix32(fnv1a(key) + i × 2654435761)`; ties go to the smaller i.
 */
export function shardsOf(key: string, count: number, most = count): readonly number[] {
  const hash = fnv1a(utf8(key))
  const weights = Array.from({ length: count }, (_, shard) => fmix32(hash + Math.imul(shard, 2_654_435_761)))
  return weights
    .map((_, shard) => shard)
    .sort((left, right) => (weights[right] as number) - (weights[left] as number) || left - right)
    .slice(0, most)
}

/** The shard of a key among `count` (at least 1). */
export function shardOf(key: string, count: number): number {
  if (count === 1) return 0
  const hash = fnv1a(utf8(key))
  let best = 0
  let bestWeight = -1
  for (let shard = 0; shard < count; shard++) {
    const weight = fmix32(hash + Math.imul(shard, 2_654_435_761))
    if (weight > bestWeight) {
      best = shard
      bestWeight = weight
    }
  }
  return best
}
