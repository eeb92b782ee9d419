import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addressOfPrivateKey,
  checksumAddress,
  InvalidAddressError,
  InvalidPrivateKeyError,
  isAddress,
  recoverAddress,
  signDigest,
} from '../../../../shared/kernel/auth/wallet.ts'

const privateKey = `0x${'11'.repeat(32)}`
const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const digest = keccak_256(new TextEncoder().encode('a message'))

describe('checksumAddress', () => {
  // The examples of https://eips.ethereum.org/EIPS/eip-55
  it.each([
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
    '0xde709f2102306220921060314715629080e2fb77',
    '0x27b1fdb04752bbc536007a920d24acb045561c26',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  ])('gives %s its letter case', (address) => {
    expect(checksumAddress(address.toLowerCase())).toBe(address)
    expect(checksumAddress(`0x${address.slice(2).toUpperCase()}`)).toBe(address)
  })

  it.each([
    '',
    '0x',
    '0x12',
    `${'a'.repeat(40)}`,
    `0x${'g'.repeat(40)}`,
    `0x${'a'.repeat(41)}`,
    `0x${'a'.repeat(40)}\n`,
  ])('refuses %j', (text) => {
    expect(isAddress(text)).toBe(false)
    expect(() => checksumAddress(text)).toThrow(InvalidAddressError)
  })
})

describe('addressOfPrivateKey', () => {
  it('gives the first test account of Hardhat', () => {
    expect(addressOfPrivateKey('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')).toBe(
      '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    )
  })

  it.each([
    ['zero', `0x${'00'.repeat(32)}`],
    ['the order of the curve', `0x${curveOrder.toString(16)}`],
    ['31 bytes', `0x${'11'.repeat(31)}`],
    ['no prefix', '11'.repeat(32)],
    ['no hex', `0x${'zz'.repeat(32)}`],
  ])('refuses %s, without naming it', (_, key) => {
    expect(() => addressOfPrivateKey(key)).toThrow(InvalidPrivateKeyError)
    expect(() => addressOfPrivateKey(key)).not.toThrow(key)
  })
})

describe('recoverAddress', () => {
  const signature = signDigest(digest, privateKey)
  const address = addressOfPrivateKey(privateKey)

  it('gives the signer back, for any digest and key', () => {
    const key = fc.bigInt(1n, curveOrder - 1n).map((value) => `0x${value.toString(16).padStart(64, '0')}`)
    fc.assert(
      fc.property(key, fc.uint8Array({ minLength: 32, maxLength: 32 }), (key, digest) => {
        expect(recoverAddress(digest, signDigest(digest, key))).toBe(addressOfPrivateKey(key))
      }),
      { numRuns: 25 },
    )
  })

  it('takes hex digits of either case', () => {
    expect(recoverAddress(digest, `0x${signature.slice(2).toUpperCase()}`)).toBe(address)
  })

  it('refuses the twin in the upper half, which says the same with other bytes', () => {
    const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), signature.slice(130)]
    const twin = (curveOrder - BigInt(`0x${s}`)).toString(16).padStart(64, '0')
    expect(recoverAddress(digest, `0x${r}${twin}${v === '1b' ? '1c' : '1b'}`)).toBeUndefined()
  })

  it.each([
    ['v 0', `${signature.slice(0, 130)}00`.padEnd(132, '0')],
    ['v 29', `${signature.slice(0, -2)}1d`],
    ['no v', signature.slice(0, -2)],
    ['a byte too many', `${signature}00`],
    ['no prefix', signature.slice(2)],
    ['an empty text', ''],
    ['r of zero', `0x${'00'.repeat(32)}${signature.slice(66)}`],
    ['s of zero', `${signature.slice(0, 66)}${'00'.repeat(32)}${signature.slice(-2)}`],
    ['r above the order', `0x${'ff'.repeat(32)}${signature.slice(66)}`],
    ['no hex', `0x${'zz'.repeat(64)}1b`],
  ])('refuses %s', (_, text) => {
    expect(recoverAddress(digest, text)).toBeUndefined()
  })
})
