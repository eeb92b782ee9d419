import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  crc32,
  createKey,
  digestOf,
  looksLikeKey,
  parseBasicKey,
  parseKey,
  sameDigest,
} from '../../../../shared/kernel/auth/key.ts'
import { utf8 } from '../../../../shared/kernel/bytes.ts'

const bytesOf = (seed: number) => (count: number) =>
  Uint8Array.from({ length: count }, (_, at) => (seed * 31 + at * 97) % 256)

describe('crc32', () => {
  it('gives the check value of the catalogue of CRCs', () => {
    expect(crc32(utf8('123456789'))).toBe(0xcbf43926)
    expect(crc32(utf8(''))).toBe(0)
  })
})

describe('createKey and parseKey', () => {
  it('make the documented form and read it back', async () => {
    const key = await createKey(bytesOf(1))
    expect(key.text).toMatch(/^tdg_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/)
    const parsed = parseKey(key.text)
    expect(parsed?.id).toBe(key.id)
    expect(await digestOf(parsed?.secret ?? '')).toBe(key.digest)
  })

  it('refuse a key in which any one character was mistyped', async () => {
    const { text } = await createKey(bytesOf(2))
    fc.assert(
      fc.property(fc.integer({ min: 4, max: text.length - 1 }), fc.constantFrom(...'09azAZ'), (at, letter) => {
        fc.pre(text[at] !== letter)
        expect(parseKey(text.slice(0, at) + letter + text.slice(at + 1))).toBeUndefined()
      }),
    )
  })

  it.each([
    '',
    'tdg_',
    'tdg_12345678_',
    'Bearer x',
    ' tdg_12345678_' + 'a'.repeat(49),
    'tdg_12345678_' + 'a'.repeat(50),
  ])('refuse %j', (text) => {
    expect(parseKey(text)).toBeUndefined()
  })

  it('store only a digest of the secret: no part of the secret stands in it', async () => {
    const key = await createKey(bytesOf(3))
    expect(key.digest).toMatch(/^[0-9a-f]{64}$/)
    expect(key.text).not.toContain(key.digest.slice(0, 8))
  })
})

describe('parseBasicKey', () => {
  it('takes the id as user and the rest, or the whole text, as password', async () => {
    const { id, text } = await createKey(bytesOf(4))
    expect(parseBasicKey(`tdg_${id}`, text.slice(`tdg_${id}_`.length))?.id).toBe(id)
    expect(parseBasicKey(`tdg_${id}`, text)?.id).toBe(id)
    expect(parseBasicKey(`tdg_${id}`, 'wrong')).toBeUndefined()
  })
})

describe('looksLikeKey', () => {
  it('means our prefix, so that a broken key of ours is never passed on to an upstream', () => {
    expect(looksLikeKey('tdg_x')).toBe(true)
    expect(looksLikeKey('AKALPHAADMIN')).toBe(false)
  })
})

describe('sameDigest', () => {
  it('compares whole texts', () => {
    expect(sameDigest('ab', 'ab')).toBe(true)
    expect(sameDigest('ab', 'ac')).toBe(false)
    expect(sameDigest('ab', 'abab')).toBe(false)
    expect(sameDigest('', 'a')).toBe(false)
  })
})
