import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { utf8 } from '../kernel/bytes.ts'
import { AppError } from '../kernel/errors.ts'
import type { LastTrade, OutcomeIndex } from './book.ts'
import type { Ticks, Units } from './decimal.ts'

export type Token = { readonly tokenId: string; readonly outcome: string }

export type Tag = { readonly id: number; readonly label: string; readonly slug: string }

export type EventOfMarket = {
  readonly id: number
  readonly slug: string
  readonly title: string
  readonly negRisk: boolean
}

/** A market with two outcomes, as the venue keeps it. */
export type Market = {
  readonly id: number
  readonly conditionId: string
  readonly questionId: string
  readonly slug: string
  readonly question: string
  readonly event: EventOfMarket
  readonly tags: readonly Tag[]
  /** The first is the one that the book is kept in. */
  readonly tokens: readonly [Token, Token]
  readonly tickSize: Ticks
  readonly minSize: Units
  readonly negRisk: boolean
  readonly baseFeeBps: number
  readonly secondsDelay: number
  readonly acceptingOrders: boolean
  readonly closed: boolean
  /** Which outcome a resolved market paid. */
  readonly winner: OutcomeIndex | undefined
  /** Unix milliseconds. */
  readonly createdAtMs: number
  readonly endsAtMs: number
  /** Of the first token. */
  readonly lastTrade: LastTrade | undefined
  /** Dollars traded since the start. */
  readonly volume: Units
  /** Unix milliseconds of the last change of the book; strictly increasing within a market. */
  readonly bookChangedAtMs: number
}

/** The condition id of a market of this venue: keccak256("market:" + slug). */
export const conditionIdOf = (slug: string): string => `0x${bytesToHex(keccak_256(utf8(`market:${slug}`)))}`

/** The question id of a market of this venue: keccak256("question:" + slug). */
export const questionIdOf = (slug: string): string => `0x${bytesToHex(keccak_256(utf8(`question:${slug}`)))}`

/**
 * The token id of an outcome: the decimal of keccak256(condition id ‖ outcome index), the index as a 32-byte word. All
 * 256 bits are used, so that readers which expect fewer digits are found out.
 */
export function tokenIdOf(conditionId: string, outcome: OutcomeIndex): string {
  const packed = new Uint8Array(64)
  packed.set(hexToBytes(conditionId.slice(2)))
  packed[63] = outcome
  return BigInt(`0x${bytesToHex(keccak_256(packed))}`).toString()
}

export class NoBookError extends AppError {
  override readonly name = 'NoBookError'
  readonly code = 'exchange.no_book'
  readonly status = 404

  constructor() {
    super('No orderbook exists for the requested token id')
  }
}
