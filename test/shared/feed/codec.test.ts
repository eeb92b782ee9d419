import fc from 'fast-check'
import protobuf from 'protobufjs/minimal.js'
import { describe, expect, it, vi } from 'vitest'
import {
  decode,
  decodeValues,
  encode,
  FieldRangeError,
  fromBase64Strict,
  toValues,
} from '../../../shared/feed/codec.ts'
import { type FieldName, fields, type PricingData } from '../../../shared/feed/fields.ts'
import { rows } from '../../support/rows.ts'
import { cases, runCase } from '../../support/vectors/pricing-data.ts'
import file from '../../vectors/pricing-data.json' with { type: 'json' }

const anyValue: Record<string, fc.Arbitrary<string | number | bigint>> = {
  string: fc.string({ unit: 'binary', maxLength: 40 }).filter((text) => text.isWellFormed()),
  float: fc.float({ noNaN: false }),
  double: fc.double({ noNaN: false }),
  int32: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  sint64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
}

const anyMessage = fc
  .record(Object.fromEntries(fields.map(({ name, type }) => [name, anyValue[type]])) as never, { requiredKeys: [] })
  .map((message) => {
    const present = Object.entries(message).filter(([, value]) => !isDefault(value))
    return Object.fromEntries(present) as PricingData
  })

const isDefault = (value: unknown): boolean => value === '' || value === 0n || Object.is(value, 0) || value === 0

const keyBytes = (number: number, wireType: number): string => {
  const tag = (number << 3) | wireType
  return tag < 128 ? byte(tag) : byte((tag & 127) | 128) + byte(tag >> 7)
}
const byte = (value: number) => value.toString(16).padStart(2, '0')
const hex = (bytes: Uint8Array) => Array.from(bytes, byte).join('')
const wireTypes = { string: 2, float: 5, double: 1, int32: 0, sint64: 0 } as const

describe('the vectors', () => {
  it.each(cases(file as never).map((vector) => [vector.name, vector] as const))('%s', (_, vector) => {
    if (vector.kind === 'valid' && vector.name === 'all fields') rows('feed.message.pricing-data')
    const { expected, got } = runCase(vector)
    expect(got).toEqual(expected)
  })

  it('writes no default, reads an absent field as its default, and skips unknown fields', () => {
    rows('feed.message.proto3')
    expect(encode({ id: '', price: 0, time: 0n, market_hours: 0, market_cap: 0 })).toHaveLength(0)
    expect(decode(new Uint8Array())).toEqual({})
    const unknown = [0xa0, 0x06, 0x01, 0x15, 0, 0, 0x80, 0x3f] // number 100, then price 1
    expect(decode(Uint8Array.from(unknown))).toEqual({ price: 1 })
  })
})

describe('one field', () => {
  const samples: Record<string, readonly (string | number | bigint)[]> = {
    string: ['ORBT', 'Zürich ✓', '\ufeffx', '\0'],
    float: [1.5, -2.25, Infinity, -0],
    double: [120450000.5, -1e300, 5e-324],
    int32: [8, 1000, -1, -(2 ** 31)],
    sint64: [1n, -1n, 1767623400000n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)],
  }

  it.each(fields.map((field) => [field.name, field] as const))(
    '%s starts with its key and comes back',
    (name, field) => {
      rows(`feed.field.${name}`)
      for (const value of samples[field.type] ?? []) {
        const bytes = encode({ [name]: value } as PricingData)
        const key = keyBytes(field.number, wireTypes[field.type])
        expect(hex(bytes).slice(0, key.length)).toBe(key)
        expect(hex(bytes).slice(key.length)).toBe(payload(field.type, value))
        expect(decode(bytes)).toEqual({ [name]: value })
      }
    },
  )

  /** The value's bytes, written from the documentation of the wire format and not with the codec. */
  function payload(type: string, value: string | number | bigint): string {
    if (type === 'string') {
      const bytes = new TextEncoder().encode(String(value))
      return hex(Uint8Array.of(bytes.length, ...bytes))
    }
    const view = new DataView(new ArrayBuffer(8))
    if (type === 'float') view.setFloat32(0, Number(value), true)
    if (type === 'double') view.setFloat64(0, Number(value), true)
    if (type === 'float' || type === 'double') return hex(new Uint8Array(view.buffer, 0, type === 'float' ? 4 : 8))
    const signed = BigInt(value)
    let rest = BigInt.asUintN(64, type === 'int32' ? signed : (signed << 1n) ^ (signed >> 63n))
    let text = ''
    for (; rest > 127n; rest >>= 7n) text += byte(Number(rest & 127n) | 128)
    return text + byte(Number(rest))
  }
})

describe('encode and decode', () => {
  it('give back any message', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        expect(decode(encode(message))).toEqual(message)
      }),
    )
  })

  it('give back any message outside the codec too, with numbers where those are exact', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const values = toValues(message)
        expect(decodeValues(encode(values))).toEqual(values)
        for (const [name, value] of Object.entries(message)) {
          if (typeof value === 'bigint') expect(BigInt(values[name as FieldName] as bigint)).toBe(value)
        }
      }),
    )
  })

  it('never throw anything but their own errors for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          const message = decode(bytes)
          expect(decode(encode(message))).toEqual(message)
        } catch (error) {
          expect((error as Error).name).toBe('BadMessageError')
        }
      }),
    )
  })

  it('refuse integers that do not fit', () => {
    expect(() => encode({ day_volume: 2n ** 63n })).toThrow(FieldRangeError)
    expect(() => encode({ day_volume: 2 ** 53 })).toThrow(FieldRangeError)
    expect(() => encode({ quote_type: 2 ** 31 })).toThrow(FieldRangeError)
    expect(() => encode({ quote_type: 1.5 })).toThrow(FieldRangeError)
  })

  it('replace half of a surrogate pair, which UTF-8 cannot hold', () => {
    expect(decode(encode({ id: 'A\ud800' }))).toEqual({ id: 'A\ufffd' })
  })
})

describe('fromBase64Strict', () => {
  it.each(['QQ', 'QQ=', 'Q Q=', 'QQ==\n', 'QQ==QQ==', '-_==', 'Q==='])('refuses %j', (text) => {
    expect(() => fromBase64Strict(text)).toThrow('expected base64')
  })
})

describe('protobufjs', () => {
  it('writes and reads every message', () => {
    rows('card.stack.protobufjs')
    const write = vi.spyOn(protobuf.Writer.prototype, 'finish')
    const read = vi.spyOn(protobuf.Reader.prototype, 'float')
    const bytes = encode({ id: 'ORBT', price: 48.5, time: 1767623408000n } as PricingData)
    expect(decode(bytes)).toMatchObject({ id: 'ORBT', price: 48.5, time: 1767623408000n })
    expect(write).toHaveBeenCalledOnce()
    expect(read).toHaveBeenCalled()
    vi.restoreAllMocks()
  })
})
