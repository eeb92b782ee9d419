-- documents: what polls have fetched, as JSON. The latest of each key, and a history with one row per change of content.

create table tidegate.documents (
  job_id       integer     not null,
  key          text        not null,
  upstream     text        not null, -- name of the upstream, or the host of a URL
  path         text        not null, -- of the first page
  content_hash text        not null check (content_hash ~ '^[0-9a-f]{64}$'), -- SHA-256 of the canonical JSON
  body         jsonb       not null,
  status       integer     not null,
  etag         text,
  run_id       uuid        not null, -- the run that saw it last
  fetched_at   timestamptz not null,
  changed_at   timestamptz not null,
  primary key (job_id, key)
);

create index documents_of_path on tidegate.documents (job_id, path, fetched_at desc);

-- No foreign key to jobs: what was collected outlives the job that collected it.
create table tidegate.document_history (
  id           bigint      generated always as identity primary key,
  job_id       integer     not null,
  key          text        not null,
  upstream     text        not null,
  path         text        not null,
  content_hash text        not null,
  body         jsonb       not null,
  status       integer     not null,
  etag         text,
  run_id       uuid        not null,
  fetched_at   timestamptz not null
);

create index document_history_of_key on tidegate.document_history (job_id, key, id desc);
create index document_history_by_hash on tidegate.document_history (content_hash);
