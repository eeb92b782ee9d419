import { toBase64 } from '../kernel/bytes.ts'
import { encode } from './codec.ts'
import type { Values } from './fields.ts'
import { fmix32 } from './rendezvous.ts'
import { InstrumentPath, type SimulatorOptions } from './simulator.ts'
import { fromSymbol } from './symbol.ts'
import { instruments } from './universe.ts'

/** What goes wrong on purpose; shares are 0 to 1, times count from the start of the connection. */
export type Faults = {
  readonly drop: number
  readonly dup: number
  readonly garble: number
  readonly late: { readonly share: number; readonly ms: number }
  /** No data in this span, with the socket open. */
  readonly freeze?: { readonly fromMs: number; readonly toMs: number } | undefined
  readonly close?: { readonly afterMs: number; readonly code: number } | undefined
}

export const noFaults: Faults = { drop: 0, dup: 0, garble: 0, late: { share: 0, ms: 0 } }

export type StreamerOptions = SimulatorOptions & {
  /** 1: bare base64. 2: an envelope around it. */
  readonly version: 1 | 2
  readonly faults: Faults
}

export type StreamerEffect =
  | { readonly do: 'send'; readonly data: string }
  | { readonly do: 'close'; readonly code: number; readonly reason: string }

/** A connection without a frame from its client is ended after this long, as users of the original report. */
export const idleCutMs = 25 * 60_000
/** Fields that hardly change are sent this long after a symbol's first subscribe. */
const staticAfterMs = 1000

type Subscription = { readonly path: InstrumentPath; nextMs: number; staticMs: number | undefined }

/** One text in the form of a version of the upstream: one message a frame. */
export function streamerFrame(bytes: Uint8Array, version: number): string {
  const message = toBase64(bytes)
  return version === 1 ? message : JSON.stringify({ type: 'pricing', message })
}

/** One client of the sandbox streamer: subscribing adds, a symbol that does not exist gets silence. */
export class StreamerConnection {
  readonly #options: StreamerOptions
  readonly #startedMs: number
  readonly #subscriptions = new Map<string, Subscription>()
  /** Frames held back to arrive late. */
  readonly #delayed: { atMs: number; data: string }[] = []
  #heardMs: number
  #sent = 0

  constructor(options: StreamerOptions, nowMs: number) {
    this.#options = options
    this.#startedMs = nowMs
    this.#heardMs = nowMs
  }

  /** Takes a client's text; what is not understood is ignored. */
  onText(text: string, nowMs: number): void {
    this.#heardMs = nowMs
    const message = parseJson(text)
    for (const symbol of symbolsOf(message, 'subscribe')) this.#subscribe(symbol, nowMs)
    for (const symbol of symbolsOf(message, 'unsubscribe')) this.#subscriptions.delete(symbol)
  }

  /** When {@link due} has something to do next. */
  nextMs(): number {
    const { close } = this.#options.faults
    let next = this.#heardMs + idleCutMs
    if (close) next = Math.min(next, this.#startedMs + close.afterMs)
    for (const { atMs } of this.#delayed) next = Math.min(next, atMs)
    for (const { nextMs, staticMs } of this.#subscriptions.values()) {
      next = Math.min(next, nextMs, staticMs ?? Number.POSITIVE_INFINITY)
    }
    return next
  }

  /** What has become due by now, in order of time. */
  due(nowMs: number): StreamerEffect[] {
    const { close } = this.#options.faults
    if (close && nowMs >= this.#startedMs + close.afterMs) return [{ do: 'close', code: close.code, reason: '' }]
    if (nowMs >= this.#heardMs + idleCutMs) return [{ do: 'close', code: 1000, reason: 'idle' }]
    const frames: { atMs: number; data: string }[] = this.#delayed.filter(({ atMs }) => atMs <= nowMs)
    for (const frame of frames) this.#delayed.splice(this.#delayed.indexOf(frame), 1)
    for (const subscription of this.#subscriptions.values()) {
      const { path } = subscription
      if (subscription.staticMs !== undefined && subscription.staticMs <= nowMs) {
        frames.push({ atMs: subscription.staticMs, data: this.#written(path.staticFrame(subscription.staticMs)) })
        subscription.staticMs = undefined
      }
      // After a sleep only the newest ticks matter: a reader gets at most the last second of them.
      if (subscription.nextMs < nowMs - 1000) subscription.nextMs = path.nextTickMs(nowMs - 1000) ?? nowMs + 3_600_000
      while (subscription.nextMs <= nowMs) {
        const atMs = subscription.nextMs
        this.#emit(frames, atMs, path.frame(atMs))
        // A closed market is looked at again each hour.
        subscription.nextMs = path.nextTickMs(atMs) ?? atMs + 3_600_000
      }
    }
    return frames.sort((left, right) => left.atMs - right.atMs).map(({ data }) => ({ do: 'send', data }))
  }

  #subscribe(symbol: string, nowMs: number): void {
    const instrument = instruments.get(symbol)
    if (!instrument || this.#subscriptions.has(symbol)) return
    const path = new InstrumentPath(instrument, this.#options)
    const nextMs = path.nextTickMs(nowMs) ?? nowMs + 3_600_000
    this.#subscriptions.set(symbol, { path, nextMs, staticMs: nowMs + staticAfterMs })
  }

  #emit(frames: { atMs: number; data: string }[], atMs: number, frame: Values): void {
    const { drop, dup, garble, late, freeze } = this.#options.faults
    const sinceMs = atMs - this.#startedMs
    const data = this.#written(frame)
    this.#sent++
    if (freeze && sinceMs >= freeze.fromMs && sinceMs < freeze.toMs) return
    if (this.#chance(1) < drop) return
    if (this.#chance(2) < late.share) {
      this.#delayed.push({ atMs: atMs + late.ms, data })
      return
    }
    frames.push({ atMs, data: this.#chance(3) < garble ? data.slice(0, -3) : data })
    if (this.#chance(4) < dup) frames.push({ atMs, data })
  }

  #written(frame: Values): string {
    return streamerFrame(encode(frame), this.#options.version)
  }

  /** In 0 ≤ x < 1, from the seed, the frame and the question. */
  #chance(lane: number): number {
    return (
      fmix32(fmix32(Number(this.#options.seed) | 0) ^ Math.imul(this.#sent, 2_654_435_761) ^ (lane << 28)) / 2 ** 32
    )
  }
}

function symbolsOf(message: unknown, key: 'subscribe' | 'unsubscribe'): string[] {
  const list = (message as Record<string, unknown> | null)?.[key]
  if (!Array.isArray(list)) return []
  return list.flatMap((text) => (typeof text === 'string' ? (fromSymbol(text) ?? []) : []))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
