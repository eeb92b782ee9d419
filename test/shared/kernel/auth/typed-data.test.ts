import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  domainSeparator,
  encodeType,
  hashStruct,
  TypedDataError,
  typedDataDigest,
} from '../../../../shared/kernel/auth/typed-data.ts'
import { recoverAddress, signDigest } from '../../../../shared/kernel/auth/wallet.ts'
import { toHex } from '../../../../shared/kernel/ids.ts'
import orders from '../../../vectors/clob-orders.json' with { type: 'json' }

// The example of https://eips.ethereum.org/EIPS/eip-712
const structs = {
  Person: [
    { name: 'name', type: 'string' },
    { name: 'wallet', type: 'address' },
  ],
  Mail: [
    { name: 'from', type: 'Person' },
    { name: 'to', type: 'Person' },
    { name: 'contents', type: 'string' },
  ],
}
const mail = {
  from: { name: 'Cow', wallet: '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826' },
  to: { name: 'Bob', wallet: '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB' },
  contents: 'Hello, Bob!',
}
const domain = {
  name: 'Ether Mail',
  version: '1',
  chainId: 1,
  verifyingContract: '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC',
}

describe('the example of EIP-712', () => {
  it('encodes the type with the types it names', () => {
    expect(encodeType(structs, 'Mail')).toBe(
      'Mail(Person from,Person to,string contents)Person(string name,address wallet)',
    )
  })

  it('gives the struct hash, the domain separator and the digest of the standard', () => {
    const structHash = hashStruct(structs, 'Mail', mail)
    const separator = domainSeparator(domain)
    expect(toHex(structHash)).toBe('c52c0ee5d84264471806290a3f2c4cecfc5490626bf912d01f240d7a274b371e')
    expect(toHex(separator)).toBe('f2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f')
    const digest = typedDataDigest(separator, structHash)
    expect(toHex(digest)).toBe('be609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2')
    // The private key of the example is keccak256("cow").
    const cow = '0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4'
    expect(recoverAddress(digest, signDigest(digest, cow))).toBe(mail.from.wallet)
  })
})

describe('orders of the exchange, as another user of typed data', () => {
  const order = ['salt', 'tokenId', 'makerAmount', 'takerAmount', 'expiration', 'nonce', 'feeRateBps']
  const fields = [
    { name: 'salt', type: 'uint256' },
    ...['maker', 'signer', 'taker'].map((name) => ({ name, type: 'address' })),
    ...order.slice(1).map((name) => ({ name, type: 'uint256' })),
    { name: 'side', type: 'uint8' },
    { name: 'signatureType', type: 'uint8' },
  ]
  type OrderCase = { id: string; expected: { order: Record<string, string | number>; struct_hash: string } }
  const cases = (orders.cases as unknown as (OrderCase & { kind: string })[]).filter(
    ({ kind, expected }) => kind === 'limit_order' && expected.struct_hash !== undefined,
  )

  it('hashes every limit order as the official client does', () => {
    expect(cases.length).toBeGreaterThan(20)
    for (const { id, expected } of cases) {
      const { order: wire } = expected
      const value = {
        ...wire,
        ...Object.fromEntries(order.map((name) => [name, BigInt(wire[name] as string | number)])),
        side: wire.side === 'BUY' || wire.side === 0 ? 0 : 1,
      }
      expect(`0x${toHex(hashStruct({ Order: fields }, 'Order', value))}`, id).toBe(expected.struct_hash)
    }
  })
})

describe('hashStruct', () => {
  const hash = (type: string, value: unknown) => toHex(hashStruct({ S: [{ name: 'x', type }] }, 'S', { x: value }))

  it('encodes arrays as the hash of their items', () => {
    expect(hash('uint8[]', [1, 2])).not.toBe(hash('uint8[]', [2, 1]))
    expect(hash('uint8[2]', [1, 2])).not.toBe(hash('uint8[]', [1, 2]))
    const group = { Group: [{ name: 'members', type: 'Person[]' }], ...structs }
    expect(encodeType(group, 'Group')).toBe('Group(Person[] members)Person(string name,address wallet)')
    expect(toHex(hashStruct(group, 'Group', { members: [mail.from, mail.to] }))).toHaveLength(64)
  })

  it('takes bytes and their hex alike', () => {
    expect(hash('bytes', Uint8Array.of(1, 255))).toBe(hash('bytes', '0x01ff'))
    expect(hash('bytes4', '0x01020304')).not.toBe(hash('bytes', '0x01020304'))
  })

  it('tells true from false, and a negative integer from its unsigned twin', () => {
    expect(hash('bool', true)).not.toBe(hash('bool', false))
    expect(hash('int8', -1)).not.toBe(hash('int8', 1))
  })

  it('takes an integer exactly when it fits', () => {
    const bits = fc.integer({ min: 1, max: 32 }).map((bytes) => bytes * 8)
    fc.assert(
      fc.property(bits, fc.bigInt({ min: -(2n ** 257n), max: 2n ** 257n }), fc.boolean(), (bits, value, unsigned) => {
        const low = unsigned ? 0n : -(2n ** BigInt(bits - 1))
        const high = unsigned ? 2n ** BigInt(bits) : 2n ** BigInt(bits - 1)
        const encode = () => hash(`${unsigned ? 'u' : ''}int${bits}`, value)
        if (value >= low && value < high) expect(encode()).toHaveLength(64)
        else expect(encode).toThrow(TypedDataError)
      }),
    )
  })

  it.each<[string, unknown]>([
    ['uint256', undefined],
    ['uint256', 1.5],
    ['uint256', Number.MAX_SAFE_INTEGER + 1],
    ['uint256', '1'],
    ['uint8', 256],
    ['uint8', -1],
    ['int8', 128],
    ['uint7', 1],
    ['uint264', 1],
    ['address', '0x12'],
    ['address', undefined],
    ['bytes32', '0x01'],
    ['bytes33', '0x01'],
    ['bytes', '0x0'],
    ['bytes', 'text'],
    ['bool', 1],
    ['string', 1],
    ['uint8[]', 1],
    ['uint8[2]', [1]],
    ['uint8[]', [1, 'two']],
    ['Unknown', {}],
  ])('refuses a %s of %j and names the member', (type, value) => {
    expect(() => hash(type, value)).toThrow(TypedDataError)
    expect(() => hash(type, value)).toThrow(/^x(\[1\])?: expected /)
  })

  it('refuses a struct that is no object, and a type that is not defined', () => {
    expect(() => hashStruct(structs, 'Mail', { ...mail, to: 'Bob' })).toThrow('to: expected a Person, given "Bob"')
    expect(() => hashStruct(structs, 'Letter', {})).toThrow(TypedDataError)
  })
})
