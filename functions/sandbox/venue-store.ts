import type { ApiKey, KeyOwner } from '../../shared/exchange/api-key.ts'
import type { OutcomeIndex, Resting, Side } from '../../shared/exchange/book.ts'
import type { Market } from '../../shared/exchange/market.ts'
import type { Scenery } from '../../shared/exchange/scenery.ts'

// Amounts and nonces are text: SQLite's integers reach JavaScript as doubles.
const schema = `
  create table if not exists markets (
    id                 integer primary key,
    condition_id       text    not null unique,
    first_token        text    not null unique,
    second_token       text    not null unique,
    closed             integer not null,
    last_price         integer,
    last_side          text,
    volume             text    not null,
    book_changed_at_ms integer not null,
    terms              text    not null
  ) strict;
  create table if not exists levels (
    condition_id text    not null,
    owner        text    not null,
    outcome      integer not null,
    side         text    not null,
    price        integer not null,
    size         text    not null,
    primary key (condition_id, owner, outcome, side, price)
  ) strict, without rowid;
  create table if not exists api_keys (
    sequence   integer primary key autoincrement,
    api_key    text not null unique,
    address    text not null,
    nonce      text not null,
    secret     text not null,
    passphrase text not null,
    unique (address, nonce)
  ) strict;
`

type MarketRow = {
  id: number
  condition_id: string
  first_token: string
  second_token: string
  closed: number
  last_price: number | null
  last_side: Side | null
  volume: string
  book_changed_at_ms: number
  terms: string
}

type LevelRow = { outcome: OutcomeIndex; side: Side; price: number; size: string }

type ApiKeyRow = { api_key: string; address: string; nonce: string; secret: string; passphrase: string }

/** What of a market never changes, or rarely: kept as one JSON text. */
type Terms = Omit<
  Market,
  'id' | 'conditionId' | 'tokens' | 'closed' | 'lastTrade' | 'volume' | 'bookChangedAtMs' | 'minSize' | 'winner'
> & { readonly outcomes: readonly [string, string]; readonly minSize: string; readonly winner: OutcomeIndex | null }

/** The venue's tables, read and written as the records of `shared/exchange`. */
export class VenueStore {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Makes the tables where they do not exist; whether the venue is still without a market. */
  prepare(): boolean {
    this.#sql.exec(schema)
    return this.#sql.exec('select 1 from markets limit 1').toArray().length === 0
  }

  putScenery({ markets, resting, apiKeys }: Scenery): void {
    for (const market of markets) this.#putMarket(market)
    for (const { conditionId, owner, outcome, side, price, size } of resting) {
      this.#sql.exec(
        'insert into levels (condition_id, owner, outcome, side, price, size) values (?, ?, ?, ?, ?, ?)',
        ...[conditionId, owner, outcome, side, price, String(size)],
      )
    }
    for (const key of apiKeys) this.putApiKey(key)
  }

  markets(): Market[] {
    return this.#sql.exec<MarketRow>('select * from markets order by id').toArray().map(toMarket)
  }

  marketOfToken(tokenId: string): Market | undefined {
    const [row] = this.#sql
      .exec<MarketRow>('select * from markets where first_token = ? or second_token = ?', tokenId, tokenId)
      .toArray()
    return row && toMarket(row)
  }

  resting(conditionId: string): Resting[] {
    return this.#sql
      .exec<LevelRow>('select outcome, side, price, size from levels where condition_id = ?', conditionId)
      .toArray()
      .map((row) => ({ ...row, size: BigInt(row.size) }))
  }

  putApiKey({ apiKey, address, nonce, secret, passphrase }: ApiKey): void {
    this.#sql.exec(
      'insert into api_keys (api_key, address, nonce, secret, passphrase) values (?, ?, ?, ?, ?)',
      ...[apiKey, address, String(nonce), secret, passphrase],
    )
  }

  apiKey(apiKey: string): ApiKey | undefined {
    return this.#oneApiKey('select * from api_keys where api_key = ?', apiKey)
  }

  apiKeyOf({ address, nonce }: KeyOwner): ApiKey | undefined {
    const query = 'select * from api_keys where address = ? and nonce = ?'
    return this.#oneApiKey(query, address.toLowerCase(), String(nonce))
  }

  /** Oldest first. */
  apiKeysOf(address: string): ApiKey[] {
    return this.#sql
      .exec<ApiKeyRow>('select * from api_keys where address = ? order by sequence', address.toLowerCase())
      .toArray()
      .map(toApiKey)
  }

  #oneApiKey(query: string, ...bindings: string[]): ApiKey | undefined {
    const [row] = this.#sql.exec<ApiKeyRow>(query, ...bindings).toArray()
    return row && toApiKey(row)
  }

  #putMarket(market: Market): void {
    const { id, conditionId, tokens, closed, lastTrade, volume, bookChangedAtMs, minSize, winner, ...rest } = market
    const [first, second] = tokens
    const terms: Terms = {
      ...rest,
      outcomes: [first.outcome, second.outcome],
      minSize: String(minSize),
      winner: winner ?? null,
    }
    this.#sql.exec(
      `insert into markets (id, condition_id, first_token, second_token, closed, last_price, last_side, volume,
                            book_changed_at_ms, terms)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[id, conditionId, first.tokenId, second.tokenId, closed ? 1 : 0],
      ...[lastTrade?.price ?? null, lastTrade?.side ?? null, String(volume), bookChangedAtMs, JSON.stringify(terms)],
    )
  }
}

function toMarket(row: MarketRow): Market {
  const { outcomes, minSize, winner, ...terms } = JSON.parse(row.terms) as Terms
  return {
    ...terms,
    id: row.id,
    conditionId: row.condition_id,
    tokens: [
      { tokenId: row.first_token, outcome: outcomes[0] },
      { tokenId: row.second_token, outcome: outcomes[1] },
    ],
    minSize: BigInt(minSize),
    winner: winner ?? undefined,
    closed: row.closed === 1,
    lastTrade:
      row.last_price === null || row.last_side === null ? undefined : { price: row.last_price, side: row.last_side },
    volume: BigInt(row.volume),
    bookChangedAtMs: row.book_changed_at_ms,
  }
}

const toApiKey = ({ api_key, address, nonce, secret, passphrase }: ApiKeyRow): ApiKey => ({
  apiKey: api_key,
  address,
  nonce: BigInt(nonce),
  secret,
  passphrase,
})
