import { DurableObject } from 'cloudflare:workers'
import { Batcher, timeText } from '../../shared/feed/batch.ts'
import type { Values } from '../../shared/feed/fields.ts'
import { type Accepted, Hub, type Source, type TickKey, type Verdict } from '../../shared/feed/hub.ts'
import { type HubMessage, hubSymbol, hubTick, parseRelayMessage, type Up } from '../../shared/feed/uplink.ts'
import { type LinkEffect, UpstreamLink } from '../../shared/feed/upstream.ts'
import { parseRetryAfter } from '../../shared/kernel/http/retry.ts'
import { randomBase36 } from '../../shared/kernel/ids.ts'
import { configOf, type GatewayBindings } from '../gateway/env.ts'
import { upstreamOf } from '../gateway/upstream.ts'
import { RelayWishes } from './relay-wishes.ts'
import { SavedState } from './saved-state.ts'
import { TickWriter } from './tick-writer.ts'

/** Ticks go to relays together, this long after the first. */
const pushMs = 50
const saveMs = 5000
/** An eviction leaves nothing that would wake the object while symbols are wanted, so an alarm does. */
const watchdogMs = 30_000

/** The last values of a symbol as the gateway reads them; `m` is the merged message. */
export type LastValue = {
  readonly s: string
  readonly q: number
  readonly e: string
  readonly state: string
  readonly ageMs: number
  readonly values: Values
}

export type HubStatus = {
  readonly up: Up
  readonly since: number
  readonly symbols: number
  readonly epoch: string
  readonly age_ms: number | null
  readonly relays: number
  /** Connections to the upstream that were opened since the object started, and frames that came over them. */
  readonly upstream: { readonly connects: number; readonly frames: number; readonly failures: number }
  readonly queued_ticks: number
  readonly dropped_ticks: number
}

/** The place where the ticks of a shard of symbols arrive, get their numbers, and go out to relays and the database. */
export class FeedHub extends DurableObject<GatewayBindings> {
  readonly #hub: Hub
  readonly #link = new UpstreamLink(Math.random)
  readonly #wanted: RelayWishes
  readonly #saved: SavedState
  readonly #writer: TickWriter
  readonly #batcher: Batcher
  readonly #storesTicks: boolean
  #socket: WebSocket | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Ticks that wait to be pushed. */
  #outbox: Accepted[] = []
  #pushAtMs: number | undefined
  #saveAtMs: number | undefined
  #watchdogMs = 0
  #up: Up = 'down'
  #newestMs = 0
  /** One batch of frames after the other: a look into the database must not let a later one pass. */
  #intake: Promise<unknown> = Promise.resolve()
  #busy = 0

  constructor(ctx: DurableObjectState, env: GatewayBindings) {
    super(ctx, env)
    const { FEED_RING_TICKS: ringTicks, FEED_RING_MS: ringMs, FEED_STORE: store } = configOf(env).feed
    const epoch = randomBase36(6, (count) => crypto.getRandomValues(new Uint8Array(count)))
    this.#wanted = new RelayWishes(ctx.storage)
    this.#saved = new SavedState(ctx.storage)
    this.#hub = new Hub(epoch, { ringTicks, ringMs }, this.#saved.read())
    this.#writer = new TickWriter(ctx.storage, env.DATABASE_URL)
    this.#batcher = new Batcher(ctx.id.name ?? ctx.id.toString(), epoch)
    // Packs are made of stored ticks later on; the other two settings keep none.
    this.#storesTicks = store === 'ticks' || store === 'packs'
    this.#resume()
  }

  /** A relay's websocket. */
  override async fetch(request: Request): Promise<Response> {
    if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') return new Response(null, { status: 426 })
    const { 0: client, 1: server } = new WebSocketPair()
    this.ctx.acceptWebSocket(server)
    send(server, { t: 'up', up: this.#up, since: this.#link.sinceMs })
    return new Response(null, { status: 101, webSocket: client })
  }

  override webSocketMessage(relay: WebSocket, data: string | ArrayBuffer): void {
    const message = typeof data === 'string' ? parseRelayMessage(data) : undefined
    if (!message) return
    const nowMs = Date.now()
    const wanted = new Set(this.#wanted.of(relay))
    const drop = (message.drop ?? []).filter((symbol) => wanted.delete(symbol))
    const need = message.need ?? []
    const added = need.filter((symbol) => !wanted.has(symbol))
    for (const symbol of added) wanted.add(symbol)
    this.#wanted.set(relay, wanted)
    this.#link.unwant(drop, nowMs)
    this.#snapshot(relay, need)
    this.#apply(this.#link.want(added, nowMs))
    this.#schedule()
  }

  override webSocketClose(relay: WebSocket): void {
    this.#forget(relay)
  }

  override webSocketError(relay: WebSocket): void {
    this.#forget(relay)
  }

  override async alarm(): Promise<void> {
    // Being here is enough: the constructor connected again.
    this.#watchdogMs = 0
    this.#onTimer()
  }

  /**
   * Takes frames one after the other, as if each had come alone; the answer comes when they are stored (or wait for a
   * database that is away).
   */
  async take(frames: readonly Values[], source: Source): Promise<Verdict[]> {
    const verdicts = await this.#inTurn(async () => {
      const nowMs = Date.now()
      const known = await this.#lookUp(frames, nowMs)
      return frames.map((frame) => this.#accept(frame, nowMs, source, known))
    })
    await this.#flush()
    this.#save()
    this.#push()
    return verdicts
  }

  /** Last values by symbol; those without any are left out. */
  last(symbols: readonly string[]): LastValue[] {
    const nowMs = Date.now()
    return symbols.flatMap((symbol) => {
      const last = this.#hub.last(symbol)
      if (!last) return []
      const { s, q, recvMs, values } = last
      const state = this.#hub.stateOf(s, nowMs)
      return { s, q, e: this.#hub.epoch, state, ageMs: Math.max(0, nowMs - recvMs), values }
    })
  }

  status(): HubStatus {
    return {
      up: this.#up,
      since: this.#link.sinceMs,
      symbols: this.#hub.size,
      epoch: this.#hub.epoch,
      age_ms: this.#newestMs > 0 ? Math.max(0, Date.now() - this.#newestMs) : null,
      relays: this.ctx.getWebSockets().length,
      upstream: this.#link.totals,
      queued_ticks: this.#writer.queuedTicks,
      dropped_ticks: this.#writer.dropped,
    }
  }

  /** After a restart: the relays that are still connected get everything anew, in the new epoch. */
  #resume(): void {
    const nowMs = Date.now()
    for (const relay of this.ctx.getWebSockets()) {
      const wanted = [...this.#wanted.of(relay)]
      if (wanted.length === 0) continue
      this.#snapshot(relay, wanted)
      this.#apply(this.#link.want(wanted, nowMs))
    }
    this.#schedule()
  }

  #snapshot(relay: WebSocket, symbols: readonly string[]): void {
    if (symbols.length === 0) return
    const known = symbols.flatMap((symbol) => this.#hub.last(symbol) ?? [])
    const none = symbols.filter((symbol) => !this.#hub.last(symbol))
    // Ticks that wait to be pushed are in the snapshot already; the relay skips them by their numbers.
    send(relay, { t: 'snap', e: this.#hub.epoch, b: known.map(hubSymbol), none })
  }

  #forget(relay: WebSocket): void {
    this.#link.unwant([...this.#wanted.of(relay)], Date.now())
    this.#wanted.delete(relay)
    this.#schedule()
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#busy++
    const done = this.#intake.then(work).finally(() => {
      this.#busy--
    })
    this.#intake = done.catch(() => undefined)
    return done
  }

  /** A frame of the upstream. Nearly all are judged at once; only one that may be a repeat of a stored row waits. */
  #onUpstream(frame: Values): void {
    const nowMs = Date.now()
    const candidate = Hub.check(frame, nowMs)
    const mayBeStored = !('kind' in candidate) && this.#hub.mayBeStored(candidate)
    if (this.#busy === 0 && !mayBeStored) {
      this.#accept(frame, nowMs, 'stream', nothingKnown)
      return
    }
    const turn = this.#inTurn(async () => {
      this.#accept(frame, nowMs, 'stream', await this.#lookUp([frame], nowMs))
    })
    this.ctx.waitUntil(turn.catch((error: unknown) => logError('a frame was not taken', error)))
  }

  async #lookUp(frames: readonly Values[], nowMs: number): Promise<(key: TickKey) => boolean> {
    const keys = frames.flatMap((frame) => {
      const candidate = Hub.check(frame, nowMs)
      if ('kind' in candidate || !this.#hub.mayBeStored(candidate)) return []
      return { symbol: candidate.s, ts: timeText(candidate.tsMs), fp: String(candidate.fp) }
    })
    const stored = keys.length > 0 && this.#storesTicks ? await this.#writer.known(keys) : []
    const known = new Set(stored.map(({ symbol, ts, fp }) => `${symbol} ${ts} ${fp}`))
    return ({ s, tsMs, fp }) => {
      const ts = timeText(tsMs)
      return known.has(`${s} ${ts} ${fp}`) || this.#batcher.holds(s, ts, String(fp))
    }
  }

  #accept(frame: Values, nowMs: number, source: Source, isKnown: (key: TickKey) => boolean): Verdict {
    const candidate = Hub.check(frame, nowMs)
    if ('kind' in candidate) return candidate
    const verdict = this.#hub.accept(candidate, nowMs, source, isKnown)
    if (verdict.kind !== 'accepted') return verdict
    this.#newestMs = nowMs
    this.#outbox.push(verdict)
    this.#pushAtMs ??= nowMs + pushMs
    this.#saveAtMs ??= nowMs + saveMs
    if (this.#storesTicks) this.#batcher.add(verdict, nowMs)
    this.#schedule()
    return verdict
  }

  /** Each relay gets the ticks of the symbols that it wants; those that want the same share one text. */
  #push(): void {
    this.#pushAtMs = undefined
    const ticks = this.#outbox
    this.#outbox = []
    if (ticks.length === 0) return
    const texts = new Map<string, string>()
    const symbols = [...new Set(ticks.map(({ s }) => s))]
    for (const relay of this.ctx.getWebSockets()) {
      const wanted = this.#wanted.of(relay)
      const ours = symbols.filter((symbol) => wanted.has(symbol))
      if (ours.length === 0) continue
      const key = ours.join()
      const text = texts.get(key) ?? this.#ticksText(ticks.filter(({ s }) => wanted.has(s)))
      texts.set(key, text)
      sendText(relay, text)
    }
  }

  #ticksText(ticks: readonly Accepted[]): string {
    const message: HubMessage = { t: 'ticks', e: this.#hub.epoch, b: ticks.map(hubTick) }
    return JSON.stringify(message)
  }

  async #flush(): Promise<void> {
    const batches = this.#batcher.take((symbol) => this.#hub.last(symbol))
    await this.#writer.write(batches)
    this.#schedule()
  }

  #save(): void {
    this.#saveAtMs = undefined
    this.#saved.write(this.#hub.save())
  }

  /** One timer for everything that is due some time. */
  #schedule(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const flushMs = this.#writer.isBusy ? undefined : this.#batcher.dueMs
    const times = [this.#pushAtMs, this.#saveAtMs, flushMs, this.#writer.retryMs, this.#link.nextMs()]
    const next = Math.min(...times.filter((time) => time !== undefined))
    const nowMs = Date.now()
    this.#watch(nowMs)
    if (Number.isFinite(next)) this.#timer = setTimeout(() => this.#onTimer(), Math.max(0, next - nowMs))
  }

  #watch(nowMs: number): void {
    const isIdle = this.#link.symbols.length === 0 && this.#writer.queuedTicks === 0
    if (isIdle || this.#watchdogMs > nowMs) return
    this.#watchdogMs = nowMs + watchdogMs
    this.ctx.waitUntil(this.ctx.storage.setAlarm(this.#watchdogMs))
  }

  #onTimer(): void {
    const nowMs = Date.now()
    if (this.#pushAtMs !== undefined && this.#pushAtMs <= nowMs) this.#push()
    if (this.#saveAtMs !== undefined && this.#saveAtMs <= nowMs) this.#save()
    if (!this.#writer.isBusy && (this.#batcher.dueMs ?? Number.POSITIVE_INFINITY) <= nowMs) {
      this.ctx.waitUntil(this.#flush().catch((error: unknown) => logError('ticks were not stored', error)))
    }
    if ((this.#writer.retryMs ?? Number.POSITIVE_INFINITY) <= nowMs) {
      this.ctx.waitUntil(this.#writer.drain().then(() => this.#schedule()))
    }
    this.#apply(this.#link.onTimer(nowMs))
    this.#schedule()
  }

  #apply(effects: readonly LinkEffect[]): void {
    for (const effect of effects) {
      if (effect.do === 'connect') this.ctx.waitUntil(this.#connect())
      else if (effect.do === 'close') this.#closeSocket()
      else if (this.#socket) sendText(this.#socket, effect.data)
    }
    this.#tellUp()
  }

  #tellUp(): void {
    const up = upOf(this.#link.state)
    if (up === this.#up) return
    this.#up = up
    for (const relay of this.ctx.getWebSockets()) send(relay, { t: 'up', up, since: this.#link.sinceMs })
  }

  async #connect(): Promise<void> {
    try {
      const upstream = upstreamOf(this.env, 'STREAMER')
      const version = configOf(this.env).feed.FEED_UPSTREAM_VERSION
      const url = `${upstream.base}/${version === 2 ? '?version=2' : ''}`
      const response = await upstream.send(new Request(url, { headers: { upgrade: 'websocket' } }))
      const socket = response.webSocket
      if (!socket) {
        const retryMs = parseRetryAfter(response.headers.get('retry-after'), Date.now)
        this.#apply(this.#link.onRefused(response.status, retryMs, Date.now()))
      } else if (this.#link.state !== 'connecting') {
        socket.accept()
        socket.close(1000)
      } else this.#open(socket)
    } catch (error) {
      logError('the upstream cannot be reached', error)
      this.#apply(this.#link.onClosed(Date.now()))
    }
    this.#schedule()
  }

  #open(socket: WebSocket): void {
    this.#socket = socket
    socket.binaryType = 'arraybuffer'
    socket.accept()
    socket.addEventListener('message', ({ data }) => {
      if (this.#socket !== socket) return
      const { values, effects } = this.#link.onFrame(data as string | ArrayBuffer, Date.now())
      if (values) this.#onUpstream(values)
      this.#apply(effects)
    })
    const onEnd = () => {
      closeQuietly(socket)
      if (this.#socket !== socket) return
      this.#socket = undefined
      this.#apply(this.#link.onClosed(Date.now()))
      this.#schedule()
    }
    socket.addEventListener('close', onEnd)
    socket.addEventListener('error', onEnd)
    this.#apply(this.#link.onOpen(Date.now()))
  }

  #closeSocket(): void {
    const socket = this.#socket
    this.#socket = undefined
    if (socket) closeQuietly(socket)
  }
}

const nothingKnown = () => false

const upOf = (state: UpstreamLink['state']): Up =>
  state === 'live' || state === 'quiet' || state === 'stale' ? state : 'down'

const send = (relay: WebSocket, message: HubMessage): void => sendText(relay, JSON.stringify(message))

/** A socket that closed meanwhile throws; its close event does what is left to do. */
function sendText(socket: WebSocket, text: string): void {
  try {
    socket.send(text)
  } catch {
    closeQuietly(socket)
  }
}

function closeQuietly(socket: WebSocket): void {
  try {
    socket.close(1000)
  } catch {
    // closed already
  }
}

const logError = (message: string, error: unknown): void =>
  console.error(JSON.stringify({ level: 'error', message, error: String(error) }))
