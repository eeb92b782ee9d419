import { AppError } from '../errors.ts'
import type { Send } from '../http/send.ts'

export type TokenCredential = {
  /** The word before the token, such as `svcv1`. */
  readonly scheme: string
  readonly token: string
}

export class UnusableTokenError extends AppError {
  override readonly name = 'UnusableTokenError'
  readonly code = 'credential.token_unusable'
  readonly status = 500
  override readonly fault = 'platform'
}

/** RFC 9110, section 5.6.2: the characters of an authentication scheme. */
const schemeForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/**
 * The value of an `Authorization` header: scheme, one space, token.
 *
 * @throws {UnusableTokenError} the scheme is not one word, or the token is empty or not visible ASCII
 */
export function tokenHeader({ scheme, token }: TokenCredential): string {
  if (!schemeForm.test(scheme)) throw new UnusableTokenError('scheme: expected one word, such as svcv1', { scheme })
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new UnusableTokenError('token: expected one or more visible ASCII characters without white space', {
      length: token.length,
    })
  }
  return `${scheme} ${token}`
}

/** The token of `<scheme> <token>` (one space, no other white space), when the scheme is one of the accepted words in any case. */
export function parseToken(header: string | null | undefined, acceptedSchemes: readonly string[]): string | undefined {
  const match = header ? /^(\S+) (\S+)$/.exec(header) : null
  const scheme = match?.[1]?.toLowerCase()
  return acceptedSchemes.some((accepted) => accepted.toLowerCase() === scheme) ? match?.[2] : undefined
}

/** Sends with a token header in place of whatever `Authorization` the request has. */
export function withToken(send: Send, credential: TokenCredential): Send {
  const value = tokenHeader(credential)
  return (request) => {
    const signed = new Request(request)
    signed.headers.set('authorization', value)
    return send(signed)
  }
}
