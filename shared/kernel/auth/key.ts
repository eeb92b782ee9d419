import { equalBytes, sha256, utf8 } from '../bytes.ts'
import type { RandomBytes } from '../clock.ts'
import { base62Digits, randomBase62, toHex } from '../ids.ts'

/**
 * A Tidegate key: `tdg_` + 8 base62 (id) + `_` + 43 base62 (secret, 256 bits) + 6 base62 (CRC-32 of all before it).
 * The checksum tells a mistyped key from a wrong one without a look-up, and lets scanners find leaked keys.
 */
export type Key = {
  readonly id: string
  readonly secret: string
}

const form = /^tdg_([0-9A-Za-z]{8})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/** A new key: its text (shown once) and the digest to store. */
export async function createKey(randomBytes: RandomBytes): Promise<{ id: string; text: string; digest: string }> {
  const id = randomBase62(8, randomBytes)
  const secret = randomBase62(43, randomBytes)
  const body = `tdg_${id}_${secret}`
  return { id, text: body + checksum(body), digest: await digestOf(secret) }
}

/** The parts of a key's text, or undefined when the form or the checksum is wrong. */
export function parseKey(text: string): Key | undefined {
  const [, id, secret, sum] = form.exec(text) ?? []
  if (id === undefined || secret === undefined) return undefined
  return checksum(`tdg_${id}_${secret}`) === sum ? { id, secret } : undefined
}

/**
 * The key that stands in HTTP Basic: the user is `tdg_<id>`, the password what follows it in the key's text (the whole
 * text is taken too).
 */
export const parseBasicKey = (accessKey: string, secretKey: string): Key | undefined =>
  parseKey(secretKey.startsWith('tdg_') ? secretKey : `${accessKey}_${secretKey}`)

/** Whether a credential's name means a Tidegate key, so that a wrong one is refused and never passed through. */
export const looksLikeKey = (text: string): boolean => text.startsWith('tdg_')

/** Lower-case hex of the SHA-256 of a key's secret: all that is stored of it. */
export const digestOf = async (secret: string): Promise<string> => toHex(await sha256(utf8(secret)))

/** Compares two digests in constant time. */
export const sameDigest = (left: string, right: string): boolean => equalBytes(utf8(left), utf8(right))

function checksum(text: string): string {
  let rest = crc32(utf8(text))
  let digits = ''
  for (let place = 0; place < 6; place++) {
    digits = base62Digits.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

/** CRC-32 as in ISO 3309 and gzip, unsigned. */
export function crc32(bytes: Uint8Array): number {
  let value = 0xffffffff
  for (const byte of bytes) value = (value >>> 8) ^ (crcTable[(value ^ byte) & 0xff] ?? 0)
  return (value ^ 0xffffffff) >>> 0
}
