import * as z from 'zod'
import { toBase64 } from '../kernel/bytes.ts'
import { decodeValues, encode, fromBase64Strict } from './codec.ts'
import type { Values } from './fields.ts'
import type { Accepted, Last } from './hub.ts'

/**
 * The language between a relay and its hubs, JSON text over one websocket. A relay gets the merged values of a symbol
 * once and then each tick as it came: it merges by the same rules, so both always hold the same.
 */
export type RelayMessage = {
  readonly need?: readonly string[] | undefined
  readonly drop?: readonly string[] | undefined
}

/** What subscribers are told of the upstream. */
export type Up = 'live' | 'quiet' | 'stale' | 'down'

export type HubSymbol = { readonly s: string; readonly q: number; readonly at: number; readonly m: string }
export type HubTick = { readonly s: string; readonly q: number; readonly late?: 1; readonly m: string }

export type HubMessage =
  /** First on every connection, and whenever the state of the upstream changes. */
  | { readonly t: 'up'; readonly up: Up; readonly since: number }
  /** Answers `need`; `none` are symbols without a value yet. */
  | { readonly t: 'snap'; readonly e: string; readonly b: readonly HubSymbol[]; readonly none: readonly string[] }
  | { readonly t: 'ticks'; readonly e: string; readonly b: readonly HubTick[] }

export const hubSymbol = ({ s, q, recvMs, values }: Last): HubSymbol => {
  return { s, q, at: recvMs, m: toBase64(encode(values)) }
}

export const hubTick = ({ s, q, late, bytes }: Accepted): HubTick => {
  return { s, q, ...(late && { late: 1 as const }), m: toBase64(bytes) }
}

/** The message inside a hub's item. */
export const valuesOf = ({ m }: { readonly m: string }): Values => decodeValues(fromBase64Strict(m))

const relayMessage = z.object({ need: z.array(z.string()).optional(), drop: z.array(z.string()).optional() })

/** A relay's message; undefined when it is none. */
export function parseRelayMessage(text: string): RelayMessage | undefined {
  try {
    return relayMessage.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
