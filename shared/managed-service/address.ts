/** An address as 16 bytes; IPv4 in its mapped form (`::ffff:a.b.c.d`, RFC 4291, section 2.5.5.2). */
type AddressBytes = readonly number[]

const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff] as const
const mappedBits = 96

/**
 * Whether an address lies in one of the ranges: CIDR blocks or single addresses, IPv4 or IPv6. An IPv4 address matches
 * in its mapped form too. Whatever cannot be read matches nothing.
 */
export function isInRanges(address: string, ranges: readonly string[]): boolean {
  const bytes = parseAddress(address)
  return bytes !== undefined && ranges.some((range) => contains(range, bytes))
}

function contains(range: string, address: AddressBytes): boolean {
  const [text = '', prefix, ...rest] = range.split('/')
  const base = parseAddress(text)
  if (!base || rest.length > 0) return false
  const widest = text.includes(':') ? 128 : 32
  if (prefix !== undefined && !/^\d{1,3}$/.test(prefix)) return false
  const length = prefix === undefined ? widest : Number(prefix)
  if (length > widest) return false
  // `::/0` means every IPv6 address: an IPv4 one is in an IPv6 block only if that block is of mapped addresses.
  if (widest === 128 && length < mappedBits && sharesBits(mappedPrefix, address, mappedBits)) return false
  return sharesBits(base, address, widest === 32 ? mappedBits + length : length)
}

function sharesBits(left: AddressBytes, right: AddressBytes, count: number): boolean {
  for (let bit = 0; bit < count; bit += 8) {
    const mask = count - bit >= 8 ? 0xff : (0xff << (8 - (count - bit))) & 0xff
    if ((((left[bit / 8] ?? 0) ^ (right[bit / 8] ?? 0)) & mask) !== 0) return false
  }
  return true
}

function parseAddress(text: string): AddressBytes | undefined {
  if (text.includes(':')) return parseV6(text)
  const bytes = parseV4(text)
  return bytes && [...mappedPrefix, ...bytes]
}

function parseV4(text: string): AddressBytes | undefined {
  const parts = text.split('.')
  if (parts.length !== 4) return undefined
  // No leading zeros: some readers take them for octal (RFC 6943, section 3.1.1).
  if (!parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) return undefined
  return parts.map(Number)
}

/** RFC 4291, section 2.2: groups of hex digits, one `::`, perhaps an IPv4 address at the end. */
function parseV6(text: string): AddressBytes | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map((half, index) => groups(half, index === halves.length - 1))
  if (!head || (halves.length === 2 && !tail)) return undefined
  if (!tail) return head.length === 16 ? head : undefined
  const gap = 16 - head.length - tail.length
  return gap >= 2 ? [...head, ...new Array<number>(gap).fill(0), ...tail] : undefined
}

function groups(text: string, isEnd: boolean): number[] | undefined {
  if (text === '') return []
  const bytes: number[] = []
  const parts = text.split(':')
  for (const [index, part] of parts.entries()) {
    if (isEnd && index === parts.length - 1 && part.includes('.')) {
      const v4 = parseV4(part)
      if (!v4) return undefined
      bytes.push(...v4)
      continue
    }
    if (!/^[0-9a-f]{1,4}$/i.test(part)) return undefined
    const group = Number.parseInt(part, 16)
    bytes.push(group >> 8, group & 0xff)
  }
  return bytes
}
