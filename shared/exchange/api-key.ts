import { toBase64 } from '../kernel/bytes.ts'
import type { RandomBytes } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { randomUuid, toHex } from '../kernel/ids.ts'

/** An API key as the venue keeps it. One stands for an address and a nonce. */
export type ApiKey = {
  /** Lower case. */
  readonly address: string
  /** uint256. */
  readonly nonce: bigint
  /** UUID. */
  readonly apiKey: string
  /** URL-safe base64 with padding of 32 bytes. */
  readonly secret: string
  /** 64 lower-case hex digits. */
  readonly passphrase: string
}

/** What the owner of a key is told, once at creation and at each derivation. */
export type ApiKeyAnswer = { readonly apiKey: string; readonly secret: string; readonly passphrase: string }

/** A request's wallet and nonce, as its L1 headers prove them. */
export type KeyOwner = { readonly address: string; readonly nonce: bigint }

/** The official clients create first and derive on this error, so a second creation never answers the first key. */
export class ApiKeyExistsError extends AppError {
  override readonly name = 'ApiKeyExistsError'
  readonly code = 'api_key.exists'
  readonly status = 400

  constructor() {
    super('Could not create api key')
  }
}

/** Never created, or deleted. */
export class NoApiKeyError extends AppError {
  override readonly name = 'NoApiKeyError'
  readonly code = 'api_key.none'
  readonly status = 400

  constructor() {
    super('Could not derive api key!')
  }
}

/** A new key of an owner who has none for this nonce; undefined when there is one. Creation after a deletion gives another key. */
export function createApiKey(
  owner: KeyOwner,
  existing: ApiKey | undefined,
  randomBytes: RandomBytes,
): ApiKey | undefined {
  if (existing) return undefined
  return {
    address: owner.address.toLowerCase(),
    nonce: owner.nonce,
    apiKey: randomUuid(randomBytes),
    secret: toBase64(randomBytes(32)).replaceAll('+', '-').replaceAll('/', '_'),
    passphrase: toHex(randomBytes(32)),
  }
}

export const apiKeyAnswer = ({ apiKey, secret, passphrase }: ApiKey): ApiKeyAnswer => ({ apiKey, secret, passphrase })
