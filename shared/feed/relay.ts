// Longer than most: the order of acknowledgement, snapshot and updates for one connection is decided here alone.

import { Conflator, type Item, intervalClass, type Tick } from './conflate.ts'
import { Connection, type ConnectionSettings, type Kept, limitsOf, type SubscriptionOptions } from './connection.ts'
import type { Values } from './fields.ts'
import { merge } from './merge.ts'
import { anonymousFloorMs, type Rejected } from './options.ts'
import {
  type AckSymbol,
  type CloseCode,
  closes,
  frames,
  type Operation,
  parseRequests,
  parseUpstreamForm,
  type Request,
} from './protocol.ts'
import { cut, type Send, Stream, type TickData } from './stream.ts'
import { fromSymbol, readSymbols } from './symbol.ts'
import { type HubMessage, type HubTick, type Up, valuesOf } from './uplink.ts'

export type RelayEffect =
  | Send
  /** Store with the socket what must survive while the object sleeps. */
  | { readonly do: 'keep'; readonly to: string; readonly kept: Kept }
  | { readonly do: 'close'; readonly to: string; readonly code: CloseCode; readonly reason: string }
  /** Tell the hubs of these symbols. */
  | { readonly do: 'hub'; readonly need: readonly string[]; readonly drop: readonly string[] }

export type RelaySettings = {
  readonly node: string
  readonly heartbeatMs: number
  /** The only symbols served; empty = any. */
  readonly allowed: ReadonlySet<string>
}

/** A symbol that somebody here wants. */
type Known = {
  wanted: number
  /** Undefined until its hub answered. */
  e: string | undefined
  q: number
  values: Values
  state: 'asked' | 'live' | 'unknown' | 'no_data'
  sinceMs: number
}

/** An acknowledgement that waits for hubs, at most until a time. */
type Waiting = {
  readonly connection: Connection
  readonly operation: Operation | undefined
  readonly symbols: readonly string[]
  readonly rejected: readonly Rejected[]
  readonly untilMs: number
}

type SubscribeWish = Extract<Operation, { op: 'subscribe' }>

const waitForHubMs = 1000
const noDataMs = 60_000
const lifeMs = 24 * 3_600_000
/** Heartbeats are spread over this many phases. */
const heartbeatSlots = 16

/**
 * The core of a relay: connections, the streams and groups that share encodings, and the relay's copy of each symbol.
 * What is to be done comes back as effects; {@link onTimer} is due at {@link nextMs}.
 */
export class Relay {
  readonly #settings: RelaySettings
  readonly #connections = new Map<string, Connection>()
  readonly #symbols = new Map<string, Known>()
  readonly #streams = new Map<string, Stream>()
  readonly #conflators = new Map<number, Conflator<TickData>>()
  /** Group of each connection, by stream. */
  readonly #memberships = new Map<Connection, Map<string, string>>()
  #waiting: Waiting[] = []
  /** Requests that are not answered yet, by connection. */
  readonly #queues = new Map<Connection, Request[]>()
  #slot: number | undefined
  #up: Up = 'down'
  #upSinceMs = 0

  constructor(settings: RelaySettings) {
    this.#settings = settings
  }

  get size(): number {
    return this.#connections.size
  }

  get symbols(): readonly string[] {
    return [...this.#symbols.keys()]
  }

  /** Whether a key may open one more connection here. */
  hasRoom(keyId: string | undefined): boolean {
    if (keyId === undefined) return true
    let count = 0
    for (const { settings } of this.#connections.values()) if (settings.keyId === keyId) count++
    return count < limitsOf(true).connections
  }

  connect(settings: ConnectionSettings, symbols: readonly string[], nowMs: number): RelayEffect[] {
    const connection = this.#add(settings, nowMs)
    const hello = connection.isNative ? [this.#hello(connection, nowMs)] : []
    const effects = symbols.length > 0 ? this.#subscribe(connection, symbols, undefined, nowMs) : []
    return [this.#keep(connection), ...hello, ...effects]
  }

  /** Takes back a connection after the object slept: it gets snapshots, since what it has is not known any more. */
  restore({ settings, idleSinceMs, parts }: Kept, nowMs: number): RelayEffect[] {
    const connection = this.#add(settings, nowMs)
    connection.idleSinceMs = idleSinceMs
    const need: string[] = []
    for (const { symbols, ...options } of parts) {
      for (const symbol of symbols) {
        connection.subscriptions.set(symbol, options)
        connection.fresh.set(symbol, null)
        if (this.#want(symbol, nowMs)) need.push(symbol)
      }
    }
    this.#regroup(connection)
    return need.length > 0 ? [{ do: 'hub', need, drop: [] }] : []
  }

  /** The socket is gone. */
  leave(id: string): RelayEffect[] {
    const connection = this.#connections.get(id)
    if (!connection) return []
    this.#connections.delete(id)
    this.#queues.delete(connection)
    this.#waiting = this.#waiting.filter((waiting) => waiting.connection !== connection)
    const drop = [...connection.subscriptions.keys()].filter((symbol) => this.#unwant(symbol))
    connection.subscriptions.clear()
    this.#regroup(connection)
    this.#memberships.delete(connection)
    this.#forget(drop)
    return drop.length > 0 ? [{ do: 'hub', need: [], drop }] : []
  }

  onText(id: string, text: string, nowMs: number): RelayEffect[] {
    const connection = this.#connections.get(id)
    if (!connection) return []
    // A character is up to three bytes, so most texts need no count.
    const { frameBytes } = connection.limits
    if (text.length * 3 > frameBytes && new TextEncoder().encode(text).length > frameBytes) {
      return this.#close(connection, 4413)
    }
    const retryMs = connection.takeToken(nowMs)
    if (retryMs > 0) {
      if (connection.countError(nowMs)) return this.#close(connection, 4429, retryMs)
      if (!connection.isNative) return []
      const msg = `more than ${connection.limits.framesPerSecond} frames a second`
      return [to(connection, frames.err('rate_limited', msg, { retry_ms: retryMs }))]
    }
    return connection.isNative ? this.#onNativeText(connection, text, nowMs) : this.#onBareText(connection, text, nowMs)
  }

  onBinary(id: string): RelayEffect[] {
    const connection = this.#connections.get(id)
    return connection ? this.#close(connection, 4415) : []
  }

  onHub(message: HubMessage, nowMs: number): RelayEffect[] {
    if (message.t === 'up') return this.setUp(message.up, message.since, nowMs)
    if (message.t === 'snap') {
      return [...this.#onSnapshot(message.e, message.b, message.none, nowMs), ...this.#workOff(nowMs)]
    }
    return this.#onTicks(message.e, message.b, nowMs)
  }

  /** The upstream's state as the hub says it, or `down` when there is no hub. */
  setUp(up: Up, sinceMs: number, nowMs: number): RelayEffect[] {
    if (up === this.#up) return []
    this.#up = up
    this.#upSinceMs = sinceMs
    const natives = [...this.#connections.values()].filter(({ isNative }) => isNative)
    return send(natives, frames.up(nowMs, up, this.#upSinceMs))
  }

  /** Nobody has symbols: there is nothing to flush, so no heartbeats, and the object may sleep until {@link nextMs}. */
  get isAsleep(): boolean {
    return this.#symbols.size === 0
  }

  nextMs(): number | undefined {
    const times = this.#waiting.map(({ untilMs }) => untilMs)
    for (const { flushAtMs } of this.#conflators.values()) if (flushAtMs !== undefined) times.push(flushAtMs)
    if (this.isAsleep)
      for (const { idleSinceMs, limits } of this.#connections.values()) times.push(idleSinceMs + limits.idleMs)
    else if (this.#slot !== undefined) times.push((this.#slot + 1) * this.#slotMs())
    return times.length > 0 ? Math.min(...times) : undefined
  }

  onTimer(nowMs: number): RelayEffect[] {
    const effects: RelayEffect[] = []
    for (const conflator of this.#conflators.values()) {
      if (conflator.flushAtMs !== undefined && conflator.flushAtMs <= nowMs) {
        effects.push(...this.#deliver(conflator.intervalMs, conflator.turn(nowMs, []), nowMs))
      }
    }
    effects.push(...this.#finishWaiting(nowMs))
    effects.push(...(this.isAsleep ? this.#closeIdle(nowMs) : this.#onSlots(nowMs)))
    effects.push(...this.#workOff(nowMs))
    this.#slot = Math.floor(nowMs / this.#slotMs())
    return effects
  }

  #add(settings: ConnectionSettings, nowMs: number): Connection {
    const connection = new Connection(settings, nowMs)
    this.#connections.set(settings.id, connection)
    this.#memberships.set(connection, new Map())
    this.#slot ??= Math.floor(nowMs / this.#slotMs())
    return connection
  }

  #hello(connection: Connection, nowMs: number): Send {
    const { id, interval, keyId } = connection.settings
    const { symbols, framesPerSecond, frameBytes } = connection.limits
    const hello = frames.hello({
      conn: id,
      node: this.#settings.node,
      ts: nowMs,
      hb: this.#settings.heartbeatMs,
      interval,
      limits: { symbols, frames_per_second: framesPerSecond, frame_bytes: frameBytes },
      auth: keyId === undefined ? 'none' : 'ok',
    })
    return to(connection, hello)
  }

  #onNativeText(connection: Connection, text: string, nowMs: number): RelayEffect[] {
    const queue = this.#queues.get(connection) ?? []
    queue.push(...parseRequests(text))
    this.#queues.set(connection, queue)
    return this.#workOff(nowMs)
  }

  /** Answers requests in the order in which they came: one behind a subscription that waits for a hub waits too. */
  #workOff(nowMs: number): RelayEffect[] {
    const effects: RelayEffect[] = []
    for (const [connection, queue] of this.#queues) {
      const isOpen = () => this.#connections.get(connection.settings.id) === connection
      const waits = () => this.#waiting.some((waiting) => waiting.connection === connection)
      for (let request = queue[0]; request && isOpen() && !waits(); request = queue[0]) {
        queue.shift()
        effects.push(...this.#answer(connection, request, nowMs))
      }
      if (queue.length === 0 || !isOpen()) this.#queues.delete(connection)
    }
    return effects
  }

  #answer(connection: Connection, request: Request, nowMs: number): RelayEffect[] {
    if (request.kind === 'operation') return this.#operate(connection, request.operation, nowMs)
    if (request.kind === 'upstream') {
      const { subscribe, unsubscribe } = request
      return [
        ...(subscribe.length > 0 ? this.#subscribe(connection, subscribe, undefined, nowMs) : []),
        ...(unsubscribe.length > 0 ? this.#unsubscribe(connection, unsubscribe, nowMs) : []),
      ]
    }
    const error = to(connection, frames.err(request.code, request.msg, { id: request.id }))
    return connection.countError(nowMs) ? [error, ...this.#close(connection, 4400)] : [error]
  }

  /** Clients of the upstream have no code for an answer: what is wrong is counted, and nothing is said. */
  #onBareText(connection: Connection, text: string, nowMs: number): RelayEffect[] {
    const request = parseUpstreamForm(parseJson(text))
    if (!request) return connection.countError(nowMs) ? this.#close(connection, 4400) : []
    const { subscribe, unsubscribe } = request
    return [
      ...(subscribe.length > 0 ? this.#subscribe(connection, subscribe, undefined, nowMs) : []),
      ...(unsubscribe.length > 0 ? this.#unsubscribe(connection, unsubscribe, nowMs) : []),
    ]
  }

  #operate(connection: Connection, operation: Operation, nowMs: number): RelayEffect[] {
    switch (operation.op) {
      case 'subscribe':
        return this.#subscribe(connection, operation.symbols, operation, nowMs)
      case 'unsubscribe': {
        const all = operation.symbols === '*'
        const symbols = all ? [...connection.subscriptions.keys()] : (operation.symbols as readonly string[])
        const effects = this.#unsubscribe(connection, symbols, nowMs)
        return [...effects, ...acknowledge(connection, operation, { ok: true })]
      }
      case 'update':
        return this.#update(connection, operation, nowMs)
      case 'resync':
        return this.#resync(connection, operation, nowMs)
      case 'list': {
        const symbols = this.#ackSymbols([...connection.subscriptions.keys()])
        const options = connection.kept().parts.map(({ interval, fields, extremes, symbols: of }) => {
          return { interval, fields, extremes, symbols: of }
        })
        return acknowledge(connection, operation, { ok: true, symbols, options })
      }
      case 'ping':
        return [to(connection, frames.pong(nowMs, operation.id, operation.t))]
    }
  }

  /** Adds symbols; those that are there already only take over the options that the request names. */
  #subscribe(
    connection: Connection,
    texts: readonly string[],
    operation: SubscribeWish | undefined,
    nowMs: number,
  ): RelayEffect[] {
    const { accepted, rejected } = this.#admit(connection, texts)
    const need: string[] = []
    const added: string[] = []
    const moved: string[] = []
    for (const symbol of accepted) {
      const before = connection.subscriptions.get(symbol)
      const options = optionsOf(connection, operation, before)
      connection.subscriptions.set(symbol, options)
      if (before) {
        if (Stream.keyOf(connection.settings, before) !== Stream.keyOf(connection.settings, options)) {
          this.#carryOver(connection, symbol, before)
          moved.push(symbol)
        }
        continue
      }
      added.push(symbol)
      connection.holding.add(symbol)
      if (this.#want(symbol, nowMs)) need.push(symbol)
    }
    const effects: RelayEffect[] = []
    // Clients of the upstream repeat their whole set every 15 s: nothing is written for that.
    if (added.length + moved.length > 0) {
      effects.push(this.#keep(connection))
      this.#regroup(connection)
    }
    if (need.length > 0) effects.push({ do: 'hub', need, drop: [] })
    const symbols = operation ? accepted : added
    this.#waiting.push({ connection, operation, symbols, rejected, untilMs: nowMs + waitForHubMs })
    return [...effects, ...this.#finishWaiting(nowMs), ...this.#catchUp(connection, moved, nowMs)]
  }

  #admit(connection: Connection, texts: readonly string[]): { accepted: string[]; rejected: Rejected[] } {
    const read = readSymbols(texts)
    const rejected: Rejected[] = read.rejected.map((s) => ({ s, code: 'bad_symbol' }))
    const accepted: string[] = []
    let room = connection.limits.symbols - connection.subscriptions.size
    for (const s of read.symbols) {
      const isNew = !connection.subscriptions.has(s)
      if (this.#settings.allowed.size > 0 && !this.#settings.allowed.has(s))
        rejected.push({ s, code: 'unknown_symbol' })
      else if (isNew && room === 0) rejected.push({ s, code: 'too_many_symbols' })
      else {
        accepted.push(s)
        if (isNew) room--
      }
    }
    return { accepted, rejected }
  }

  #unsubscribe(connection: Connection, texts: readonly string[], nowMs: number): RelayEffect[] {
    const symbols = readSymbols(texts).symbols.filter((symbol) => connection.subscriptions.has(symbol))
    const drop: string[] = []
    for (const symbol of symbols) {
      connection.subscriptions.delete(symbol)
      connection.holding.delete(symbol)
      connection.fresh.delete(symbol)
      if (this.#unwant(symbol)) drop.push(symbol)
    }
    if (connection.subscriptions.size === 0) connection.idleSinceMs = nowMs
    this.#regroup(connection)
    this.#forget(drop)
    const effects: RelayEffect[] = [this.#keep(connection)]
    return drop.length > 0 ? [...effects, { do: 'hub', need: [], drop }] : effects
  }

  /** New options without a new snapshot: the next item counts from what the connection has. */
  #update(connection: Connection, operation: Extract<Operation, { op: 'update' }>, nowMs: number): RelayEffect[] {
    const moved: string[] = []
    for (const [symbol, before] of connection.subscriptions) {
      const options = optionsOf(connection, operation, before)
      if (Stream.keyOf(connection.settings, before) === Stream.keyOf(connection.settings, options)) continue
      this.#carryOver(connection, symbol, before)
      connection.subscriptions.set(symbol, options)
      moved.push(symbol)
    }
    this.#regroup(connection)
    const { interval, fields } = operation
    const options = { ...(interval !== undefined && { interval: intervalOf(connection, interval) }), fields }
    const acks = acknowledge(connection, operation, { ok: true, options })
    return [this.#keep(connection), ...acks, ...this.#catchUp(connection, moved, nowMs)]
  }

  /** Sends what waits in the windows that a connection has left: it would come with the next tick only. */
  #catchUp(connection: Connection, symbols: readonly string[], nowMs: number): Send[] {
    if (!connection.isNative) return []
    const texts = symbols.flatMap((symbol) => {
      const base = connection.fresh.get(symbol)
      const known = this.#symbols.get(symbol)
      const stream = this.#streamOf(connection, symbol)
      if (!base || !known || !stream || connection.holding.has(symbol) || known.q <= base.q) return []
      const item = stream.catchUpItem(symbol, known.q, known.q - base.q, known.values)
      connection.fresh.set(symbol, item.base)
      return item.text
    })
    const parts = [...cut(texts)]
    connection.seen += parts.length
    return parts.map((part) => to(connection, frames.u(nowMs, part)))
  }

  #resync(connection: Connection, operation: Extract<Operation, { op: 'resync' }>, nowMs: number): RelayEffect[] {
    const { symbols, rejected } = readSymbols(operation.symbols)
    const ours = symbols.filter((symbol) => connection.subscriptions.has(symbol) && !connection.holding.has(symbol))
    const bad: Rejected[] = rejected.map((s) => ({ s, code: 'bad_symbol' }))
    if (ours.length === 0) {
      const error = frames.err('not_subscribed', 'none of these symbols is subscribed', { id: operation.id })
      return [to(connection, error)]
    }
    const acks = acknowledge(connection, operation, { ok: true, symbols: this.#ackSymbols(ours), rejected: bad })
    return [...acks, ...this.#snapshots(connection, ours, nowMs)]
  }

  /** Keeps what the connection has of a symbol when it moves to another stream. */
  #carryOver(connection: Connection, symbol: string, before: SubscriptionOptions): void {
    const base = connection.fresh.get(symbol)
    if (base === null) return
    const had = base ?? this.#streams.get(Stream.keyOf(connection.settings, before))?.sent(symbol)
    connection.fresh.set(symbol, had ? { q: had.q, d: undefined } : null)
  }

  /** Answers the requests whose symbols all have an answer from their hub, or waited long enough. */
  #finishWaiting(nowMs: number): RelayEffect[] {
    const isDone = ({ symbols, untilMs }: Waiting) =>
      untilMs <= nowMs || symbols.every((symbol) => this.#symbols.get(symbol)?.state !== 'asked')
    const done = this.#waiting.filter(isDone)
    if (done.length === 0) return []
    this.#waiting = this.#waiting.filter((waiting) => !done.includes(waiting))
    return done.flatMap((waiting) => this.#finish(waiting, nowMs))
  }

  #finish({ connection, operation, symbols, rejected }: Waiting, nowMs: number): RelayEffect[] {
    const ours = symbols.filter((symbol) => connection.subscriptions.has(symbol))
    const added = ours.filter((symbol) => connection.holding.delete(symbol))
    this.#regroup(connection)
    const effects: RelayEffect[] = []
    if (operation) {
      const ok = ours.length > 0 || rejected.length === 0
      effects.push(...acknowledge(connection, operation, { ok, symbols: this.#ackSymbols(ours), rejected }))
    } else if (connection.isNative) effects.push(...rejected.map((one) => rejection(connection, one)))
    const subscribe = operation?.op === 'subscribe' ? operation : undefined
    const { held, replays } = this.#resume(connection, subscribe, added)
    const fresh = added.filter((symbol) => !held.has(symbol))
    const wantsSnapshot = subscribe?.snapshot ?? connection.settings.snapshot
    if (wantsSnapshot && added.length > 0) {
      return [...effects, ...replays, ...this.#snapshots(connection, fresh, nowMs)]
    }
    for (const symbol of fresh) connection.fresh.set(symbol, null)
    return [...effects, ...replays]
  }

  /**
   * Symbols of which the client holds the newest item already. A replay of all that was missed is only claimed when
   * nothing was: any other answer is that it is not complete, and a snapshot follows.
   */
  #resume(
    connection: Connection,
    subscribe: SubscribeWish | undefined,
    added: readonly string[],
  ): { readonly held: ReadonlySet<string>; readonly replays: readonly Send[] } {
    const held = new Set<string>()
    const replays: Send[] = []
    if (!subscribe?.since || subscribe.recover === 'none') return { held, replays }
    for (const [text, [e, q]] of Object.entries(subscribe.since)) {
      const symbol = fromSymbol(text)
      const known = symbol === undefined ? undefined : this.#symbols.get(symbol)
      if (symbol === undefined || known?.e === undefined || !added.includes(symbol)) continue
      const isCurrent = known.e === e && known.q === q
      if (isCurrent) {
        held.add(symbol)
        connection.fresh.set(symbol, { q, d: undefined })
      }
      if (subscribe.recover === 'all') {
        replays.push(to(connection, frames.hist(subscribe.id, symbol, known.e, isCurrent)))
      }
    }
    return { held, replays }
  }

  /** Complete items of symbols, in as many frames as they need; the last one says so. */
  #snapshots(connection: Connection, symbols: readonly string[], nowMs: number): RelayEffect[] {
    const texts: string[] = []
    const effects: RelayEffect[] = []
    for (const symbol of symbols) {
      const known = this.#symbols.get(symbol)
      const stream = this.#streamOf(connection, symbol)
      if (!known || known.e === undefined || known.q === 0 || !stream) {
        connection.fresh.set(symbol, null)
        continue
      }
      if (!connection.isNative) {
        connection.fresh.set(symbol, { q: known.q, d: undefined })
        connection.seen++
        effects.push({ do: 'send', to: [connection.settings.id], data: stream.bareFrame(known.values) })
        continue
      }
      const { text, base } = stream.snapshotItem(symbol, known.q, known.e, known.values)
      connection.fresh.set(symbol, base)
      texts.push(text)
    }
    if (!connection.isNative) return effects
    const parts = [...cut(texts)]
    if (parts.length === 0) parts.push([])
    connection.seen += parts.length
    return parts.map((part, index) => to(connection, frames.snap(nowMs, part, index === parts.length - 1)))
  }

  #onSnapshot(
    e: string,
    items: readonly { s: string; q: number; m: string }[],
    none: readonly string[],
    nowMs: number,
  ): RelayEffect[] {
    const gaps = new Map<Connection, { s: string; from: number; to: number; reason: string }[]>()
    const renewed = new Map<Connection, string[]>()
    for (const item of items) {
      const known = this.#symbols.get(item.s)
      if (!known) continue
      const before = { e: known.e, q: known.q }
      known.state = 'live'
      known.sinceMs = nowMs
      if (known.e === e && known.q === item.q) continue
      known.e = e
      known.q = item.q
      known.values = valuesOf(item)
      for (const conflator of this.#conflators.values()) conflator.forget(item.s)
      for (const stream of this.#streams.values()) stream.forget(item.s)
      for (const connection of this.#connections.values()) {
        if (!connection.subscriptions.has(item.s) || connection.holding.has(item.s)) continue
        renewed.set(connection, [...(renewed.get(connection) ?? []), item.s])
        if (before.e === undefined || before.q === 0) continue
        const reason = before.e === e ? 'uplink' : 'hub_restart'
        const gap = { s: item.s, from: before.q, to: item.q, reason }
        gaps.set(connection, [...(gaps.get(connection) ?? []), gap])
      }
    }
    for (const symbol of none) {
      const known = this.#symbols.get(symbol)
      if (known?.state !== 'asked') continue
      known.e = e
      known.state = 'unknown'
      known.sinceMs = nowMs
    }
    const effects: RelayEffect[] = []
    for (const [connection, symbols] of renewed) {
      const gap = gaps.get(connection)
      if (gap && connection.isNative) effects.push(to(connection, frames.gap(gap)))
      if (connection.isNative || connection.settings.snapshot)
        effects.push(...this.#snapshots(connection, symbols, nowMs))
    }
    return [...effects, ...this.#finishWaiting(nowMs)]
  }

  #onTicks(e: string, ticks: readonly HubTick[], nowMs: number): RelayEffect[] {
    const taken: Tick<TickData>[] = []
    const lost: string[] = []
    for (const { s, q, late, m } of ticks) {
      const known = this.#symbols.get(s)
      if (!known || known.state === 'asked' || (known.e === e && q <= known.q)) continue
      if (known.e !== e || q !== known.q + 1) {
        lost.push(s)
        known.state = 'asked'
        continue
      }
      const frame = valuesOf({ m })
      known.q = q
      known.state = 'live'
      if (!late) known.values = merge(known.values, frame)
      taken.push({ s, q, price: frame.price, late: late === 1, data: { values: known.values, frame } })
    }
    const effects: RelayEffect[] = lost.length > 0 ? [{ do: 'hub', need: lost, drop: [] }] : []
    for (const [intervalMs, conflator] of this.#conflators) {
      const ours = taken.filter(({ s }) => this.#isWantedAt(intervalMs, s))
      if (ours.length > 0) effects.push(...this.#deliver(intervalMs, conflator.turn(nowMs, ours), nowMs))
    }
    return effects
  }

  #deliver(intervalMs: number, items: readonly Item<TickData>[], nowMs: number): RelayEffect[] {
    if (items.length === 0) return []
    const effects: RelayEffect[] = []
    for (const stream of this.#streams.values()) {
      if (stream.intervalMs === intervalMs) effects.push(...stream.deliver(items, nowMs))
    }
    return effects
  }

  #closeIdle(nowMs: number): RelayEffect[] {
    const idle = [...this.#connections.values()].filter(
      ({ idleSinceMs, limits, subscriptions }) => subscriptions.size === 0 && nowMs - idleSinceMs >= limits.idleMs,
    )
    return idle.flatMap((connection) => this.#close(connection, 4408))
  }

  /** The phases that have passed since the last look. */
  #onSlots(nowMs: number): RelayEffect[] {
    const slot = Math.floor(nowMs / this.#slotMs())
    const effects: RelayEffect[] = []
    for (let passed = Math.max((this.#slot ?? slot) + 1, slot - heartbeatSlots + 1); passed <= slot; passed++) {
      effects.push(...this.#onSlot(passed % heartbeatSlots, nowMs))
    }
    return [...effects, ...(slot === this.#slot ? [] : this.#noticeNoData(nowMs))]
  }

  /** Heartbeats of a phase, and the connections of it that are idle or too old. */
  #onSlot(slot: number, nowMs: number): RelayEffect[] {
    const effects: RelayEffect[] = []
    for (const connection of this.#connections.values()) {
      const { openedMs } = connection.settings
      if (connection.phase % heartbeatSlots !== slot) continue
      const isIdle = connection.subscriptions.size === 0 && nowMs - connection.idleSinceMs >= connection.limits.idleMs
      if (isIdle) effects.push(...this.#close(connection, 4408))
      else if (connection.isNative && nowMs - openedMs >= lifeMs) effects.push(...this.#close(connection, 4410))
      else if (connection.isNative) effects.push(to(connection, frames.hb(nowMs, this.#up, connection.seen)))
    }
    return effects
  }

  /** Says once that a symbol has been silent since it was asked for: it is wrong, or nobody trades it. */
  #noticeNoData(nowMs: number): RelayEffect[] {
    const effects: RelayEffect[] = []
    for (const [symbol, known] of this.#symbols) {
      if (known.state !== 'unknown' || nowMs - known.sinceMs < noDataMs) continue
      known.state = 'no_data'
      const waiting = [...this.#connections.values()].filter((one) => one.isNative && one.subscriptions.has(symbol))
      effects.push(...send(waiting, frames.symbolState(nowMs, symbol, 'no_data', known.sinceMs)))
    }
    return effects
  }

  #ackSymbols(symbols: readonly string[]): AckSymbol[] {
    return symbols.map((s) => {
      const known = this.#symbols.get(s)
      const state = !known || known.state === 'asked' ? 'unknown' : known.state
      return { s, state, q: known?.q ?? 0, e: known?.e ?? null }
    })
  }

  #streamOf(connection: Connection, symbol: string): Stream | undefined {
    const options = connection.subscriptions.get(symbol)
    return options && this.#streams.get(Stream.keyOf(connection.settings, options))
  }

  /** Puts a connection into the groups that its subscriptions make. */
  #regroup(connection: Connection): void {
    const parts = new Map<string, { options: SubscriptionOptions; symbols: string[] }>()
    for (const [symbol, options] of connection.subscriptions) {
      if (connection.holding.has(symbol)) continue
      const key = Stream.keyOf(connection.settings, options)
      const part = parts.get(key) ?? { options, symbols: [] }
      part.symbols.push(symbol)
      parts.set(key, part)
    }
    const before = this.#memberships.get(connection) ?? new Map<string, string>()
    const after = new Map<string, string>()
    for (const [key, { options, symbols }] of parts) {
      const stream = this.#streams.get(key) ?? new Stream(connection.settings, options)
      this.#streams.set(key, stream)
      if (!this.#conflators.has(options.interval)) {
        this.#conflators.set(options.interval, new Conflator<TickData>(options.interval, 0, combine))
      }
      const group = before.get(key)
      const joined = stream.join(connection, symbols)
      if (group !== undefined && group !== joined) stream.leave(connection, group)
      before.delete(key)
      after.set(key, joined)
    }
    for (const [key, group] of before) this.#leaveStream(key, connection, group)
    this.#memberships.set(connection, after)
  }

  #leaveStream(key: string, connection: Connection, group: string): void {
    const stream = this.#streams.get(key)
    stream?.leave(connection, group)
    if (!stream?.isEmpty) return
    this.#streams.delete(key)
    const isUsed = [...this.#streams.values()].some(({ intervalMs }) => intervalMs === stream.intervalMs)
    if (!isUsed) this.#conflators.delete(stream.intervalMs)
  }

  #isWantedAt(intervalMs: number, symbol: string): boolean {
    for (const stream of this.#streams.values()) {
      if (stream.intervalMs === intervalMs && stream.wants(symbol)) return true
    }
    return false
  }

  /** Counts one more subscriber; true when the hub has to be asked. */
  #want(symbol: string, nowMs: number): boolean {
    const known = this.#symbols.get(symbol)
    if (known) {
      known.wanted++
      return false
    }
    // What passed while nobody had symbols is not made up for.
    if (this.isAsleep) this.#slot = Math.floor(nowMs / this.#slotMs())
    this.#symbols.set(symbol, { wanted: 1, e: undefined, q: 0, values: {}, state: 'asked', sinceMs: nowMs })
    return true
  }

  /** Counts one less; true when it was the last. */
  #unwant(symbol: string): boolean {
    const known = this.#symbols.get(symbol)
    if (!known) return false
    known.wanted--
    if (known.wanted > 0) return false
    this.#symbols.delete(symbol)
    return true
  }

  #forget(symbols: readonly string[]): void {
    for (const symbol of symbols) {
      for (const conflator of this.#conflators.values()) conflator.forget(symbol)
      for (const stream of this.#streams.values()) stream.forget(symbol)
    }
  }

  #keep(connection: Connection): RelayEffect {
    return { do: 'keep', to: connection.settings.id, kept: connection.kept() }
  }

  #close(connection: Connection, code: CloseCode, retryMs?: number): RelayEffect[] {
    const { id } = connection.settings
    const { word, reconnect } = closes[code]
    const reason = retryMs === undefined ? word : `${word};retry=${retryMs}`
    const bye = connection.isNative ? [to(connection, frames.bye(code, word, reconnect, retryMs))] : []
    return [...bye, { do: 'close', to: id, code, reason }, ...this.leave(id)]
  }

  #slotMs(): number {
    return this.#settings.heartbeatMs / heartbeatSlots
  }
}

const to = (connection: Connection, data: string): Send => ({ do: 'send', to: [connection.settings.id], data })

const send = (connections: readonly Connection[], data: string): Send[] =>
  connections.length > 0 ? [{ do: 'send', to: connections.map(({ settings }) => settings.id), data }] : []

const rejection = (connection: Connection, { s, code }: Rejected): Send =>
  to(connection, frames.err(code, rejectionTexts[code], { symbol: s }))

const rejectionTexts: Readonly<Record<Rejected['code'], string>> = {
  bad_symbol: 'symbol has characters outside the grammar',
  unknown_symbol: 'symbol is not served',
  too_many_symbols: 'the connection has as many symbols as it may',
}

/** No id, no acknowledgement. */
const acknowledge = (connection: Connection, { id, op }: Operation, body: Parameters<typeof frames.ack>[2]): Send[] =>
  id === undefined ? [] : [to(connection, frames.ack(id, op, body))]

const combine = (older: TickData, newer: TickData): TickData => {
  return { values: newer.values, frame: { ...older.frame, ...newer.frame } }
}

/** A wish for an interval, as coarse as the caller's kind allows. */
function intervalOf({ settings }: Connection, wished: number): number {
  return intervalClass(settings.keyId === undefined ? Math.max(wished, anonymousFloorMs) : wished)
}

function optionsOf(
  connection: Connection,
  wish:
    | {
        interval?: number | undefined
        fields?: SubscriptionOptions['fields'] | undefined
        extremes?: boolean | undefined
      }
    | undefined,
  before: SubscriptionOptions | undefined,
): SubscriptionOptions {
  const { interval, fields, extremes } = before ?? connection.settings
  return {
    interval: wish?.interval === undefined ? interval : intervalOf(connection, wish.interval),
    fields: wish?.fields ?? fields,
    extremes: wish?.extremes ?? extremes,
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
