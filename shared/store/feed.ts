import type { Sql } from '../kernel/sql/client.ts'

/** A row of feed_ticks. 64-bit integers are decimal text; times are milliseconds since the Unix epoch. */
export type TickRow = {
  readonly symbol: string
  readonly ts: string
  readonly fp: string
  readonly q: number
  readonly price: number
  readonly dv: string
  readonly dayVolume: string | null
  readonly marketHours: number
  readonly bid: number | null
  readonly ask: number | null
  readonly recvMs: number
  /** 0 stream, 1 backfill, 2 ingest. */
  readonly source: number
  readonly late: boolean
  readonly flags: number
}

/** The last values of a symbol, and what the catalogue of symbols says of it. */
export type LastRow = {
  readonly symbol: string
  readonly q: number
  readonly ts: string
  /** The merged message, base64. */
  readonly data: string
  readonly recvMs: number
  readonly quoteType: number
  readonly exchange: string | null
  readonly currency: string | null
  readonly shortName: string | null
  readonly priceHint: number | null
}

/** What a hub writes at once; `hub` and `no` name it for ever. Each symbol stands in `last` at most once. */
export type TickBatch = {
  readonly hub: string
  readonly no: number
  readonly epoch: string
  readonly ticks: readonly TickRow[]
  readonly last: readonly LastRow[]
}

// One statement, so atomic, one round trip, and safe to repeat: a batch that is stored already inserts nothing. A queued
// batch of an older incarnation must not put back last values, so those go by receipt between epochs.
const storeStatement = `
with batch as (
  insert into tidegate.feed_batches (hub, no, rows) values ($1, $2, $3)
  on conflict do nothing
  returning 1
), ticks as (
  insert into tidegate.feed_ticks
    (symbol, ts, fp, epoch, q, price, dv, day_volume, market_hours, bid, ask, recv, source, late, flags)
  select t.symbol, t.ts, t.fp, $4, t.q, t.price, t.dv, t.day_volume, t.market_hours, t.bid, t.ask, t.recv, t.source, t.late, t.flags
    from unnest($5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::float8[], $10::numeric[], $11::bigint[],
                $12::smallint[], $13::float8[], $14::float8[], $15::bigint[], $16::smallint[], $17::boolean[], $18::smallint[])
      as t (symbol, ts, fp, q, price, dv, day_volume, market_hours, bid, ask, recv, source, late, flags)
   where exists (select from batch)
  on conflict (symbol, ts, fp) do nothing
), newest as (
  select *
    from unnest($19::text[], $20::bigint[], $21::bigint[], $22::text[], $23::bigint[], $24::integer[], $25::text[],
                $26::text[], $27::text[], $28::integer[])
      as l (symbol, q, ts, data, recv, quote_type, exchange, currency, short_name, price_hint)
   where exists (select from batch)
), last as (
  insert into tidegate.feed_last as known (symbol, epoch, q, ts, data, updated)
  select symbol, $4, q, ts, decode(data, 'base64'), to_timestamp(recv / 1000.0) from newest
  on conflict (symbol) do update
    set epoch = excluded.epoch, q = excluded.q, ts = excluded.ts, data = excluded.data, updated = excluded.updated
  where case when known.epoch = excluded.epoch then known.q < excluded.q else known.updated <= excluded.updated end
), symbols as (
  insert into tidegate.feed_symbols as known
    (symbol, quote_type, exchange, currency, short_name, price_hint, first_seen, last_seen)
  select symbol, quote_type, exchange, currency, short_name, price_hint, to_timestamp(recv / 1000.0), to_timestamp(recv / 1000.0)
    from newest
  on conflict (symbol) do update
    set quote_type = case excluded.quote_type when 0 then known.quote_type else excluded.quote_type end,
        exchange   = coalesce(excluded.exchange, known.exchange),
        currency   = coalesce(excluded.currency, known.currency),
        short_name = coalesce(excluded.short_name, known.short_name),
        price_hint = coalesce(excluded.price_hint, known.price_hint),
        last_seen  = greatest(excluded.last_seen, known.last_seen)
)
select count(*)::integer as stored from batch`

/** Stores a batch; false when it was stored before. */
export async function storeTicks(sql: Sql, { hub, no, epoch, ticks, last }: TickBatch): Promise<boolean> {
  const [row] = await sql.query<{ stored: number }>(storeStatement, [
    hub,
    no,
    ticks.length,
    epoch,
    ticks.map(({ symbol }) => symbol),
    ticks.map(({ ts }) => ts),
    ticks.map(({ fp }) => fp),
    ticks.map(({ q }) => q),
    ticks.map(({ price }) => price),
    ticks.map(({ dv }) => dv),
    ticks.map(({ dayVolume }) => dayVolume),
    ticks.map(({ marketHours }) => marketHours),
    ticks.map(({ bid }) => bid),
    ticks.map(({ ask }) => ask),
    ticks.map(({ recvMs }) => recvMs),
    ticks.map(({ source }) => source),
    ticks.map(({ late }) => late),
    ticks.map(({ flags }) => flags),
    last.map(({ symbol }) => symbol),
    last.map(({ q }) => q),
    last.map(({ ts }) => ts),
    last.map(({ data }) => data),
    last.map(({ recvMs }) => recvMs),
    last.map(({ quoteType }) => quoteType),
    last.map(({ exchange }) => exchange),
    last.map(({ currency }) => currency),
    last.map(({ shortName }) => shortName),
    last.map(({ priceHint }) => priceHint),
  ])
  return row?.stored === 1
}

/** What names a tick among the stored rows. */
export type StoredKey = { readonly symbol: string; readonly ts: string; readonly fp: string }

/** Those of the ticks that are stored. */
export async function findTicks(sql: Sql, keys: readonly StoredKey[]): Promise<StoredKey[]> {
  if (keys.length === 0) return []
  return await sql.query<StoredKey>(
    `select t.symbol, t.ts::text, t.fp::text
       from unnest($1::text[], $2::bigint[], $3::bigint[]) as wanted (symbol, ts, fp)
       join tidegate.feed_ticks t using (symbol, ts, fp)`,
    [keys.map(({ symbol }) => symbol), keys.map(({ ts }) => ts), keys.map(({ fp }) => fp)],
    { retry: true },
  )
}
