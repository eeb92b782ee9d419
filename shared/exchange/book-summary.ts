import { utf8 } from '../kernel/bytes.ts'
import { toHex } from '../kernel/ids.ts'
import { type LastTrade, type Level, type Levels, mirrored, type OutcomeIndex } from './book.ts'
import { ticksText, unitsText } from './decimal.ts'
import type { Market } from './market.ts'

export type WireLevel = { readonly price: string; readonly size: string }

/** The members stand in the order of the wire: the hash covers it. */
export type BookSummary = {
  readonly market: string
  readonly asset_id: string
  /** Unix milliseconds. */
  readonly timestamp: string
  readonly hash: string
  readonly bids: readonly WireLevel[]
  readonly asks: readonly WireLevel[]
  readonly min_order_size: string
  readonly tick_size: string
  readonly neg_risk: boolean
  /** Empty when nothing was traded yet. */
  readonly last_trade_price: string
}

/** The public form of one token's book, with its hash. */
export async function bookSummary(market: Market, outcome: OutcomeIndex, levels: Levels): Promise<BookSummary> {
  const lastTrade = lastTradeOf(market, outcome)
  const summary: BookSummary = {
    market: market.conditionId,
    asset_id: market.tokens[outcome].tokenId,
    timestamp: String(market.bookChangedAtMs),
    hash: '',
    bids: levels.bids.map(wireLevel),
    asks: levels.asks.map(wireLevel),
    min_order_size: unitsText(market.minSize),
    tick_size: ticksText(market.tickSize),
    neg_risk: market.negRisk,
    last_trade_price: lastTrade ? ticksText(lastTrade.price) : '',
  }
  return { ...summary, hash: await bookHash(summary) }
}

/**
 * SHA-1 in hex of the summary's compact JSON text with an empty hash, in its own order of members: how the official
 * clients check a book (Polymarket/clob-client `src/utilities.ts`, Polymarket/py-clob-client `utilities.py`).
 */
export async function bookHash(summary: BookSummary): Promise<string> {
  const text = JSON.stringify({ ...summary, hash: '' })
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-1', utf8(text))))
}

/** The last trade in terms of one token. */
export const lastTradeOf = ({ lastTrade }: Market, outcome: OutcomeIndex): LastTrade | undefined =>
  lastTrade && outcome === 1 ? mirrored(lastTrade) : lastTrade

const wireLevel = ({ price, size }: Level): WireLevel => ({ price: ticksText(price), size: unitsText(size) })
