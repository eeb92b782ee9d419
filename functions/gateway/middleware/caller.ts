import type { Context } from 'hono'
import { parseBasic } from '../../../shared/kernel/auth/basic.ts'
import { type Key, looksLikeKey, parseBasicKey, parseKey } from '../../../shared/kernel/auth/key.ts'
import { allows, MissingScopeError, type Scope } from '../../../shared/kernel/auth/scope.ts'
import { AppError } from '../../../shared/kernel/errors.ts'
import type { KeyRecord } from '../../../shared/store/keys.ts'
import type { Caller, GatewayEnv } from '../app-env.ts'
import { configOf } from '../env.ts'
import { verifiedKey } from '../verified-keys.ts'

export class AuthRequiredError extends AppError {
  override readonly name = 'AuthRequiredError'
  readonly code = 'key.auth_required'
  readonly status = 401

  constructor() {
    super('a Tidegate key is needed: send it as "Authorization: Bearer tdg_…"')
  }
}

export class AuthFailedError extends AppError {
  override readonly name = 'AuthFailedError'
  readonly code = 'key.auth_failed'
  readonly status = 401

  constructor() {
    super('the credentials are not valid') // one text for wrong, revoked and expired: no oracle
  }
}

/**
 * What the caller showed: a Tidegate key, nothing, or credentials that are meant for the upstream (`foreign`).
 * How each mount reads the `Authorization` header beyond Bearer differs, so it gives the reader.
 */
export type Shown = { readonly key: Key } | 'nothing' | 'foreign' | 'wrong'

export type ReadCredential = (headers: Headers) => Shown

/** A Tidegate key as Bearer token; any other scheme is wrong. */
export const readBearer: ReadCredential = (headers) => {
  const header = headers.get('authorization')
  if (header === null) return 'nothing'
  const [, text] = /^bearer +(\S+)$/i.exec(header) ?? []
  return shownKey(text === undefined ? undefined : parseKey(text))
}

/** Bearer, or HTTP Basic: the user of a Tidegate key is `tdg_<id>`, any other pair is the upstream's. */
export const readBasic: ReadCredential = (headers) => {
  const pair = parseBasic(headers.get('authorization'))
  if (!pair) return readBearer(headers)
  return looksLikeKey(pair.accessKey) ? shownKey(parseBasicKey(pair.accessKey, pair.secretKey)) : 'foreign'
}

/** Bearer, or a token scheme of the managed service; a token without our prefix is the upstream's. */
export const readToken =
  (schemes: readonly string[]): ReadCredential =>
  (headers) => {
    const [, scheme = '', token = ''] = /^(\S+) (\S+)$/.exec(headers.get('authorization') ?? '') ?? []
    if (!schemes.includes(scheme.toLowerCase())) return readBearer(headers)
    return looksLikeKey(token) ? shownKey(parseKey(token)) : 'foreign'
  }

/** Bearer, or the caller's own signed headers of the order-book service; both at once is wrong. */
export const readSigned: ReadCredential = (headers) => {
  const shown = readBearer(headers)
  if (!headers.has('poly_address')) return shown
  return shown === 'nothing' ? 'foreign' : 'wrong'
}

const shownKey = (key: Key | undefined): Shown => (key ? { key } : 'wrong')

/**
 * Finds out who calls and puts it into `c.var.caller`. Answers `key`, `anonymous` (nothing shown), or `foreign`.
 *
 * @throws {AuthFailedError} a credential was shown and is wrong, revoked, expired or not for this origin
 */
export async function identify(c: Context<GatewayEnv>, read: ReadCredential): Promise<'key' | 'anonymous' | 'foreign'> {
  const shown = read(c.req.raw.headers)
  if (shown === 'nothing') return 'anonymous'
  if (shown === 'foreign') return 'foreign'
  if (shown === 'wrong') throw new AuthFailedError()
  const record = await verifiedKey(c.env.DATABASE_URL, shown.key, Date.now())
  if (!record || !mayComeFrom(record, c.req.raw.headers)) throw new AuthFailedError()
  c.set('caller', { keyId: record.id, name: record.name, scopes: record.scopes, limit: record.limit })
  return 'key'
}

/** A key bound to origins is good only from a page of one of them; one bound to addresses not where the address is unknown. */
function mayComeFrom(record: KeyRecord, headers: Headers): boolean {
  if (record.ipRanges) return false
  return !record.origins || record.origins.includes(headers.get('origin') ?? '')
}

/** Whether calls without a key pass on the mounts that allow them. */
export const anonymousPasses = (c: Context<GatewayEnv>): boolean => configOf(c.env).anonymous

/** The caller of one of our own routes, which always want a key with this scope. */
export async function requireCaller(c: Context<GatewayEnv>, scope: Scope): Promise<Caller> {
  if ((await identify(c, readBearer)) !== 'key') throw new AuthRequiredError()
  return requireScope(c, scope)
}

export function requireScope(c: Context<GatewayEnv>, scope: Scope): Caller {
  const { caller } = c.var
  if (!caller) throw new AuthRequiredError()
  if (!allows(caller.scopes, scope)) throw new MissingScopeError(scope)
  return caller
}
