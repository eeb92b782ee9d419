import type { RandomBytes } from './clock.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base36 = '0123456789abcdefghijklmnopqrstuvwxyz'

/** `length` characters of `alphabet` (at most 256 of them), each equally likely: bytes past the last whole multiple are drawn again. */
export function randomText(length: number, alphabet: string, randomBytes: RandomBytes): string {
  const fair = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length + 8)) {
      if (byte < fair && text.length < length) text += alphabet[byte % alphabet.length]
    }
  }
  return text
}

/** Base62 text of `length` characters; 43 of them hold 256 bits. */
export const randomBase62 = (length: number, randomBytes: RandomBytes): string =>
  randomText(length, base62, randomBytes)

/** `[a-z0-9]` text of `length` characters, the form of service and project ids. */
export const randomBase36 = (length: number, randomBytes: RandomBytes): string =>
  randomText(length, base36, randomBytes)

/** A version 4 UUID (RFC 9562, section 5.4). */
export function randomUuid(randomBytes: RandomBytes): string {
  const bytes = randomBytes(16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

export const base62Digits = base62
