import { keccak_256 } from '@noble/hashes/sha3.js'
import { hexToBytes } from '@noble/hashes/utils.js'
import { utf8 } from '../bytes.ts'
import { AppError } from '../errors.ts'

// EIP-712 typed structured data: https://eips.ethereum.org/EIPS/eip-712

export type TypedField = { readonly name: string; readonly type: string }

/** Struct types by name. */
export type TypedStructs = Readonly<Record<string, readonly TypedField[]>>

/** Integers as bigint or safe integer, `bytes…` and addresses as `0x` hex or bytes, structs as objects. */
export type TypedValue = Readonly<Record<string, unknown>>

export type TypedDomain = {
  readonly name?: string
  readonly version?: string
  readonly chainId?: number | bigint
  readonly verifyingContract?: string
  readonly salt?: string
}

export class TypedDataError extends AppError {
  override readonly name = 'TypedDataError'
  readonly code = 'typed_data.invalid_value'
  readonly status = 400

  constructor(field: string, expected: string, given: unknown) {
    super(`${field}: expected ${expected}, given ${describe(given)}`, { field })
  }
}

/**
 * `keccak256(typeHash ‖ encodeData)` of a struct, 32 bytes.
 *
 * @throws {TypedDataError} a member is missing or does not fit its type
 */
export function hashStruct(structs: TypedStructs, type: string, value: TypedValue): Uint8Array {
  const fields = structs[type]
  if (!fields) throw new TypedDataError(type, 'the name of a struct type', type)
  return keccak_256(
    concat([
      typeHash(structs, type),
      ...fields.map((field) => encode(structs, field.type, value[field.name], field.name)),
    ]),
  )
}

/** The hash of a domain; members that are absent are absent from its type, too. */
export function domainSeparator(domain: TypedDomain): Uint8Array {
  const fields = domainFields.filter(({ name }) => domain[name] !== undefined)
  return hashStruct({ EIP712Domain: fields }, 'EIP712Domain', domain)
}

/** `keccak256(0x1901 ‖ domain separator ‖ struct hash)`: what a wallet signs. */
export const typedDataDigest = (separator: Uint8Array, structHash: Uint8Array): Uint8Array =>
  keccak_256(concat([Uint8Array.of(0x19, 0x01), separator, structHash]))

/** `Mail(Person from,string contents)Person(string name)`: the type, then those it names, by name. */
export function encodeType(structs: TypedStructs, type: string): string {
  const named = new Set<string>()
  collect(structs, type, named)
  named.delete(type)
  return [type, ...[...named].sort()]
    .map((name) => `${name}(${(structs[name] ?? []).map((field) => `${field.type} ${field.name}`).join(',')})`)
    .join('')
}

const domainFields: readonly { readonly name: keyof TypedDomain; readonly type: string }[] = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
  { name: 'salt', type: 'bytes32' },
]

const typeHashes = new WeakMap<TypedStructs, Map<string, Uint8Array>>()

function typeHash(structs: TypedStructs, type: string): Uint8Array {
  const hashes = typeHashes.get(structs) ?? new Map<string, Uint8Array>()
  typeHashes.set(structs, hashes)
  const hash = hashes.get(type) ?? keccak_256(utf8(encodeType(structs, type)))
  hashes.set(type, hash)
  return hash
}

function collect(structs: TypedStructs, type: string, into: Set<string>): void {
  if (into.has(type) || !Object.hasOwn(structs, type)) return
  into.add(type)
  for (const field of structs[type] ?? []) collect(structs, field.type.replace(/\[.*$/, ''), into)
}

/** One 32-byte word of a member. */
function encode(structs: TypedStructs, type: string, value: unknown, field: string): Uint8Array {
  const array = /^(.+)\[(\d*)\]$/.exec(type)
  if (array) return encodeArray(structs, array[1] as string, array[2] as string, value, field)
  if (Object.hasOwn(structs, type)) {
    if (typeof value !== 'object' || value === null) throw new TypedDataError(field, `a ${type}`, value)
    return hashStruct(structs, type, value as TypedValue)
  }
  if (type === 'string') {
    if (typeof value !== 'string') throw new TypedDataError(field, 'a text', value)
    return keccak_256(utf8(value))
  }
  if (type === 'bool') {
    if (typeof value !== 'boolean') throw new TypedDataError(field, 'true or false', value)
    return word(value ? 1n : 0n)
  }
  if (type === 'address') return padded(bytesOf(value, 20, field, type), 12)
  if (type === 'bytes') return keccak_256(bytesOf(value, undefined, field, type))
  const fixed = /^bytes([1-9]|[12]\d|3[0-2])$/.exec(type)?.[1]
  if (fixed) return padded(bytesOf(value, Number(fixed), field, type), 0)
  const integer = /^(u?)int(\d+)$/.exec(type)
  const bits = Number(integer?.[2])
  if (integer && bits % 8 === 0 && bits >= 8 && bits <= 256)
    return encodeInteger(value, bits, integer[1] === 'u', field)
  throw new TypedDataError(field, 'a type of EIP-712', type)
}

function encodeArray(structs: TypedStructs, item: string, length: string, value: unknown, field: string): Uint8Array {
  if (!Array.isArray(value) || (length !== '' && value.length !== Number(length))) {
    throw new TypedDataError(field, length === '' ? `an array of ${item}` : `${length} values of ${item}`, value)
  }
  return keccak_256(concat(value.map((element, at) => encode(structs, item, element, `${field}[${at}]`))))
}

function encodeInteger(value: unknown, bits: number, unsigned: boolean, field: string): Uint8Array {
  const integer = typeof value === 'bigint' ? value : Number.isSafeInteger(value) ? BigInt(value as number) : undefined
  const inRange =
    integer !== undefined && (unsigned ? BigInt.asUintN(bits, integer) : BigInt.asIntN(bits, integer)) === integer
  if (!inRange) throw new TypedDataError(field, `an integer of ${bits} bits${unsigned ? ', not negative' : ''}`, value)
  return word(BigInt.asUintN(256, integer))
}

function bytesOf(value: unknown, length: number | undefined, field: string, type: string): Uint8Array {
  const bytes =
    value instanceof Uint8Array
      ? value
      : typeof value === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(value)
        ? hexToBytes(value.slice(2))
        : undefined
  if (!bytes || (length !== undefined && bytes.length !== length)) {
    throw new TypedDataError(
      field,
      `${type} as 0x and ${length === undefined ? 'pairs of' : length * 2} hex digits`,
      value,
    )
  }
  return bytes
}

const word = (integer: bigint): Uint8Array => hexToBytes(integer.toString(16).padStart(64, '0'))

function padded(bytes: Uint8Array, at: number): Uint8Array {
  const whole = new Uint8Array(32)
  whole.set(bytes, at)
  return whole
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

const describe = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string')
    return value.length > 80 ? `a text of ${value.length} characters` : JSON.stringify(value)
  if (Array.isArray(value)) return `an array of ${value.length}`
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
