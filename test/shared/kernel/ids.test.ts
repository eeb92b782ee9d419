import { describe, expect, it } from 'vitest'
import { randomBase62, randomUuid } from '../../../shared/kernel/ids.ts'

const counting = () => {
  let next = 0
  return (count: number) => Uint8Array.from({ length: count }, () => next++ % 256)
}

describe('randomBase62', () => {
  it('draws bytes again that would favour the first letters', () => {
    const text = randomBase62(2_000, counting())
    const counts = new Map<string, number>()
    for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1)
    expect(counts.size).toBe(62)
    expect(Math.max(...counts.values()) - Math.min(...counts.values())).toBeLessThanOrEqual(2)
  })
})

describe('randomUuid', () => {
  it('carries version 4 and the variant of RFC 9562', () => {
    expect(randomUuid((count) => new Uint8Array(count).fill(255))).toBe('ffffffff-ffff-4fff-bfff-ffffffffffff')
    expect(randomUuid((count) => new Uint8Array(count))).toBe('00000000-0000-4000-8000-000000000000')
  })
})
