import { fmix32 } from './rendezvous.ts'

/**
 * 64-bit hash of a message's canonical bytes, signed as Postgres keeps it. With the symbol and the time it tells apart
 * the ticks that share a second; it is no protection against someone who makes collisions.
 */
export function fingerprint(bytes: Uint8Array): bigint {
  let upper = 0xdeadbeef
  let lower = 0x41c6ce57
  for (const byte of bytes) {
    upper = Math.imul(upper ^ byte, 2_654_435_761)
    lower = Math.imul(lower ^ byte, 1_597_334_677)
  }
  const mixedUpper = fmix32(upper ^ (lower >>> 13))
  const mixedLower = fmix32(lower ^ (mixedUpper >>> 7) ^ bytes.length)
  return BigInt.asIntN(64, (BigInt(mixedUpper) << 32n) | BigInt(mixedLower))
}
