import { isScope, type Scope } from '../kernel/auth/scope.ts'
import type { LimitPolicy } from '../kernel/limit.ts'
import type { Sql } from '../kernel/sql/client.ts'

/** A stored key, without its secret. */
export type KeyRecord = {
  readonly id: string
  readonly name: string
  readonly digest: string
  readonly scopes: readonly Scope[]
  /** Undefined = the default. */
  readonly limit: LimitPolicy | undefined
  readonly origins: readonly string[] | null
  readonly ipRanges: readonly string[] | null
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
}

type Row = {
  id: string
  name: string
  digest: string
  scopes: string[]
  limits: { per_second?: number; burst?: number } | null
  origins: string[] | null
  ip_ranges: string[] | null
  expires_at: Date | null
  revoked_at: Date | null
}

export async function findKey(sql: Sql, id: string): Promise<KeyRecord | undefined> {
  const [row] = await sql.query<Row>(
    `select id, name, digest, scopes, limits, origins, ip_ranges, expires_at, revoked_at
       from tidegate.keys
      where id = $1`,
    [id],
    { retry: true },
  )
  if (!row) return undefined
  return {
    id: row.id,
    name: row.name,
    digest: row.digest,
    scopes: row.scopes.filter(isScope),
    limit: limitOf(row.limits),
    origins: row.origins,
    ipRanges: row.ip_ranges,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  }
}

/** A burst that is not stated is two seconds' worth. */
function limitOf(limits: Row['limits']): LimitPolicy | undefined {
  if (!limits?.per_second) return undefined
  return { perSecond: limits.per_second, burst: limits.burst ?? limits.per_second * 2 }
}

export type NewKey = {
  readonly id: string
  readonly name: string
  readonly digest: string
  readonly scopes: readonly Scope[]
}

export async function insertKey(sql: Sql, key: NewKey): Promise<void> {
  await sql.query(`insert into tidegate.keys (id, name, digest, scopes) values ($1, $2, $3, $4)`, [
    key.id,
    key.name,
    key.digest,
    key.scopes,
  ])
}

export async function revokeKey(sql: Sql, id: string): Promise<void> {
  await sql.query(`update tidegate.keys set revoked_at = now() where id = $1 and revoked_at is null`, [id])
}
