import { AppError } from '../errors.ts'

/** What a Tidegate key may do. `admin` includes every other scope; `write` includes `read` of the same area, `cloud:admin` both. */
export const scopes = [
  'cloud:read',
  'cloud:write',
  'cloud:admin',
  'mst:read',
  'markets:read',
  'orders:write',
  'feed:read',
  'feed:write',
  'feed:admin',
  'jobs:read',
  'jobs:write',
  'sql:read',
  'ops:read',
  'admin',
] as const

export type Scope = (typeof scopes)[number]

export const isScope = (text: string): text is Scope => (scopes as readonly string[]).includes(text)

const includes: Partial<Record<Scope, readonly Scope[]>> = {
  'cloud:write': ['cloud:read'],
  'cloud:admin': ['cloud:read', 'cloud:write'],
  'orders:write': ['markets:read'],
  'feed:write': ['feed:read'],
  'feed:admin': ['feed:read', 'feed:write'],
  'jobs:write': ['jobs:read'],
  admin: scopes,
}

/** Whether a key with `held` may do what `needed` names. */
export const allows = (held: readonly Scope[], needed: Scope): boolean =>
  held.some((scope) => scope === needed || includes[scope]?.includes(needed))

export class MissingScopeError extends AppError {
  override readonly name = 'MissingScopeError'
  readonly code = 'key.forbidden'
  readonly status = 403

  constructor(needed: Scope) {
    super(`this key lacks the scope ${needed}`, { needed })
  }
}
