import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it } from 'vitest'
import { FeedRelay } from '../../../functions/relay/relay.ts'
import type { Values } from '../../../shared/feed/fields.ts'
import { bearer, call, newKey } from '../../support/gateway.ts'
import { rows } from '../../support/rows.ts'
import { socketOf, type TestSocket } from '../../support/socket.ts'

const open: TestSocket[] = []
afterEach(() => {
  for (const socket of open.splice(0)) socket.close()
})

async function connect(path: string, headers: Record<string, string> = {}): Promise<TestSocket> {
  const socket = socketOf(await call(path, { headers: { upgrade: 'websocket', ...headers } }))
  open.push(socket)
  return socket
}

const hub = () => env.HUB.getByName('hub:0')
type Item = { s: string; q: number; n: number; d: Values }
const items = (socket: TestSocket) =>
  socket.json.flatMap(({ t, b }) => (t === 'u' || t === 'snap' ? (b as Item[]) : []))

let made = 0
const newSymbol = () => `REL${Date.now().toString(36).toUpperCase()}${made++}`
const start = 1_767_621_600_000
const tick = (id: string, price: number, n = 0): Values => ({ id, price, time: start + n * 1000, market_hours: 1 })

describe('the fan-out', () => {
  it('gives each of many clients every message of its instruments, from one upstream connection', async () => {
    rows('card.durable-objects.feed-fan-out')
    const [a, b] = [newSymbol(), newSymbol()]
    const { text } = await newKey('feed:read')
    const clients: { wants: string[]; socket: TestSocket }[] = []
    for (let n = 0; n < 60; n++) {
      const wants = n % 3 === 0 ? [a] : n % 3 === 1 ? [b] : [a, b]
      clients.push({ wants, socket: await connect(`/feed?interval=0&symbols=${wants},ORBT`, bearer(text)) })
    }
    for (const { socket } of clients) await socket.until(() => socket.of('snap').length > 0)
    for (let n = 1; n <= 20; n++) await hub().take([tick(a, n, n), tick(b, 100 + n, n)], 'ingest')
    for (const { wants, socket } of clients) {
      const got = (symbol: string) => items(socket).filter(({ s }) => s === symbol)
      await socket.until(() => wants.every((symbol) => got(symbol).length === 20))
      for (const symbol of wants)
        expect(got(symbol).map(({ q }) => q)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1))
      expect(items(socket).every(({ s }) => s === 'ORBT' || wants.includes(s))).toBe(true)
    }
    // The sandbox streamer's symbol came too: all sixty hang on the one relay socket of the hub, and that on one upstream.
    for (const { socket } of clients) await socket.until(() => items(socket).some(({ s }) => s === 'ORBT'))
    const orbt = clients.map(({ socket }) => items(socket).find(({ s }) => s === 'ORBT')?.q)
    expect(new Set(orbt).size).toBe(1)
    expect(await hub().status()).toMatchObject({ relays: 1, up: 'live', upstream: { connects: 1 } })
  })

  it('goes on from the attachments of its sockets after it lost its memory', async () => {
    const s = newSymbol()
    await hub().take([tick(s, 1)], 'ingest')
    const socket = await connect(`/feed?symbols=${s}`)
    const bare = await connect(`/feed/streamer?symbols=${s}`)
    await socket.until(() => items(socket).length === 1)
    await bare.until(() => bare.frames.length === 1)
    await withNewInstance(relayOf(socket), async (relay, sockets) => {
      expect(relay.connections()).toBe(2)
      await socket.until(() => socket.of('snap').length === 2)
      expect(items(socket).map(({ q }) => q)).toEqual([1, 1])
      for (const one of sockets) relay.webSocketMessage(one, '{"op":"list","id":1}')
      await socket.until(() => socket.of('ack').length === 1)
      expect(socket.of('ack')).toMatchObject([{ symbols: [{ s, q: 1 }] }])
    })
    expect(socket.closed).toBeUndefined()
  })

  it('sleeps with its sockets open and wakes with a frame', async () => {
    const s = newSymbol()
    await hub().take([tick(s, 1)], 'ingest')
    const socket = await connect('/feed?interval=1000&fields=price')
    await socket.until(() => socket.of('hello').length === 1)
    await evictDurableObject(relayOf(socket))
    socket.say('ping')
    await socket.until(() => socket.frames.includes('pong'))
    socket.say({ op: 'subscribe', id: 1, symbols: [s] })
    await socket.until(() => socket.of('snap').length === 1)
    expect(items(socket)).toEqual([expect.objectContaining({ s, d: { price: 1 } })])
  })

  it('keeps more symbols than fit into an attachment', async () => {
    const { text } = await newKey('feed:read')
    const socket = await connect('/feed', bearer(text))
    const symbols = Array.from({ length: 500 }, (_, n) => `${newSymbol()}.LONGSYMBOL.${n}`.slice(-32))
    socket.say({ op: 'subscribe', id: 1, symbols })
    await socket.until(() => socket.of('ack').length === 1)
    await withNewInstance(relayOf(socket), async (relay, sockets) => {
      for (const one of sockets) relay.webSocketMessage(one, '{"op":"list","id":2}')
      await socket.until(() => socket.of('ack').length === 2)
    })
    expect(socket.of('ack')[1]?.symbols).toHaveLength(500)
  })

  it('lets the hub go when the last client left', async () => {
    const s = newSymbol()
    const socket = await connect(`/feed?symbols=${s}`)
    await socket.until(() => socket.of('snap').length === 1)
    expect((await hub().status()).relays).toBe(1)
    socket.close()
    await expect.poll(async () => (await hub().status()).relays, { timeout: 10_000 }).toBe(0)
  })

  it('takes only what the gateway sends', async () => {
    const relay = env.RELAY.getByName('relay:any:0')
    expect((await relay.fetch('http://relay/')).status).toBe(426)
    expect((await relay.fetch('http://relay/', { headers: { upgrade: 'websocket' } })).status).toBe(426)
  })

  it('limits the connections of a key', async () => {
    const { text } = await newKey('feed:read')
    for (let n = 0; n < 100; n++) await connect('/feed', bearer(text))
    const oneMore = await connect('/feed', bearer(text))
    await oneMore.until(() => oneMore.closed !== undefined)
    expect(oneMore.closed).toMatchObject({ code: 4430, reason: 'connection_limit' })
  })
})

const relayOf = (socket: TestSocket) => env.RELAY.getByName(String(socket.of('hello')[0]?.node))

/**
 * Runs `work` with an instance that knows only what is stored, on the live sockets. The runtime evicts no object that
 * holds an outbound socket, as a relay with symbols does, so its memory cannot be taken away from outside.
 */
const withNewInstance = (
  stub: DurableObjectStub<FeedRelay>,
  work: (relay: FeedRelay, sockets: WebSocket[]) => Promise<void>,
) => runInDurableObject(stub, (_, state) => work(new FeedRelay(state, env), state.getWebSockets()))
