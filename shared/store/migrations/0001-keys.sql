-- keys: the keys that callers of the gateway hold. Only a digest of the secret is kept; the text is shown once.

create schema if not exists tidegate;

create table tidegate.keys (
  id            text        primary key check (id ~ '^[0-9A-Za-z]{8}$'),
  name          text        not null check (char_length(name) between 1 and 128),
  digest        text        not null check (digest ~ '^[0-9a-f]{64}$'), -- SHA-256 of the secret
  scopes        text[]      not null,
  credentials   jsonb       not null default '{}', -- upstream -> name of the credential used for this key
  limits        jsonb, -- {per_second, burst, per_day}; null = the defaults
  origins       text[], -- null = any
  ip_ranges     text[], -- null = any
  url           boolean     not null default false, -- may stand in the path
  created_at    timestamptz not null default now(),
  expires_at    timestamptz,
  revoked_at    timestamptz,
  last_used_at  timestamptz
);
