import { utf8 } from '../kernel/bytes.ts'
import type { FieldName } from './fields.ts'
import type { Int64Form, NameStyle } from './json.ts'
import { fnv1a } from './rendezvous.ts'

/** How ticks are written to a subscriber: native JSON frames, or one bare message a frame in one of three forms. */
export type Form = 'json' | 'raw' | 'base64' | 'envelope'

/** What a connection is for its whole life. Plain data: it is kept with the socket while the object sleeps. */
export type ConnectionSettings = {
  readonly id: string
  readonly form: Form
  readonly names: NameStyle
  readonly int64: Int64Form
  readonly snapshot: boolean
  /** Bare messages carry all known fields of a symbol, not only those of the tick. */
  readonly merge: boolean
  /** Id of the key that opened it; absent = anonymous. */
  readonly keyId?: string | undefined
  readonly openedMs: number
  /** Options of subscriptions that do not name their own. */
  readonly interval: number
  readonly fields: readonly FieldName[]
  readonly extremes: boolean
}

/** Options of one subscription. */
export type SubscriptionOptions = {
  readonly interval: number
  readonly fields: readonly FieldName[]
  readonly extremes: boolean
}

/** What must survive while the object sleeps: the settings and the symbols, by their options. */
export type Kept = {
  readonly settings: ConnectionSettings
  /** Since when it has no symbols, if it has none. */
  readonly idleSinceMs: number
  readonly parts: readonly (SubscriptionOptions & { readonly symbols: readonly string[] })[]
}

export type Limits = {
  readonly connections: number
  readonly symbols: number
  readonly framesPerSecond: number
  readonly frameBurst: number
  readonly frameBytes: number
  readonly idleMs: number
}

/** Limits of a caller without a key, and of one with. */
export const limitsOf = (hasKey: boolean): Limits => (hasKey ? keyLimits : anonymousLimits)

const anonymousLimits: Limits = {
  connections: Number.POSITIVE_INFINITY,
  symbols: 50,
  framesPerSecond: 5,
  frameBurst: 20,
  frameBytes: 8 * 1024,
  idleMs: 60_000,
}
const keyLimits: Limits = {
  connections: 100,
  symbols: 500,
  framesPerSecond: 20,
  frameBurst: 100,
  frameBytes: 32 * 1024,
  idleMs: 600_000,
}

/** Wrong frames within a minute until the socket is closed. */
const mostErrors = 20
const errorWindowMs = 60_000

/** The newest item of a symbol that a connection has but its group has not sent: `d` is its JSON. */
export type Base = { readonly q: number; readonly d: string | undefined }

/** A subscriber. */
export class Connection {
  readonly settings: ConnectionSettings
  readonly limits: Limits
  readonly subscriptions = new Map<string, SubscriptionOptions>()
  /** Symbols whose acknowledgement waits for the hub: they get nothing yet. */
  readonly holding = new Set<string>()
  /** Symbols whose next item cannot be the group's; null = the first one, a complete item. */
  readonly fresh = new Map<string, Base | null>()
  /** Frames with data sent so far. */
  seen = 0
  idleSinceMs: number
  /** Spreads what is done for all connections over time. */
  readonly phase: number
  #tokens: number
  #tokensMs: number
  #errorsMs: number[] = []

  constructor(settings: ConnectionSettings, nowMs: number) {
    this.settings = settings
    this.limits = limitsOf(settings.keyId !== undefined)
    this.idleSinceMs = nowMs
    this.phase = fnv1a(utf8(settings.id))
    this.#tokens = this.limits.frameBurst
    this.#tokensMs = nowMs
  }

  get isNative(): boolean {
    return this.settings.form === 'json'
  }

  /** Milliseconds until a frame may come; 0 = now, and one is taken. */
  takeToken(nowMs: number): number {
    const { framesPerSecond, frameBurst } = this.limits
    this.#tokens = Math.min(frameBurst, this.#tokens + ((nowMs - this.#tokensMs) * framesPerSecond) / 1000)
    this.#tokensMs = nowMs
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) * 1000) / framesPerSecond)
    this.#tokens--
    return 0
  }

  /** Counts a wrong frame; true when it was one too many. */
  countError(nowMs: number): boolean {
    this.#errorsMs = [...this.#errorsMs.filter((ms) => ms > nowMs - errorWindowMs), nowMs]
    return this.#errorsMs.length >= mostErrors
  }

  kept(): Kept {
    const parts = new Map<string, SubscriptionOptions & { symbols: string[] }>()
    for (const [symbol, options] of this.subscriptions) {
      const { interval, fields, extremes } = options
      const key = `${interval} ${extremes} ${fields.join()}`
      const part = parts.get(key) ?? { interval, fields, extremes, symbols: [] }
      part.symbols.push(symbol)
      parts.set(key, part)
    }
    return { settings: this.settings, idleSinceMs: this.idleSinceMs, parts: [...parts.values()] }
  }
}
