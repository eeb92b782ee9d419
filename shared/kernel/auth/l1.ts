import type { Clock } from '../clock.ts'
import { AppError } from '../errors.ts'
import type { Send } from '../http/send.ts'
import { isTimely, l2ToleranceSeconds } from './l2.ts'
import { domainSeparator, hashStruct, type TypedStructs, typedDataDigest } from './typed-data.ts'
import { addressOfPrivateKey, type Hex, isAddress, recoverAddress, signDigest } from './wallet.ts'

/** What the wallet attests: control of an address, at a time, for the API key of a nonce. */
export type ClobAuth = {
  readonly address: string
  /** Unix seconds; the very text of the header is what is signed. */
  readonly timestamp: string | number
  /** uint256. */
  readonly nonce: number | bigint
}

export type Wallet = {
  /** `0x` + 64 hex. */
  readonly privateKey: string
  /** 137 main, 80002 test. */
  readonly chainId: number
}

const structs: TypedStructs = {
  ClobAuth: [
    { name: 'address', type: 'address' },
    { name: 'timestamp', type: 'string' },
    { name: 'nonce', type: 'uint256' },
    { name: 'message', type: 'string' },
  ],
}

const message = 'This message attests that I control the given wallet'

/** Domain separators by chain. A process meets one or two chains, so the map stays small. */
const separators = new Map<number, Uint8Array>()

/** The hash of the domain `ClobAuthDomain`, version 1, of a chain. */
export function clobAuthDomainSeparator(chainId: number): Uint8Array {
  const known = separators.get(chainId)
  if (known) return known
  const separator = domainSeparator({ name: 'ClobAuthDomain', version: '1', chainId })
  separators.set(chainId, separator)
  return separator
}

export const clobAuthStructHash = ({ address, timestamp, nonce }: ClobAuth): Uint8Array =>
  hashStruct(structs, 'ClobAuth', { address, timestamp: String(timestamp), nonce, message })

/** The EIP-712 digest that an L1 header carries a signature of. */
export const clobAuthDigest = (auth: ClobAuth, chainId: number): Uint8Array =>
  typedDataDigest(clobAuthDomainSeparator(chainId), clobAuthStructHash(auth))

/** The wallet's signature, 65 bytes of hex; the address signed is the wallet's own. */
export const signL1 = (wallet: Wallet, timestamp: string | number, nonce: number | bigint): Hex =>
  l1Headers(wallet, timestamp, nonce).POLY_SIGNATURE

/** The address that signed; undefined when the signature is malformed. */
export const recoverL1 = (auth: ClobAuth, chainId: number, signature: string): Hex | undefined =>
  recoverAddress(clobAuthDigest(auth, chainId), signature)

export type L1Headers = {
  readonly POLY_ADDRESS: Hex
  readonly POLY_SIGNATURE: Hex
  readonly POLY_TIMESTAMP: string
  readonly POLY_NONCE: string
}

/** The four headers that create or derive an API key. */
export function l1Headers(wallet: Wallet, timestamp: string | number, nonce: number | bigint): L1Headers {
  const address = addressOfPrivateKey(wallet.privateKey)
  return {
    POLY_ADDRESS: address,
    POLY_SIGNATURE: signDigest(clobAuthDigest({ address, timestamp, nonce }, wallet.chainId), wallet.privateKey),
    POLY_TIMESTAMP: String(timestamp),
    POLY_NONCE: String(nonce),
  }
}

/** Who sent a request with valid L1 headers. */
export type L1Caller = { readonly address: Hex; readonly nonce: bigint }

/** The caller that the L1 headers prove, or undefined: one missing, malformed, out of time, or signed by another wallet or for another chain. */
export function verifyL1(
  headers: Headers,
  chainId: number,
  nowMs: number,
  toleranceSeconds: number = l2ToleranceSeconds,
): L1Caller | undefined {
  const address = headers.get('poly_address') ?? ''
  const timestamp = headers.get('poly_timestamp') ?? ''
  const nonce = parseUint256(headers.get('poly_nonce') ?? '')
  if (!isAddress(address) || !isTimely(timestamp, nowMs, toleranceSeconds) || nonce === undefined) return undefined
  const signer = recoverL1({ address, timestamp, nonce }, chainId, headers.get('poly_signature') ?? '')
  return signer?.toLowerCase() === address.toLowerCase() ? { address: signer as Hex, nonce } : undefined
}

function parseUint256(text: string): bigint | undefined {
  if (!/^\d{1,78}$/.test(text)) return undefined
  const value = BigInt(text)
  return value < 1n << 256n ? value : undefined
}

export class InvalidNonceError extends AppError {
  override readonly name = 'InvalidNonceError'
  readonly code = 'credential.l1_nonce'
  readonly status = 400
}

/**
 * Sends with the four L1 headers of the wallet in place of any that the request has.
 *
 * @param nonce which of the wallet's API keys is meant; a function reads it from the request
 * @throws {InvalidNonceError} the nonce is no uint256
 */
export function withL1(
  send: Send,
  wallet: Wallet,
  clock: Clock,
  nonce: number | bigint | ((request: Request) => number | bigint) = 0,
): Send {
  return async (request) => {
    const wanted = typeof nonce === 'function' ? nonce(request) : nonce
    if (parseUint256(String(wanted)) === undefined) {
      throw new InvalidNonceError(`nonce: expected a whole number from 0 to 2^256 - 1, given ${wanted}`)
    }
    const signed = new Request(request)
    for (const [name, value] of Object.entries(l1Headers(wallet, Math.floor(clock() / 1000), wanted))) {
      signed.headers.set(name, value)
    }
    signed.headers.delete('poly_api_key')
    signed.headers.delete('poly_passphrase')
    return send(signed)
  }
}
