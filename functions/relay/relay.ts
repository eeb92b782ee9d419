import { DurableObject } from 'cloudflare:workers'
import type { Kept } from '../../shared/feed/connection.ts'
import { closes } from '../../shared/feed/protocol.ts'
import { Relay, type RelayEffect } from '../../shared/feed/relay.ts'
import { shardOf } from '../../shared/feed/rendezvous.ts'
import { feedSettings } from '../../shared/feed/settings.ts'
import { type Subscriber, subprotocol, subscriberHeader } from '../../shared/feed/subscriber.ts'
import type { FeedHub } from '../feed/hub.ts'
import { HubLink } from './hub-link.ts'

export type RelayBindings = {
  readonly HUB: DurableObjectNamespace<FeedHub>
  readonly RELAY: DurableObjectNamespace<FeedRelay>
}

/** Nine tenths of the sockets that an object can hold; a relay that is as full sends newcomers to the next. */
const mostConnections = 29_491

/** Longer lists do not fit into the 16 KiB that are kept with a sleeping socket. */
const mostAttachedLength = 12_000

/** Holds the sockets of subscribers and passes on what the hubs send. */
export class FeedRelay extends DurableObject<RelayBindings> {
  readonly #core: Relay
  readonly #hubs: readonly HubLink[]
  readonly #sockets = new Map<string, WebSocket>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(ctx: DurableObjectState, env: RelayBindings) {
    super(ctx, env)
    const settings = feedSettings.parse(env)
    const node = ctx.id.name ?? ctx.id.toString()
    this.#core = new Relay({ node, heartbeatMs: settings.FEED_HB_MS, allowed: settings.FEED_SYMBOLS })
    this.#hubs = Array.from({ length: settings.FEED_HUBS }, (_, shard) => this.#linkTo(`hub:${shard}`))
    // Answers without waking the object, so a client's keepalive costs nothing.
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair('ping', 'pong'))
    this.#restore()
  }

  /** A subscriber's websocket, with {@link Subscriber} in a header that only the gateway can set. */
  override async fetch(request: Request): Promise<Response> {
    const described = request.headers.get(subscriberHeader)
    if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket' || !described) {
      return new Response(null, { status: 426 })
    }
    if (this.#core.size >= mostConnections) return new Response(null, { status: 503 })
    const { settings, symbols, badSubprotocol } = JSON.parse(described) as Subscriber
    const { 0: client, 1: server } = new WebSocketPair()
    const headers = offersOurs(request) ? { 'sec-websocket-protocol': subprotocol } : undefined
    const refusal = badSubprotocol ? 4406 : this.#core.hasRoom(settings.keyId) ? undefined : 4430
    if (refusal !== undefined) {
      server.accept()
      server.close(refusal, closes[refusal].word)
      return new Response(null, { status: 101, webSocket: client, ...(headers && { headers }) })
    }
    this.ctx.acceptWebSocket(server, [settings.id])
    this.#sockets.set(settings.id, server)
    this.#apply(this.#core.connect(settings, symbols, Date.now()))
    return new Response(null, { status: 101, webSocket: client, ...(headers && { headers }) })
  }

  override webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): void {
    const id = this.#idOf(socket)
    if (id === undefined) return
    this.#apply(typeof data === 'string' ? this.#core.onText(id, data, Date.now()) : this.#core.onBinary(id))
  }

  override webSocketClose(socket: WebSocket): void {
    this.#leave(socket)
  }

  override webSocketError(socket: WebSocket): void {
    this.#leave(socket)
  }

  override async alarm(): Promise<void> {
    this.#apply(this.#core.onTimer(Date.now()))
  }

  /** Open connections. */
  connections(): number {
    return this.#core.size
  }

  #linkTo(name: string): HubLink {
    const dial = async () => {
      const response = await this.env.HUB.getByName(name).fetch('http://hub/', { headers: { upgrade: 'websocket' } })
      if (!response.webSocket) throw new Error(`${name} answered ${response.status}`)
      return response.webSocket
    }
    const link: HubLink = new HubLink(dial, {
      onMessage: (message) => {
        this.#apply(this.#core.onHub(message, Date.now()))
      },
      onDown: () => {
        const nowMs = Date.now()
        this.#apply(this.#core.setUp('down', nowMs, nowMs))
      },
    })
    return link
  }

  /** The sockets outlive the object's memory: their subscriptions are in their attachments. */
  #restore(): void {
    const nowMs = Date.now()
    const effects: RelayEffect[] = []
    for (const socket of this.ctx.getWebSockets()) {
      const kept = this.#keptOf(socket)
      if (!kept) continue
      this.#sockets.set(kept.settings.id, socket)
      effects.push(...this.#core.restore(kept, nowMs))
    }
    this.#apply(effects)
  }

  #keptOf(socket: WebSocket): Kept | undefined {
    const attachment = socket.deserializeAttachment() as Kept | { readonly key: string } | null
    if (!attachment) return undefined
    return 'key' in attachment ? this.ctx.storage.kv.get<Kept>(attachment.key) : attachment
  }

  #idOf(socket: WebSocket): string | undefined {
    return this.ctx.getTags(socket)[0]
  }

  #leave(socket: WebSocket): void {
    const id = this.#idOf(socket)
    if (id === undefined) return
    this.#sockets.delete(id)
    this.ctx.storage.kv.delete(keyOf(id))
    this.#apply(this.#core.leave(id))
  }

  #apply(effects: readonly RelayEffect[]): void {
    for (const effect of effects) {
      if (effect.do === 'send') for (const id of effect.to) this.#send(id, effect.data)
      else if (effect.do === 'keep') this.#keep(effect.to, effect.kept)
      else if (effect.do === 'close') this.#close(effect.to, effect.code, effect.reason)
      else this.#tellHubs(effect.need, effect.drop)
    }
    this.#schedule()
  }

  /** A socket that closed between the decision and the send throws; its close event cleans up. */
  #send(id: string, data: string | Uint8Array): void {
    try {
      this.#sockets.get(id)?.send(data)
    } catch {
      this.#sockets.delete(id)
    }
  }

  #keep(id: string, kept: Kept): void {
    const socket = this.#sockets.get(id)
    if (!socket) return
    if (JSON.stringify(kept).length <= mostAttachedLength) {
      socket.serializeAttachment(kept)
      return
    }
    const key = keyOf(id)
    this.ctx.storage.kv.put(key, kept)
    socket.serializeAttachment({ key })
  }

  #close(id: string, code: number, reason: string): void {
    const socket = this.#sockets.get(id)
    this.#sockets.delete(id)
    try {
      socket?.close(code, reason)
    } catch {
      // closed already
    }
  }

  #tellHubs(need: readonly string[], drop: readonly string[]): void {
    const { length } = this.#hubs
    for (const [shard, hub] of this.#hubs.entries()) {
      const isOurs = (symbol: string) => shardOf(symbol, length) === shard
      const [ourNeed, ourDrop] = [need.filter(isOurs), drop.filter(isOurs)]
      if (ourNeed.length + ourDrop.length > 0) hub.tell({ need: ourNeed, drop: ourDrop })
    }
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const next = this.#core.nextMs()
    if (next === undefined) return
    // A timer would keep the object in memory; an alarm lets it sleep with its sockets open.
    if (this.#core.isAsleep) {
      this.ctx.waitUntil(this.#wakeAt(next))
      return
    }
    const onTimer = () => this.#apply(this.#core.onTimer(Date.now()))
    this.#timer = setTimeout(onTimer, Math.max(0, next - Date.now()))
  }

  async #wakeAt(atMs: number): Promise<void> {
    const planned = await this.ctx.storage.getAlarm()
    if (planned === null || planned > atMs) await this.ctx.storage.setAlarm(atMs)
  }
}

const keyOf = (id: string): string => `connection:${id}`

const offersOurs = (request: Request): boolean =>
  (request.headers.get('sec-websocket-protocol') ?? '').split(',').some((name) => name.trim() === subprotocol)
