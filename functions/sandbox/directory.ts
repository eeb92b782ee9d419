import type { StoredKey } from '../../shared/cloud/caller.ts'
import { scenery as cloudScenery, type SceneryKey } from '../../shared/cloud/scenery.ts'
import { sha256, utf8 } from '../../shared/kernel/bytes.ts'
import { scenery as managedServiceScenery } from '../../shared/managed-service/scenery.ts'
import type { KnownToken } from '../../shared/managed-service/token.ts'
import type { StoredUser } from '../../shared/managed-service/user.ts'

const schema = `
  create table if not exists scenery (put_at_ms integer not null);
  create table if not exists projects (project_id text primary key, name text not null, plan text not null);
  create table if not exists members (member_id text primary key, name text not null, email text not null);
  create table if not exists api_keys (
    access_key    text primary key,
    secret_digest blob not null,
    project_id    text not null,
    name          text not null,
    role          text not null,
    issuer_id     text not null,
    created_at_ms integer not null,
    revoked_at_ms integer,
    expires_at_ms integer
  );
  create table if not exists users (user_id text primary key, record text not null);
  create table if not exists tokens (
    token_digest  blob primary key,
    user_id       text not null,
    issued_at_ms  integer not null,
    expires_at_ms integer,
    ip_allowlist  text
  );
`

/**
 * Who may call: projects, key pairs, users and tokens, in the storage of one object. Secrets and tokens are kept as
 * SHA-256 digests only.
 */
export class Directory {
  readonly #storage: DurableObjectStorage
  readonly #sql: SqlStorage

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#sql = storage.sql
    this.#sql.exec(schema)
  }

  /** Puts the scenery in, once in the life of the storage. */
  async furnish(nowMs: number): Promise<void> {
    if (this.#isFurnished()) return
    const keys = await Promise.all(cloudScenery.keys.map(async (key) => [key, await digestOf(key.secretKey)] as const))
    const tokens = await Promise.all(
      managedServiceScenery.tokens.map(async (token) => [token, await digestOf(token.token)] as const),
    )
    this.#storage.transactionSync(() => {
      // Another request may have put it in while the digests were made.
      if (this.#isFurnished()) return
      const sql = this.#sql
      for (const { id, name, plan } of cloudScenery.projects) {
        sql.exec('insert into projects values (?, ?, ?)', id, name, plan)
      }
      for (const { id, name, email } of cloudScenery.members) {
        sql.exec('insert into members values (?, ?, ?)', id, name, email)
      }
      for (const [key, digest] of keys) this.#addKey(key, digest)
      for (const user of managedServiceScenery.users) {
        sql.exec('insert into users values (?, ?)', user.user_id, JSON.stringify(user))
      }
      for (const [{ userId, issuedAt, expiresAfterMs, ipAllowlist }, digest] of tokens) {
        sql.exec(
          'insert into tokens values (?, ?, ?, ?, ?)',
          digest,
          userId,
          Date.parse(issuedAt),
          expiresAfterMs === undefined ? null : nowMs + expiresAfterMs,
          ipAllowlist === undefined ? null : JSON.stringify(ipAllowlist),
        )
      }
      sql.exec('insert into scenery values (?)', nowMs)
    })
  }

  findKey(accessKey: string): StoredKey | undefined {
    const [row] = this.#sql.exec<KeyRow>(
      `select k.*, p.name as project_name, p.plan, m.name as issuer_name, m.email
       from api_keys k
       join projects p on p.project_id = k.project_id
       join members m on m.member_id = k.issuer_id
       where k.access_key = ?`,
      accessKey,
    )
    return (
      row && {
        accessKey: row.access_key,
        secretDigest: new Uint8Array(row.secret_digest),
        name: row.name,
        role: row.role as StoredKey['role'],
        createdAtMs: row.created_at_ms,
        revokedAtMs: row.revoked_at_ms,
        expiresAtMs: row.expires_at_ms,
        project: { id: row.project_id, name: row.project_name, plan: row.plan as StoredKey['project']['plan'] },
        issuer: { id: row.issuer_id, name: row.issuer_name, email: row.email },
      }
    )
  }

  /** The token with this digest, and its user. A token has no public part, so the digest itself is looked up: how long that takes tells nothing about the token. */
  findToken(tokenDigest: Uint8Array<ArrayBuffer>): KnownToken | undefined {
    const [row] = this.#sql.exec<TokenRow>(
      'select t.*, u.record from tokens t join users u on u.user_id = t.user_id where t.token_digest = ?',
      tokenDigest,
    )
    return (
      row && {
        token: {
          userId: row.user_id,
          issuedAtMs: row.issued_at_ms,
          expiresAtMs: row.expires_at_ms,
          ipAllowlist: row.ip_allowlist === null ? null : (JSON.parse(row.ip_allowlist) as string[]),
        },
        user: JSON.parse(row.record) as StoredUser,
      }
    )
  }

  #isFurnished(): boolean {
    return this.#sql.exec('select 1 from scenery').toArray().length > 0
  }

  #addKey(key: SceneryKey, secretDigest: Uint8Array<ArrayBuffer>): void {
    this.#sql.exec(
      'insert into api_keys values (?, ?, ?, ?, ?, ?, ?, ?, null)',
      key.accessKey,
      secretDigest,
      key.projectId,
      key.name,
      key.role,
      key.issuerId,
      Date.parse(key.createdAt),
      key.revokedAt === undefined ? null : Date.parse(key.revokedAt),
    )
  }
}

const digestOf = (secret: string): Promise<Uint8Array<ArrayBuffer>> => sha256(utf8(secret))

type KeyRow = {
  access_key: string
  secret_digest: ArrayBuffer
  project_id: string
  name: string
  role: string
  issuer_id: string
  created_at_ms: number
  revoked_at_ms: number | null
  expires_at_ms: number | null
  project_name: string
  plan: string
  issuer_name: string
  email: string
}

type TokenRow = {
  user_id: string
  issued_at_ms: number
  expires_at_ms: number | null
  ip_allowlist: string | null
  record: string
}
