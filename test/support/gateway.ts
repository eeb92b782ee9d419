import { env, exports } from 'cloudflare:workers'
import { createKey } from '../../shared/kernel/auth/key.ts'
import type { Scope } from '../../shared/kernel/auth/scope.ts'
import { createSql } from '../../shared/kernel/sql/client.ts'
import { insertKey } from '../../shared/store/keys.ts'

export const origin = 'http://gateway.test'

/** A request to the gateway as the runtime would deliver it. */
export const call = (path: string, init?: RequestInit): Promise<Response> =>
  exports.default.fetch(new Request(origin + path, init))

export const sql = () => createSql(env.DATABASE_URL)

/** A stored key with these scopes; gives its text. */
export async function newKey(...scopes: readonly Scope[]): Promise<{ id: string; text: string }> {
  const key = await createKey((count) => crypto.getRandomValues(new Uint8Array(count)))
  await insertKey(sql(), { id: key.id, name: 'test', digest: key.digest, scopes })
  return { id: key.id, text: key.text }
}

export const bearer = (text: string) => ({ authorization: `Bearer ${text}` })
export const basic = (user: string, password: string) => ({ authorization: `Basic ${btoa(`${user}:${password}`)}` })
