import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { utf8 } from '../bytes.ts'
import { AppError } from '../errors.ts'

/** `0x` + hex. */
export type Hex = `0x${string}`

export class InvalidPrivateKeyError extends AppError {
  override readonly name = 'InvalidPrivateKeyError'
  readonly code = 'credential.private_key_unusable'
  readonly status = 500
  override readonly fault = 'platform'
}

export class InvalidAddressError extends AppError {
  override readonly name = 'InvalidAddressError'
  readonly code = 'wallet.invalid_address'
  readonly status = 400
}

/** Whether the text is `0x` + 40 hex digits, in any case. */
export const isAddress = (text: string): text is Hex => /^0x[0-9a-fA-F]{40}$/.test(text)

/**
 * The address with the letter case of EIP-55, which makes typing errors visible.
 *
 * @throws {InvalidAddressError} not 0x + 40 hex digits
 */
export function checksumAddress(address: string): Hex {
  if (!isAddress(address)) {
    throw new InvalidAddressError(`address: expected 0x and 40 hex digits, given ${address.length} characters`)
  }
  const digits = address.slice(2).toLowerCase()
  const hash = bytesToHex(keccak_256(utf8(digits)))
  const cased = Array.from(digits, (digit, at) =>
    Number.parseInt(hash.charAt(at), 16) >= 8 ? digit.toUpperCase() : digit,
  )
  return `0x${cased.join('')}`
}

/**
 * The EIP-55 address of a private key (`0x` + 64 hex).
 *
 * @throws {InvalidPrivateKeyError} not such a key
 */
export const addressOfPrivateKey = (privateKey: string): Hex =>
  addressOfPublicKey(secp256k1.getPublicKey(privateKeyBytes(privateKey), false))

/**
 * Signs a 32-byte digest: r, s (lower half), v as 27 or 28, 65 bytes in all. Deterministic by RFC 6979.
 *
 * @throws {InvalidPrivateKeyError} not 0x + 64 hex of a number below the curve's order
 */
export function signDigest(digest: Uint8Array, privateKey: string): Hex {
  const signature = secp256k1.sign(digest, privateKeyBytes(privateKey), { prehash: false, format: 'recovered' })
  const [recovery = 0] = signature // the library puts it first, wallets put it last
  return `0x${bytesToHex(signature.subarray(1))}${(27 + recovery).toString(16)}`
}

/** The EIP-55 address that signed a digest; undefined unless the signature is 65 bytes of hex with v 27 or 28 and s in the lower half. */
export function recoverAddress(digest: Uint8Array, signature: string): Hex | undefined {
  if (!/^0x[0-9a-fA-F]{128}1[bBcC]$/.test(signature)) return undefined
  const bytes = hexToBytes(signature.slice(2))
  const recovered = new Uint8Array(65)
  recovered[0] = (bytes[64] ?? 0) - 27
  recovered.set(bytes.subarray(0, 64), 1)
  try {
    if (secp256k1.Signature.fromBytes(recovered, 'recovered').hasHighS()) return undefined
    const compressed = secp256k1.recoverPublicKey(recovered, digest, { prehash: false })
    return addressOfPublicKey(secp256k1.Point.fromBytes(compressed).toBytes(false))
  } catch {
    return undefined // r or s out of range, or no point of the curve
  }
}

const addressOfPublicKey = (uncompressed: Uint8Array): Hex =>
  checksumAddress(`0x${bytesToHex(keccak_256(uncompressed.subarray(1)).subarray(12))}`)

function privateKeyBytes(privateKey: string): Uint8Array {
  const bytes = /^0x[0-9a-fA-F]{64}$/.test(privateKey) ? hexToBytes(privateKey.slice(2)) : undefined
  if (!bytes || !secp256k1.utils.isValidSecretKey(bytes)) {
    throw new InvalidPrivateKeyError(
      'private_key: expected 0x and 64 hex digits of a number below the order of secp256k1',
    )
  }
  return bytes
}
