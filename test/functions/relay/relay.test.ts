import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it } from 'vitest'
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
    const clients = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const wants = n % 3 === 0 ? [a] : n % 3 === 1 ? [b] : [a, b]
        const socket = await connect(`/feed?interval=0&symbols=${wants},ORBT`, bearer(text))
        return { wants, socket }
      }),
    )
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
    expect(await hub().status()).toMatchObject({ relays: 1, up: 'live' })
  })

  it('goes on after the relay lost its memory: sockets stay, and a snapshot says where they are', async () => {
    const s = newSymbol()
    await hub().take([tick(s, 1)], 'ingest')
    const socket = await connect(`/feed?symbols=${s}`)
    const bare = await connect(`/feed/streamer?symbols=${s}`)
    await socket.until(() => items(socket).length === 1)
    await bare.until(() => bare.frames.length === 1)
    const id = relayName(socket)
    await evictDurableObject(env.RELAY.getByName(id))
    await hub().take([tick(s, 2, 1)], 'ingest')
    expect(await env.RELAY.getByName(id).connections()).toBe(2)
    await socket.until(() => items(socket).some(({ q }) => q === 2))
    expect(socket.closed).toBeUndefined()
    socket.say({ op: 'list', id: 1 })
    await socket.until(() => socket.of('ack').length === 1)
    expect(socket.of('ack')).toMatchObject([{ symbols: [{ s, q: 2 }] }])
    await hub().take([tick(s, 3, 2)], 'ingest')
    await bare.until(() => bare.frames.length >= 2)
  })

  it('keeps more symbols than fit into an attachment', async () => {
    const { text } = await newKey('feed:read')
    const socket = await connect('/feed', bearer(text))
    const symbols = Array.from({ length: 500 }, (_, n) => `${newSymbol()}.LONGSYMBOL.${n}`.slice(-32))
    socket.say({ op: 'subscribe', id: 1, symbols })
    await socket.until(() => socket.of('ack').length === 1)
    await evictDurableObject(env.RELAY.getByName(relayName(socket)))
    expect(await env.RELAY.getByName(relayName(socket)).connections()).toBe(1)
    socket.say({ op: 'list', id: 2 })
    await socket.until(() => socket.of('ack').length === 2)
    expect(socket.of('ack')[1]?.symbols).toHaveLength(500)
  })

  it('lets the hub go when the last client left', async () => {
    const s = newSymbol()
    const socket = await connect(`/feed?symbols=${s}`)
    await socket.until(() => socket.of('snap').length === 1)
    expect((await hub().status()).relays).toBe(1)
    socket.close()
    await socket.until(() => socket.closed !== undefined)
    const watcher = await connect('/feed')
    // The next look comes after the relay has handled the close, since both go to the same object.
    await expect.poll(async () => (await hub().status()).relays, { timeout: 10_000 }).toBe(0)
    watcher.close()
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

const relayName = (socket: TestSocket): string => String(socket.of('hello')[0]?.node ?? 'relay:any:0')
