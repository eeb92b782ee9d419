import { fromBase64, toBase64, utf8 } from '../bytes.ts'
import { AppError } from '../errors.ts'
import type { Send } from '../http/send.ts'

export type BasicCredential = { readonly accessKey: string; readonly secretKey: string }

export class UnusableBasicCredentialError extends AppError {
  override readonly name = 'UnusableBasicCredentialError'
  readonly code = 'credential.basic_unusable'
  readonly status = 500
  override readonly fault = 'platform'
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The value of an `Authorization` header by RFC 7617: UTF-8, then base64.
 *
 * @throws {UnusableBasicCredentialError} the access key is empty or holds a colon, so that no reader could split it
 */
export function basicHeader({ accessKey, secretKey }: BasicCredential): string {
  if (accessKey === '' || accessKey.includes(':')) {
    throw new UnusableBasicCredentialError(
      `access_key: expected a text without a colon, given ${accessKey === '' ? 'an empty text' : 'one with a colon'}`,
    )
  }
  return `Basic ${toBase64(utf8(`${accessKey}:${secretKey}`))}`
}

/**
 * Reads a Basic header: the scheme word in any case, one or more spaces, strict padded base64 of UTF-8, split at the
 * first colon with something before it. Undefined for anything else; the reasons are one to the caller.
 */
export function parseBasic(header: string | null | undefined): BasicCredential | undefined {
  const encoded = header && /^basic +(\S+)$/i.exec(header)?.[1]
  const bytes = encoded ? fromBase64(encoded) : undefined
  const text = bytes && decode(bytes)
  const colon = text?.indexOf(':') ?? -1
  if (text === undefined || colon < 1) return undefined
  return { accessKey: text.slice(0, colon), secretKey: text.slice(colon + 1) }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** Sends with a Basic header in place of whatever `Authorization` the request has. */
export function withBasic(send: Send, credential: BasicCredential): Send {
  const value = basicHeader(credential)
  return (request) => {
    const signed = new Request(request)
    signed.headers.set('authorization', value)
    return send(signed)
  }
}
