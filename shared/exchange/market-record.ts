import { toTimestamp } from '../kernel/clock.ts'
import { bestPrices, type Levels } from './book.ts'
import { oneDollarTicks, type Ticks, ticksText, type Units, unitsText } from './decimal.ts'
import type { Market } from './market.ts'

const oneUnit = 1_000_000n
const unitsPerTick = 100n

/** A market as the metadata service shows it, its prices taken from the book. */
export type MarketRecord = ReturnType<typeof marketRecord>

/**
 * @param levels the book of the first token
 * @returns the wire record: `volume` and `liquidity` as text beside their numbers, arrays as JSON text
 */
export function marketRecord(market: Market, levels: Levels) {
  const { bid, ask } = bestPrices(levels)
  const volume = unitsText(market.volume)
  const liquidity = unitsText(liquidityOf(levels))
  const startDate = toTimestamp(market.createdAtMs)
  const endDate = toTimestamp(market.endsAtMs)
  return {
    id: String(market.id),
    question: market.question,
    conditionId: market.conditionId,
    questionID: market.questionId,
    slug: market.slug,
    description: `${market.question} A market of the sandbox; its prices mean nothing.`,
    resolutionSource: '',
    marketMakerAddress: '',
    outcomes: arrayText(market.tokens.map((token) => token.outcome)),
    outcomePrices: arrayText(outcomePrices(market, levels).map(unitsText)),
    clobTokenIds: arrayText(market.tokens.map((token) => token.tokenId)),
    active: true,
    closed: market.closed,
    archived: false,
    new: false,
    featured: false,
    restricted: false,
    enableOrderBook: true,
    acceptingOrders: market.acceptingOrders && !market.closed,
    negRisk: market.negRisk,
    orderPriceMinTickSize: Number(ticksText(market.tickSize)),
    orderMinSize: Number(unitsText(market.minSize)),
    secondsDelay: market.secondsDelay,
    makerBaseFee: market.baseFeeBps,
    takerBaseFee: market.baseFeeBps,
    bestBid: Number(ticksText(bid)),
    bestAsk: Number(ticksText(ask)),
    spread: Number(ticksText(ask - bid)),
    lastTradePrice: market.lastTrade ? Number(ticksText(market.lastTrade.price)) : null,
    volume,
    volumeNum: Number(volume),
    volumeClob: Number(volume),
    liquidity,
    liquidityNum: Number(liquidity),
    liquidityClob: Number(liquidity),
    startDate,
    startDateIso: startDate.slice(0, 10),
    endDate,
    endDateIso: endDate.slice(0, 10),
    createdAt: startDate,
    updatedAt: toTimestamp(market.bookChangedAtMs),
    closedTime: market.closed ? endDate : null,
    umaResolutionStatus: market.winner === undefined ? null : 'resolved',
    events: [
      {
        id: String(market.event.id),
        ticker: market.event.slug,
        slug: market.event.slug,
        title: market.event.title,
        negRisk: market.event.negRisk,
      },
    ],
  }
}

/**
 * What each outcome is worth, in 1e-6 dollars: 1 and 0 once resolved, else the midpoint where both sides have orders,
 * else the last trade, else one half.
 */
export function outcomePrices(market: Market, levels: Levels): readonly [Units, Units] {
  const first = priceOfFirst(market, levels)
  return [first, oneUnit - first]
}

function priceOfFirst({ winner, lastTrade }: Market, levels: Levels): Units {
  if (winner !== undefined) return winner === 0 ? oneUnit : 0n
  const { bid, ask } = bestPrices(levels)
  if (levels.bids.length > 0 && levels.asks.length > 0) return (BigInt(bid + ask) * unitsPerTick) / 2n
  return lastTrade ? BigInt(lastTrade.price) * unitsPerTick : oneUnit / 2n
}

/** The dollars behind the resting orders: a bid pays its price, an ask is a bid of 1 - p on the other token. */
function liquidityOf({ bids, asks }: Levels): Units {
  const dollars = (price: Ticks, size: Units): Units => (BigInt(price) * size) / BigInt(oneDollarTicks)
  return [
    ...bids.map(({ price, size }) => dollars(price, size)),
    ...asks.map(({ price, size }) => dollars(oneDollarTicks - price, size)),
  ].reduce((sum, part) => sum + part, 0n)
}

/** The JSON text of an array of texts with blanks after the commas, as the public service writes it. */
const arrayText = (items: readonly string[]): string => `[${items.map((item) => JSON.stringify(item)).join(', ')}]`

export type MarketQuery = {
  readonly tagId?: number | undefined
  /** Undefined: open and closed ones. */
  readonly closed?: boolean | undefined
  readonly limit: number
  readonly offset: number
}

/** One page of markets by id ascending. */
export const selectMarkets = (
  markets: readonly Market[],
  { tagId, closed, limit, offset }: MarketQuery,
): readonly Market[] =>
  markets
    .filter((market) => tagId === undefined || market.tags.some((tag) => tag.id === tagId))
    .filter((market) => closed === undefined || market.closed === closed)
    .sort((left, right) => left.id - right.id)
    .slice(offset, offset + limit)
