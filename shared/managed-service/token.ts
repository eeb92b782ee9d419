import { isInRanges } from './address.ts'
import type { StoredUser } from './user.ts'

/** A token as it is kept, under the SHA-256 digest of its text. */
export type StoredToken = {
  readonly userId: string
  readonly issuedAtMs: number
  readonly expiresAtMs: number | null
  /** CIDR blocks or addresses from which the token works; null = from everywhere. */
  readonly ipAllowlist: readonly string[] | null
}

/** A token that was found, with its user. */
export type KnownToken = { readonly token: StoredToken; readonly user: StoredUser }

/** Whether a token still holds: not expired (`now ≥ expiry`), not issued before the user's token_validity_begin. */
export function isValid({ token, user }: KnownToken, nowMs: number): boolean {
  if (token.expiresAtMs !== null && nowMs >= token.expiresAtMs) return false
  return user.token_validity_begin === null || token.issuedAtMs >= Date.parse(user.token_validity_begin)
}

/**
 * Why a valid token may not be used now, undefined when it may.
 *
 * @param clientAddress the caller's address; undefined when unknown, which no allow list takes
 */
export function denial({ token, user }: KnownToken, clientAddress: string | undefined): string | undefined {
  if (user.state !== 'active') return 'the user of this token is not active'
  if (token.ipAllowlist === null) return undefined
  return clientAddress !== undefined && isInRanges(clientAddress, token.ipAllowlist)
    ? undefined
    : 'this token may not be used from this address'
}

/** The scheme word of the Authorization header (seed row mst.auth.svcv1-header). */
export const scheme = 'svcv1'

/** The scheme words the sandbox takes: its own, and those of a comma list. The official client knows only `aivenv1`. */
export const acceptedSchemes = (aliases = 'aivenv1'): readonly string[] => [
  scheme,
  ...aliases
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== ''),
]
