import type { Sql } from '../kernel/sql/client.ts'

/** Where the documents of a page come from. */
export type DocumentSource = {
  readonly jobId: number
  readonly runId: string
  /** Name of the upstream, or the host of a URL. */
  readonly upstream: string
  readonly path: string
  readonly status: number
  readonly etag: string | null
  /** RFC 3339. */
  readonly fetchedAt: string
}

export type NewDocument = { readonly key: string; readonly contentHash: string; readonly body: string }

/** The entity tag of the last answer to this path, for a conditional request. */
export async function latestEtag(sql: Sql, jobId: number, path: string): Promise<string | undefined> {
  const [row] = await sql.query<{ etag: string | null }>(
    `select etag
       from tidegate.documents
      where job_id = $1::integer and path = $2::text
      order by fetched_at desc
      limit 1`,
    [jobId, path],
  )
  return row?.etag ?? undefined
}

/** Stores documents with distinct keys and answers how many are new or have changed; only those get a row of history. */
export async function storeDocuments(
  sql: Sql,
  source: DocumentSource,
  documents: readonly NewDocument[],
): Promise<number> {
  if (documents.length === 0) return 0
  // The bodies are JSON texts already; put together as text, their numbers keep all digits.
  const rows = documents.map(
    ({ key, contentHash, body }) => `{"key":${JSON.stringify(key)},"hash":"${contentHash}","body":${body}}`,
  )
  const [row] = await sql.query<{ changed: number }>(
    `with incoming as (
       select x ->> 'key' as key, x ->> 'hash' as hash, x -> 'body' as body
         from jsonb_array_elements($1::jsonb) as x
     ), changed as (
       select i.key
         from incoming i
         left join tidegate.documents d on d.job_id = $2::integer and d.key = i.key
        where d.content_hash is distinct from i.hash
     ), latest as (
       insert into tidegate.documents as d
         (job_id, key, upstream, path, content_hash, body, status, etag, run_id, fetched_at, changed_at)
       select $2::integer, key, $3::text, $4::text, hash, body, $5::integer, $6::text, $7::uuid, $8::timestamptz,
              $8::timestamptz
         from incoming
       on conflict (job_id, key) do update
          set upstream = excluded.upstream, path = excluded.path, status = excluded.status, etag = excluded.etag,
              run_id = excluded.run_id, fetched_at = excluded.fetched_at,
              content_hash = excluded.content_hash, body = excluded.body,
              changed_at = case when d.content_hash = excluded.content_hash then d.changed_at
                                else excluded.changed_at end
     ), history as (
       insert into tidegate.document_history
         (job_id, key, upstream, path, content_hash, body, status, etag, run_id, fetched_at)
       select $2::integer, i.key, $3::text, $4::text, i.hash, i.body, $5::integer, $6::text, $7::uuid, $8::timestamptz
         from incoming i
         join changed using (key)
     )
     select count(*)::integer as changed from changed`,
    [
      `[${rows.join(',')}]`,
      source.jobId,
      source.upstream,
      source.path,
      source.status,
      source.etag,
      source.runId,
      source.fetchedAt,
    ],
  )
  return row?.changed ?? 0
}
