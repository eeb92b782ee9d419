-- feed: ticks, last values and symbols of the price feed, and the batches that wrote them.
-- Times are milliseconds since the Unix epoch where they are the feed's own, timestamptz where they are ours.

create table tidegate.feed_symbols (
  symbol      text        primary key check (symbol ~ '^[A-Z0-9^=._/$&+-]{1,32}$'),
  quote_type  integer,
  exchange    text,
  currency    text,
  short_name  text,
  price_hint  integer,
  tz          text,
  first_seen  timestamptz not null default now(),
  last_seen   timestamptz not null default now()
);

create table tidegate.feed_last (
  symbol   text        primary key,
  epoch    text        not null,
  q        bigint      not null,
  ts       bigint      not null,
  data     bytea       not null, -- the merged message
  updated  timestamptz not null
);

-- Not partitioned: rows are kept for a time from their receipt, so that old data sent today stays as long as new, and
-- a partition by the time of the tick would drop them together with the data that it replays.
create table tidegate.feed_ticks (
  symbol        text             not null,
  ts            bigint           not null,
  fp            bigint           not null, -- hash of the message's canonical bytes: many ticks share a second
  epoch         text             not null,
  q             bigint           not null,
  price         double precision not null,
  dv            numeric          not null, -- volume since the tick before
  day_volume    bigint,
  market_hours  smallint         not null default 0,
  bid           double precision,
  ask           double precision,
  recv          bigint           not null,
  source        smallint         not null check (source in (0, 1, 2)), -- stream, backfill, ingest
  late          boolean          not null default false,
  flags         smallint         not null default 0, -- clock 1, no_time 2, outlier 4, too_old 8, volume_corrected 16, volume_spans_gap 32
  primary key (symbol, ts, fp)
);
-- Old rows go by their receipt, which is nearly the order of insertion.
create index feed_ticks_recv on tidegate.feed_ticks using brin (recv);

create table tidegate.feed_gaps (
  symbol   text    not null,
  from_ts  bigint  not null,
  to_ts    bigint  not null check (to_ts > from_ts),
  reason   text    not null,
  filled   boolean not null default false,
  primary key (symbol, from_ts)
);

-- One row per batch that was stored: a batch whose answer was lost is sent again and does nothing.
create table tidegate.feed_batches (
  hub   text        not null, -- name and epoch of the hub
  no    bigint      not null,
  rows  integer     not null,
  at    timestamptz not null default now(),
  primary key (hub, no)
);
create index feed_batches_at on tidegate.feed_batches (at);
