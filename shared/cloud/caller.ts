import { equalBytes } from '../kernel/bytes.ts'
import { toTimestamp } from '../kernel/clock.ts'
import type { Operation } from '../kernel/contract/operation.ts'
import { ForbiddenError, type ForbiddenReason } from './errors.ts'
import type { Plan } from './plan.ts'
import type { AuthInfo } from './record.ts'

export const roles = ['read_only', 'operator', 'admin'] as const
export type Role = (typeof roles)[number]

/** A key pair as it is kept: of the secret only its SHA-256 digest. */
export type StoredKey = {
  readonly accessKey: string
  readonly secretDigest: Uint8Array
  readonly name: string
  readonly role: Role
  readonly createdAtMs: number
  readonly revokedAtMs: number | null
  readonly expiresAtMs: number | null
  readonly project: { readonly id: string; readonly name: string; readonly plan: Plan }
  readonly issuer: { readonly id: string; readonly name: string; readonly email: string }
}

/** Who calls: a key that was accepted. */
export type Caller = Omit<StoredKey, 'secretDigest' | 'revokedAtMs' | 'expiresAtMs'>

/** Compared with when the access key is unknown, so that both refusals take the same time. No text has this digest. */
const noDigest = new Uint8Array(32)

/**
 * The caller behind a key pair, undefined when it is refused: unknown, wrong secret, revoked or expired (`now ≥ expiry`).
 *
 * @param stored what is kept under the access key, undefined when nothing is
 * @param secretDigest SHA-256 of the secret that was sent
 */
export function authenticate(
  stored: StoredKey | undefined,
  secretDigest: Uint8Array,
  nowMs: number,
): Caller | undefined {
  const isSecret = equalBytes(stored?.secretDigest ?? noDigest, secretDigest)
  if (!stored || !isSecret) return undefined
  const { accessKey, name, role, createdAtMs, revokedAtMs, expiresAtMs, project, issuer } = stored
  if (revokedAtMs !== null || (expiresAtMs !== null && nowMs >= expiresAtMs)) return undefined
  return { accessKey, name, role, createdAtMs, project, issuer }
}

/** Why a role may not call an operation, undefined when it may. Reads (and calls without effect) are for all, deletes for admins. */
export function refusal(role: Role, { kind, method }: Operation): ForbiddenReason | undefined {
  if (kind === 'read' || kind === 'forget') return undefined
  if (role === 'read_only') return 'READ_ONLY_KEY'
  return method === 'DELETE' && role !== 'admin' ? 'INSUFFICIENT_ROLE' : undefined
}

/**
 * Checks a caller against the operation and the project in its path (undefined when the path names none).
 *
 * @throws {ForbiddenError} `WRONG_PROJECT` first, whether that project exists or not; then `READ_ONLY_KEY`, `INSUFFICIENT_ROLE`
 */
export function authorize(caller: Caller, operation: Operation, projectId: string | undefined): void {
  if (projectId !== undefined && projectId !== caller.project.id) {
    throw new ForbiddenError('WRONG_PROJECT', `this key opens the project ${caller.project.id} and no other`)
  }
  const reason = refusal(caller.role, operation)
  if (reason)
    throw new ForbiddenError(reason, `a key with the role ${caller.role} may not do this: ${operation.summary}`)
}

/** The answer to "who am I" for a key. */
export function toAuthInfo({ accessKey, name, createdAtMs, project, issuer }: Caller): AuthInfo {
  const key = {
    public_key: accessKey,
    name,
    created: toTimestamp(createdAtMs),
    project: { id: project.id, name: project.name, plan_type: project.plan },
    issuing_user: { id: issuer.id, name: issuer.name, email: issuer.email },
  }
  return { type: 'apiKey', api_key: key, apiKey: key }
}
