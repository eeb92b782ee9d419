/** Bytes of the longest varint: ten groups of seven bits hold 64. */
const longestVarint = 10

/**
 * Whether any varint at the top level of a message, or in groups inside it, is longer than ten bytes. The generated
 * decoder checks those that it reads but not those of fields that it skips. What is malformed otherwise is left to it.
 */
export function hasOverlongVarint(bytes: Uint8Array): boolean {
  let at = 0
  while (at < bytes.length) {
    const tagEnd = varintEnd(bytes, at)
    if (tagEnd === overlong) return true
    const wireType = (bytes[at] as number) & 7
    at = tagEnd
    if (wireType === 0) {
      at = varintEnd(bytes, at)
      if (at === overlong) return true
    } else if (wireType === 1) at += 8
    else if (wireType === 5) at += 4
    else if (wireType === 2) {
      const lengthEnd = varintEnd(bytes, at)
      if (lengthEnd === overlong) return true
      at = lengthEnd + lengthAt(bytes, at, lengthEnd)
    } else if (wireType > 5) return false
    // A group's start and end (3, 4) have no value: its fields follow.
  }
  return false
}

const overlong = -1

/** Where the varint at `at` ends; the end of the bytes when it is unfinished. */
function varintEnd(bytes: Uint8Array, at: number): number {
  for (let end = at; end < bytes.length; end++) {
    if (end - at === longestVarint) return overlong
    if ((bytes[end] as number) < 0x80) return end + 1
  }
  return bytes.length - at > longestVarint ? overlong : bytes.length
}

/** A length as a number that is exact where it matters: beyond 2^53 it is past the end of any message anyway. */
function lengthAt(bytes: Uint8Array, at: number, end: number): number {
  let length = 0
  for (let index = end - 1; index >= at; index--) length = length * 128 + ((bytes[index] as number) & 0x7f)
  return length
}
