import { DurableObject } from 'cloudflare:workers'
import {
  type ApiKey,
  type ApiKeyAnswer,
  apiKeyAnswer,
  createApiKey,
  type KeyOwner,
} from '../../shared/exchange/api-key.ts'
import { levelsOf } from '../../shared/exchange/book.ts'
import { type BookSummary, bookSummary } from '../../shared/exchange/book-summary.ts'
import {
  type MarketQuery,
  type MarketRecord,
  marketRecord,
  selectMarkets,
} from '../../shared/exchange/market-record.ts'
import { createScenery } from '../../shared/exchange/scenery.ts'
import type { Clock, RandomBytes } from '../../shared/kernel/clock.ts'
import { VenueStore } from './venue-store.ts'

/**
 * The exchange of the sandbox: one object is one venue with all its markets, so that every command meets the state that
 * the one before it left. `shared/exchange` decides, SQLite keeps. An answer leaves the object only after what was
 * written before it is on disk (output gate), so nothing that a caller was told is lost when the process dies.
 */
export class Venue extends DurableObject {
  readonly #store: VenueStore
  readonly #clock: Clock = Date.now
  readonly #randomBytes: RandomBytes = (count) => crypto.getRandomValues(new Uint8Array(count))

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    this.#store = new VenueStore(ctx.storage.sql)
    ctx.storage.transactionSync(() => {
      if (this.#store.prepare()) this.#store.putScenery(createScenery(this.#clock()))
    })
  }

  /** The venue's clock, which every rule about time reads. Unix milliseconds. */
  nowMs(): number {
    return this.#clock()
  }

  /** The key of this id, if there is one, and the venue's clock to judge the request by. */
  findApiKey(apiKey: string): { nowMs: number; key: ApiKey | undefined } {
    return { nowMs: this.#clock(), key: this.#store.apiKey(apiKey) }
  }

  /** Undefined when the wallet has a key for this nonce. */
  createApiKey(owner: KeyOwner): ApiKeyAnswer | undefined {
    return this.ctx.storage.transactionSync(() => {
      const key = createApiKey(owner, this.#store.apiKeyOf(owner), this.#randomBytes)
      if (key) this.#store.putApiKey(key)
      return key && apiKeyAnswer(key)
    })
  }

  /** Undefined when the wallet has no key for this nonce. */
  deriveApiKey(owner: KeyOwner): ApiKeyAnswer | undefined {
    const key = this.#store.apiKeyOf(owner)
    return key && apiKeyAnswer(key)
  }

  /** Ids of a wallet's keys, oldest first. */
  apiKeysOf(address: string): string[] {
    return this.#store.apiKeysOf(address).map((key) => key.apiKey)
  }

  /** Undefined when no market has this token. */
  async book(tokenId: string): Promise<BookSummary | undefined> {
    const market = this.#store.marketOfToken(tokenId)
    if (!market) return undefined
    const outcome = market.tokens[0].tokenId === tokenId ? 0 : 1
    return bookSummary(market, outcome, levelsOf(this.#store.resting(market.conditionId), outcome))
  }

  markets(query: MarketQuery): MarketRecord[] {
    return selectMarkets(this.#store.markets(), query).map((market) =>
      marketRecord(market, levelsOf(this.#store.resting(market.conditionId), 0)),
    )
  }
}
