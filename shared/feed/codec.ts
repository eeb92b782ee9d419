import Long from 'long'
import { Writer } from 'protobufjs/minimal.js'
import { fromBase64 } from '../kernel/bytes.ts'
import { AppError } from '../kernel/errors.ts'
import { type AnyValues, type Field, type FieldType, fields, type PricingData, type Values } from './fields.ts'
import { shortestFloat } from './float.ts'
import { PricingData as Generated } from './pricing-data.generated.js'
import { hasOverlongVarint } from './wire.ts'

/** The bytes are no PricingData message. */
export class BadMessageError extends AppError {
  override readonly name = 'BadMessageError'
  readonly code = 'feed.bad_message'
  readonly status = 400
}

/** The text is not base64 as RFC 4648 section 4 writes it. */
export class BadBase64Error extends AppError {
  override readonly name = 'BadBase64Error'
  readonly code = 'feed.bad_base64'
  readonly status = 400

  constructor() {
    super('expected base64 with the standard alphabet, padding and no white space')
  }
}

/** A value given to the encoder does not fit its field. */
export class FieldRangeError extends AppError {
  override readonly name = 'FieldRangeError'
  readonly code = 'feed.field_range'
  readonly status = 400
}

/**
 * Decodes one message strictly; members at their default are absent, `sint64` is `bigint`.
 *
 * @throws {BadMessageError} the bytes are malformed in any place, also in fields that are unknown
 */
export function decode(bytes: Uint8Array): PricingData {
  return read(bytes, exactValue) as PricingData
}

/**
 * Decodes one message to what everything outside the codec works with: floats by their shortest decimal, `sint64` as
 * `number` where that is exact.
 *
 * @throws {BadMessageError}
 */
export function decodeValues(bytes: Uint8Array): Values {
  return read(bytes, plainValue) as Values
}

/**
 * Encodes canonically: fields in the order of their numbers, defaults left out after rounding to 32 bits.
 *
 * @throws {FieldRangeError} an integer is not whole or does not fit its type
 */
export function encode(message: PricingData | Values): Uint8Array<ArrayBuffer> {
  const wire: Record<string, unknown> = {}
  for (const field of fields) {
    const given = (message as AnyValues)[field.name]
    if (given === undefined) continue
    const value = wireValue(field, given)
    if (value !== undefined) wire[field.name] = value
  }
  // The default writer uses Buffer, which is two to three times slower in workerd.
  const bytes = Generated.encode(wire as unknown as Generated, new Writer()).finish()
  return bytes as Uint8Array<ArrayBuffer>
}

/**
 * Bytes of base64, read strictly: `atob` takes white space and missing padding too.
 *
 * @throws {BadBase64Error}
 */
export function fromBase64Strict(text: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(text)
  if (!bytes) throw new BadBase64Error()
  return bytes
}

/** The message that a decoded one is outside the codec. */
export function toValues(message: PricingData): Values {
  const values: AnyValues = {}
  for (const { name, type } of fields) {
    const value = (message as AnyValues)[name]
    if (value !== undefined) values[name] = plainOf(type, value)
  }
  return values as Values
}

type Wire = string | number | Long

const names = fields.map(({ name }) => name)
const types = fields.map(({ type }) => type)

function read(bytes: Uint8Array, convert: (type: FieldType, value: Wire) => string | number | bigint): AnyValues {
  if (hasOverlongVarint(bytes)) throw new BadMessageError('expected varints of at most ten bytes')
  let message: Record<string, Wire>
  try {
    message = Generated.decode(bytes) as unknown as Record<string, Wire>
  } catch (cause) {
    throw new BadMessageError('the bytes are no PricingData message', { length: bytes.length }, { cause })
  }
  const values: AnyValues = {}
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as (typeof names)[number]
    if (Object.hasOwn(message, name)) values[name] = convert(types[index] as FieldType, message[name] as Wire)
  }
  return values
}

function exactValue(type: FieldType, value: Wire): string | number | bigint {
  return type === 'sint64' ? bigintOf(value as Long) : (value as string | number)
}

/** Outside -2^21 .. 2^21-1 in the upper half a number is no longer exact. */
const safeUpperHalf = 0x20_0000

function plainValue(type: FieldType, value: Wire): string | number | bigint {
  if (type === 'float') return shortestFloat(value as number)
  if (type !== 'sint64') return value as string | number
  const { high, low } = value as Long
  if (high < -safeUpperHalf || high >= safeUpperHalf) return bigintOf(value as Long)
  const exact = high * 4_294_967_296 + (low >>> 0)
  return Number.isSafeInteger(exact) ? exact : BigInt(exact)
}

const bigintOf = ({ high, low }: Long): bigint => (BigInt(high) << 32n) | BigInt(low >>> 0)

function plainOf(type: FieldType, value: string | number | bigint): string | number | bigint {
  if (type === 'float') return shortestFloat(value as number)
  if (typeof value !== 'bigint') return value
  return toInt64(value)
}

/** A 64-bit integer as `number` where that is exact. */
export function toInt64(value: bigint): number | bigint {
  const rounded = Number(value)
  return Number.isSafeInteger(rounded) ? rounded : value
}

/** What the generated encoder takes, or undefined for a default, which is not written. Minus zero is no default. */
function wireValue({ name, type }: Field, value: string | number | bigint): Wire | undefined {
  if (type === 'string') return value === '' ? undefined : String(value).toWellFormed()
  if (type === 'sint64') return int64Of(name, value)
  const number = type === 'float' ? Math.fround(Number(value)) : Number(value)
  if (type === 'int32' && (number | 0) !== number) {
    throw new FieldRangeError(`${name} takes a whole number of 32 bits, not ${value}`, { field: name })
  }
  return Object.is(number, 0) || (type === 'int32' && number === 0) ? undefined : number
}

function int64Of(name: string, value: string | number | bigint): Long | undefined {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) {
      throw new FieldRangeError(`${name} takes a whole number that is exact, not ${value}`, { field: name })
    }
    return value === 0 ? undefined : Long.fromNumber(value)
  }
  const exact = BigInt(value)
  if (BigInt.asIntN(64, exact) !== exact) {
    throw new FieldRangeError(`${name} takes a whole number of 64 bits, not ${value}`, { field: name })
  }
  if (exact === 0n) return undefined
  return new Long(Number(BigInt.asIntN(32, exact)), Number(exact >> 32n))
}
