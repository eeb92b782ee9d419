import { digestOf, type Key, sameDigest } from '../../shared/kernel/auth/key.ts'
import { createSql } from '../../shared/kernel/sql/client.ts'
import { findKey, type KeyRecord } from '../../shared/store/keys.ts'

/** How long a key that was good, or not, is believed without a look at the database: revocation takes effect within the first. */
const goodForMs = 30_000
const badForMs = 5_000
/** Bounds what a caller who tries many keys can make an isolate hold. */
const mostEntries = 10_000

const entries = new Map<string, { readonly untilMs: number; readonly record: KeyRecord | undefined }>()

/**
 * The record of a key whose secret is right and which is neither revoked nor expired, or undefined. Kept per isolate by
 * the digest of the secret. Callers who come together each look it up: a look-up shared between requests would hang
 * the others when the first caller goes away.
 */
export async function verifiedKey(databaseUrl: string, key: Key, nowMs: number): Promise<KeyRecord | undefined> {
  const digest = await digestOf(key.secret)
  const name = `${key.id} ${digest}`
  const record = await remembered(name, nowMs, () => lookUp(databaseUrl, key.id, digest))
  return record?.expiresAt && record.expiresAt.getTime() <= nowMs ? undefined : record
}

async function remembered(
  name: string,
  nowMs: number,
  read: () => Promise<KeyRecord | undefined>,
): Promise<KeyRecord | undefined> {
  const known = entries.get(name)
  if (known && known.untilMs > nowMs) return known.record
  const record = await read()
  if (entries.size >= mostEntries) entries.clear()
  entries.set(name, { untilMs: nowMs + (record ? goodForMs : badForMs), record })
  return record
}

async function lookUp(databaseUrl: string, id: string, digest: string): Promise<KeyRecord | undefined> {
  const record = await findKey(createSql(databaseUrl), id)
  // Compared also when there is no such key, so that both take the same time.
  const same = sameDigest(record?.digest ?? '0'.repeat(64), digest)
  return record && same && !record.revokedAt ? record : undefined
}
