import { equalBytes, toBase64, utf8 } from '../bytes.ts'
import type { Clock } from '../clock.ts'
import { AppError } from '../errors.ts'
import type { Send } from '../http/send.ts'

/** An order-book API key with the wallet it belongs to. */
export type L2Credential = {
  /** `0x` + 40 hex of the signer that owns the key, in any case. */
  readonly address: string
  /** UUID. */
  readonly apiKey: string
  /** Base64 of the HMAC key in either alphabet, padding optional. */
  readonly secret: string
  readonly passphrase: string
}

export class UnusableL2SecretError extends AppError {
  override readonly name = 'UnusableL2SecretError'
  readonly code = 'credential.l2_secret_unusable'
  readonly status = 500
  override readonly fault = 'platform'
}

/** Header times may differ from the server's clock by this much: one header set serves every page of a listing. */
export const l2ToleranceSeconds = 600

export type L2Message = {
  /** Unix seconds in the very digits of the header. */
  readonly timestamp: string | number
  /** As sent: the message is case-sensitive. */
  readonly method: string
  /** Path only. A query is cut off, since no client signs it. */
  readonly path: string
  /** The exact bytes or text of the body; absent and empty are the same. */
  readonly body?: Uint8Array | string | null | undefined
}

/** The bytes that L2 signs: timestamp, method, path and body without separators. */
export function l2Message({ timestamp, method, path, body }: L2Message): Uint8Array<ArrayBuffer> {
  const head = utf8(`${timestamp}${method}${withoutQuery(path)}`)
  if (!body || body.length === 0) return head
  const tail = typeof body === 'string' ? utf8(body) : body
  const message = new Uint8Array(head.length + tail.length)
  message.set(head)
  message.set(tail, head.length)
  return message
}

/**
 * HMAC-SHA256 in URL-safe base64 with padding.
 *
 * @throws {UnusableL2SecretError} the secret is no base64 or empty
 */
export async function signL2(secret: string, message: L2Message): Promise<string> {
  const mac = await crypto.subtle.sign('HMAC', await hmacKey(secret), l2Message(message))
  return toBase64(new Uint8Array(mac)).replaceAll('+', '-').replaceAll('/', '_')
}

export type L2Headers = {
  readonly POLY_ADDRESS: string
  readonly POLY_SIGNATURE: string
  readonly POLY_TIMESTAMP: string
  readonly POLY_API_KEY: string
  readonly POLY_PASSPHRASE: string
}

/** The five headers of a request. */
export async function l2Headers(credential: L2Credential, message: L2Message): Promise<L2Headers> {
  return {
    POLY_ADDRESS: credential.address,
    POLY_SIGNATURE: await signL2(credential.secret, message),
    POLY_TIMESTAMP: String(message.timestamp),
    POLY_API_KEY: credential.apiKey,
    POLY_PASSPHRASE: credential.passphrase,
  }
}

export type L2Request = {
  readonly headers: Headers
  readonly method: string
  /** Bare path as the service knows it; a query is ignored. */
  readonly path: string
  readonly body?: Uint8Array | string | null | undefined
  /** Where the service is mounted for this caller, such as `/clob`: some clients sign the mounted path. */
  readonly mountPrefix?: string | null | undefined
}

/**
 * Whether a request carries valid L2 headers of the stored credential. Undefined (an unknown key) takes the same work
 * and is refused, so that answers tell nothing about which keys exist.
 */
export async function verifyL2(
  request: L2Request,
  stored: L2Credential | undefined,
  nowMs: number,
  toleranceSeconds: number = l2ToleranceSeconds,
): Promise<boolean> {
  const { headers } = request
  const credential = stored ?? nobody
  const timestamp = headers.get('poly_timestamp') ?? ''
  const mac = decodeMac(headers.get('poly_signature') ?? '')
  if (!mac || !isTimely(timestamp, nowMs, toleranceSeconds)) return false
  const isOwner = headers.get('poly_address')?.toLowerCase() === credential.address.toLowerCase()
  const isKey = headers.get('poly_api_key') === credential.apiKey
  const isPassphrase = equalBytes(utf8(headers.get('poly_passphrase') ?? ''), utf8(credential.passphrase))
  const isSigned = await isMacOf(mac, credential.secret, timestamp, request)
  return stored !== undefined && isOwner && isKey && isPassphrase && isSigned
}

/** Stands in for an unknown key; never verifies. */
const nobody: L2Credential = { address: '', apiKey: '', secret: 'AAAA', passphrase: '' }

async function isMacOf(
  mac: Uint8Array<ArrayBuffer>,
  secret: string,
  timestamp: string,
  { method, path, body, mountPrefix }: L2Request,
): Promise<boolean> {
  const key = await hmacKey(secret)
  const prefix = mountPrefix?.replace(/\/+$/, '') ?? ''
  for (const signedPath of prefix === '' ? [path] : [path, prefix + path]) {
    // `verify` of HMAC compares in constant time (W3C Web Cryptography, section 31.6.2 and its implementations).
    const message = l2Message({ timestamp, method, path: signedPath, body })
    if (await crypto.subtle.verify('HMAC', key, mac, message)) return true
  }
  return false
}

/** Whether the text is whole Unix seconds within the tolerance. */
export const isTimely = (timestamp: string, nowMs: number, toleranceSeconds: number): boolean =>
  /^\d{1,15}$/.test(timestamp) && Math.abs(Math.floor(nowMs / 1000) - Number(timestamp)) <= toleranceSeconds

/**
 * Sends with the five L2 headers of the credential in place of any that the request has. The body is read once and sent
 * as it came. `basePath` is the path of the upstream's base address, which is sent but not signed.
 */
export function withL2(send: Send, credential: L2Credential, clock: Clock, basePath = ''): Send {
  const base = basePath.replace(/\/+$/, '')
  return async (request) => {
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer())
    const signed = body === undefined ? new Request(request) : new Request(request, { body })
    const headers = await l2Headers(credential, {
      timestamp: Math.floor(clock() / 1000),
      method: request.method,
      path: pathBelow(base, new URL(request.url).pathname),
      body,
    })
    for (const [name, value] of Object.entries(headers)) signed.headers.set(name, value)
    signed.headers.delete('poly_nonce')
    return send(signed)
  }
}

const pathBelow = (base: string, path: string): string => {
  if (base === '') return path
  if (path === base) return '/'
  return path.startsWith(`${base}/`) ? path.slice(base.length) : path
}

const withoutQuery = (path: string): string => {
  const query = path.indexOf('?')
  return query < 0 ? path : path.slice(0, query)
}

/** 32 bytes in either alphabet, padding optional; the last digit's spare bits are zero, so one MAC has one spelling per alphabet. */
const macForm = /^[A-Za-z0-9+/_-]{42}[AEIMQUYcgkosw048]=?$/

const decodeMac = (text: string): Uint8Array<ArrayBuffer> | undefined =>
  macForm.test(text) ? decodeBase64(text) : undefined

/** Bytes of base64 in either alphabet; other characters are dropped, as the official clients do. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const digits = text
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replaceAll(/[^A-Za-z0-9+/=]/g, '')
  try {
    const decoded = atob(digits)
    return Uint8Array.from(decoded, (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

const maxCachedKeys = 256
const cachedKeys = new Map<string, Promise<CryptoKey>>()

/** Imported keys by secret, the oldest dropped first: an import costs more than the MAC itself. */
function hmacKey(secret: string): Promise<CryptoKey> {
  const cached = cachedKeys.get(secret)
  if (cached) return cached
  const bytes = decodeBase64(secret)
  if (!bytes || bytes.length === 0) {
    throw new UnusableL2SecretError('secret: expected base64 of at least one byte', { length: secret.length })
  }
  const imported = crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
  for (const oldest of cachedKeys.keys()) {
    if (cachedKeys.size < maxCachedKeys) break
    cachedKeys.delete(oldest)
  }
  cachedKeys.set(secret, imported)
  return imported
}
