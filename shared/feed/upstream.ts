import { decodeValues, fromBase64Strict } from './codec.ts'
import type { Values } from './fields.ts'

/** State of the link as subscribers are told it. */
export type UpState = 'idle' | 'connecting' | 'live' | 'quiet' | 'stale' | 'backoff' | 'refused'

export type LinkEffect =
  | { readonly do: 'connect' }
  | { readonly do: 'send'; readonly data: string }
  /** Close the socket, if there is one. */
  | { readonly do: 'close' }

export const linkTimes = {
  connectMs: 10_000,
  keepaliveMs: 15_000,
  quietMs: 30_000,
  staleMs: 60_000,
  healthyMs: 60_000,
  backoffBaseMs: 1000,
  backoffMostMs: 60_000,
  /** A symbol is given up only after nobody wanted it for this long. */
  lingerMs: 30_000,
  failureWindowMs: 60_000,
} as const

/** This many frames that do not decode within the window end a connection. */
const mostFailures = 100

/** Text with a message in an envelope, bare base64, or a binary message: one upstream or another sends each. */
export function readFrame(data: string | ArrayBuffer): Values | 'no-message' | 'bad' {
  try {
    if (typeof data === 'string')
      return data.startsWith('{') ? readEnvelope(data) : decodeValues(fromBase64Strict(data))
    const bytes = new Uint8Array(data)
    // A brace would begin a group with number 15, which no message of this feed has.
    return bytes[0] === 0x7b ? readEnvelope(new TextDecoder().decode(bytes)) : decodeValues(bytes)
  } catch {
    return 'bad'
  }
}

function readEnvelope(text: string): Values | 'no-message' {
  const { message } = JSON.parse(text) as { message?: unknown }
  if (typeof message !== 'string' || message === '') return 'no-message'
  return decodeValues(fromBase64Strict(message))
}

/**
 * The link to the upstream as a state machine: who wants which symbols, when to connect, to repeat the subscription,
 * to give up a silent connection, and how long to wait. Time and randomness (uniform in 0 ≤ x < 1) are arguments; the
 * caller does what the effects say and calls {@link onTimer} at {@link nextMs}.
 */
export class UpstreamLink {
  readonly #random: () => number
  readonly #wanted = new Map<string, number>()
  /** Symbols that nobody wants any more, and when they are given up. */
  readonly #lingering = new Map<string, number>()
  #state: UpState = 'idle'
  #sinceMs = 0
  #attempt = 0
  #openedMs = 0
  #heardMs = 0
  #keepaliveMs = 0
  #retryMs = 0
  #failures: number[] = []
  #connectsTotal = 0
  #framesTotal = 0
  #failuresTotal = 0

  constructor(random: () => number) {
    this.#random = random
  }

  get state(): UpState {
    return this.#state
  }

  get sinceMs(): number {
    return this.#sinceMs
  }

  get totals(): { readonly connects: number; readonly frames: number; readonly failures: number } {
    return { connects: this.#connectsTotal, frames: this.#framesTotal, failures: this.#failuresTotal }
  }

  /** The union of what is wanted or lingers. */
  get symbols(): readonly string[] {
    return [...this.#wanted.keys(), ...this.#lingering.keys()]
  }

  want(symbols: readonly string[], nowMs: number): LinkEffect[] {
    const added: string[] = []
    for (const symbol of symbols) {
      const count = this.#wanted.get(symbol) ?? 0
      this.#wanted.set(symbol, count + 1)
      if (count === 0 && !this.#lingering.delete(symbol)) added.push(symbol)
    }
    if (this.#wanted.size === 0) return []
    if (this.#state === 'idle') return this.#connect(nowMs)
    return added.length > 0 && this.#isOpen() ? [send({ subscribe: added })] : []
  }

  unwant(symbols: readonly string[], nowMs: number): void {
    for (const symbol of symbols) {
      const count = this.#wanted.get(symbol) ?? 0
      if (count > 1) this.#wanted.set(symbol, count - 1)
      else if (this.#wanted.delete(symbol)) this.#lingering.set(symbol, nowMs + linkTimes.lingerMs)
    }
  }

  onOpen(nowMs: number): LinkEffect[] {
    this.#openedMs = nowMs
    this.#heardMs = nowMs
    this.#enter('live', nowMs)
    return this.#keepalive(nowMs)
  }

  /** The socket closed, or could not be opened. */
  onClosed(nowMs: number): LinkEffect[] {
    if (this.#state === 'idle' || this.#state === 'refused' || this.#state === 'backoff') return []
    return this.#backOff(nowMs, 0)
  }

  /** The upstream answered the upgrade with a status: 401 and 403 will not pass by waiting. */
  onRefused(status: number, retryAfterMs: number | undefined, nowMs: number): LinkEffect[] {
    if (status === 401 || status === 403) {
      this.#enter('refused', nowMs)
      return []
    }
    return this.#backOff(nowMs, retryAfterMs ?? 0)
  }

  /** A frame of the upstream; `values` is absent when it holds no tick. */
  onFrame(data: string | ArrayBuffer, nowMs: number): { values?: Values; effects: LinkEffect[] } {
    const values = readFrame(data)
    if (values === 'bad') return { effects: this.#onFailure(nowMs) }
    this.#framesTotal++
    this.#heardMs = nowMs
    if (this.#state === 'quiet' || this.#state === 'stale') this.#enter('live', nowMs)
    if (nowMs - this.#openedMs >= linkTimes.healthyMs) this.#attempt = 0
    return values === 'no-message' ? { effects: [] } : { values, effects: [] }
  }

  /** When {@link onTimer} is due; undefined when nothing is. */
  nextMs(): number | undefined {
    const times = [...this.#lingering.values()]
    if (this.#state === 'connecting') times.push(this.#sinceMs + linkTimes.connectMs)
    if (this.#state === 'backoff') times.push(this.#retryMs)
    if (this.#isOpen()) {
      times.push(this.#keepaliveMs)
      times.push(this.#heardMs + (this.#state === 'live' ? linkTimes.quietMs : linkTimes.staleMs))
    }
    return times.length > 0 ? Math.min(...times) : undefined
  }

  onTimer(nowMs: number): LinkEffect[] {
    const effects = this.#dropLingering(nowMs)
    if (this.#wanted.size + this.#lingering.size === 0) return [...effects, ...this.#rest(nowMs)]
    if (this.#state === 'connecting' && nowMs >= this.#sinceMs + linkTimes.connectMs) {
      return [...effects, { do: 'close' }, ...this.#backOff(nowMs, 0)]
    }
    if (this.#state === 'backoff' && nowMs >= this.#retryMs) return [...effects, ...this.#connect(nowMs)]
    if (!this.#isOpen()) return effects
    const silentMs = nowMs - this.#heardMs
    if (silentMs >= linkTimes.staleMs) {
      this.#enter('stale', nowMs)
      return [...effects, { do: 'close' }, ...this.#backOff(nowMs, 0)]
    }
    if (silentMs >= linkTimes.quietMs && this.#state === 'live') this.#enter('quiet', nowMs)
    return nowMs >= this.#keepaliveMs ? [...effects, ...this.#keepalive(nowMs)] : effects
  }

  #isOpen(): boolean {
    return this.#state === 'live' || this.#state === 'quiet' || this.#state === 'stale'
  }

  #connect(nowMs: number): LinkEffect[] {
    this.#connectsTotal++
    this.#enter('connecting', nowMs)
    return [{ do: 'connect' }]
  }

  #rest(nowMs: number): LinkEffect[] {
    if (this.#state === 'idle') return []
    this.#enter('idle', nowMs)
    return [{ do: 'close' }]
  }

  /** Full jitter; the attempts count until a connection was healthy for a minute, not merely open. */
  #backOff(nowMs: number, atLeastMs: number): LinkEffect[] {
    const mostMs = Math.min(linkTimes.backoffMostMs, linkTimes.backoffBaseMs * 2 ** this.#attempt)
    this.#attempt++
    this.#retryMs = nowMs + atLeastMs + this.#random() * mostMs
    this.#failures = []
    this.#enter('backoff', nowMs)
    return []
  }

  /** The whole set each time: the upstream forgets a client that says nothing. */
  #keepalive(nowMs: number): LinkEffect[] {
    this.#keepaliveMs = nowMs + linkTimes.keepaliveMs
    return [send({ subscribe: this.symbols })]
  }

  #dropLingering(nowMs: number): LinkEffect[] {
    const dropped = [...this.#lingering].flatMap(([symbol, untilMs]) => (untilMs <= nowMs ? symbol : []))
    for (const symbol of dropped) this.#lingering.delete(symbol)
    return dropped.length > 0 && this.#isOpen() ? [send({ unsubscribe: dropped })] : []
  }

  #onFailure(nowMs: number): LinkEffect[] {
    this.#failuresTotal++
    this.#failures = [...this.#failures.filter((ms) => ms > nowMs - linkTimes.failureWindowMs), nowMs]
    if (this.#failures.length < mostFailures) return []
    return [{ do: 'close' }, ...this.#backOff(nowMs, 0)]
  }

  #enter(state: UpState, nowMs: number): void {
    if (state === this.#state) return
    this.#state = state
    this.#sinceMs = nowMs
  }
}

const send = (message: unknown): LinkEffect => ({ do: 'send', data: JSON.stringify(message) })
