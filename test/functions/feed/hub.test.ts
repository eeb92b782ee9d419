import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { FeedHub } from '../../../functions/feed/hub.ts'
import { TickWriter } from '../../../functions/feed/tick-writer.ts'
import type { GatewayBindings } from '../../../functions/gateway/env.ts'
import { decodeValues } from '../../../shared/feed/codec.ts'
import type { Values } from '../../../shared/feed/fields.ts'
import { type HubMessage, valuesOf } from '../../../shared/feed/uplink.ts'
import { storeTicks } from '../../../shared/store/feed.ts'
import { sql } from '../../support/gateway.ts'
import { socketOf, type TestSocket } from '../../support/socket.ts'

const open: TestSocket[] = []
afterEach(() => {
  for (const socket of open.splice(0)) socket.close()
})

const hub = (name = 'hub:0') => env.HUB.getByName(name)

async function dial(name?: string): Promise<TestSocket> {
  const socket = socketOf(await hub(name).fetch('http://hub/', { headers: { upgrade: 'websocket' } }))
  open.push(socket)
  return socket
}

const messages = (socket: TestSocket) => socket.json as unknown as HubMessage[]
const ticksOf = (socket: TestSocket) => messages(socket).flatMap((message) => (message.t === 'ticks' ? message.b : []))

let made = 0
/** A symbol that no other test has in the database. */
const newSymbol = () => `HUB${Date.now().toString(36).toUpperCase()}${made++}`

const start = 1_767_621_600_000
const tick = (id: string, price: number, n = 0): Values => ({ id, price, time: start + n * 1000, market_hours: 1 })

const stored = (symbol: string) =>
  sql().query<{ q: string; price: number; dv: string; flags: number }>(
    'select q, price, dv, flags from tidegate.feed_ticks where symbol = $1 order by q',
    [symbol],
  )

describe('FeedHub', () => {
  it('takes ticks, stores them with their numbers, and keeps the last values', async () => {
    const s = newSymbol()
    const frames = [
      { ...tick(s, 10.25), day_volume: 100, short_name: 'Hub' },
      { ...tick(s, 10.5, 1), day_volume: 150 },
      tick(s, 10.5, 1),
    ]
    const verdicts = await hub().take(frames, 'ingest')
    expect(verdicts).toMatchObject([{ q: 1, dv: 0 }, { q: 2, dv: 50 }, { q: 3 }])
    expect(await stored(s)).toEqual([
      { q: '1', price: 10.25, dv: '0', flags: 0 },
      { q: '2', price: 10.5, dv: '50', flags: 0 },
      { q: '3', price: 10.5, dv: '0', flags: 0 },
    ])
    const [last] = await sql().query<{ q: string; data: Uint8Array }>(
      'select q, data from tidegate.feed_last where symbol = $1',
      [s],
    )
    expect(last?.q).toBe('3')
    expect(decodeValues(last?.data ?? new Uint8Array())).toMatchObject({ id: s, price: 10.5, short_name: 'Hub' })
    expect(await sql().query('select short_name from tidegate.feed_symbols where symbol = $1', [s])).toEqual([
      { short_name: 'Hub' },
    ])
  })

  it('takes a batch of any size twice without a change', async () => {
    const s = newSymbol()
    const frames = Array.from({ length: 700 }, (_, n) => tick(s, 10 + (n % 7) / 8, n))
    expect((await hub().take(frames, 'ingest')).every(({ kind }) => kind === 'accepted')).toBe(true)
    expect((await hub().take(frames, 'ingest')).every(({ kind }) => kind === 'duplicate')).toBe(true)
    expect(await stored(s)).toHaveLength(700)
  })

  it('gives a relay what it wants: the values so far, then each tick', async () => {
    const s = newSymbol()
    await hub().take([tick(s, 10)], 'ingest')
    const relay = await dial()
    relay.say({ need: [s, 'UNKNOWN1'] })
    await relay.until(() => messages(relay).some(({ t }) => t === 'snap'))
    const [snap] = messages(relay).flatMap((message) => (message.t === 'snap' ? message : []))
    expect(snap).toMatchObject({ b: [{ s, q: 1 }], none: ['UNKNOWN1'] })
    await hub().take([tick(s, 11, 1), tick('OTHER1', 5)], 'ingest')
    await relay.until(() => ticksOf(relay).length > 0)
    expect(ticksOf(relay).map(({ s: symbol, q, m }) => [symbol, q, valuesOf({ m }).price])).toEqual([[s, 2, 11]])
    relay.say({ drop: [s] })
    await hub().take([tick(s, 12, 2)], 'ingest')
    await hub().take([tick('UNKNOWN1', 1, made++)], 'ingest')
    await relay.until(() => ticksOf(relay).some(({ s: symbol }) => symbol === 'UNKNOWN1'))
    expect(ticksOf(relay).filter(({ s: symbol }) => symbol === s)).toHaveLength(1)
  })

  it('opens one upstream connection for all relays, and stores what comes', async () => {
    const relays = [await dial(), await dial(), await dial()]
    for (const relay of relays) relay.say({ need: ['ORBT', 'ORB-USD', 'ZNC-USD'] })
    for (const relay of relays) await relay.until(() => ticksOf(relay).length >= 3)
    const first = relays.map((relay) => ticksOf(relay).slice(0, 3))
    expect(first[1]).toEqual(first[0])
    expect(await hub().status()).toMatchObject({ up: 'live', relays: 3, upstream: { connects: 1 } })
    await vi.waitFor(
      async () => expect((await stored('ORBT')).length + (await stored('ORB-USD')).length).toBeGreaterThan(0),
      {
        timeout: 10_000,
      },
    )
  })

  it('starts a new epoch after a restart, with its counters, and tells the relays that are still there', async () => {
    const s = newSymbol()
    const relay = await dial()
    relay.say({ need: [s] })
    await hub().take([tick(s, 10), tick(s, 11, 1)], 'ingest')
    await relay.until(() => ticksOf(relay).length === 2)
    const { epoch } = await hub().status()
    relay.frames.length = 0
    // The runtime evicts no object that holds an outbound socket: an instance that knows only what is stored stands in.
    await runInDurableObject(hub(), async (_: FeedHub, state) => {
      const restarted = new FeedHub(state, env as GatewayBindings)
      expect(restarted.status().epoch).not.toBe(epoch)
      await relay.until(() => messages(relay).some(({ t }) => t === 'snap'))
      expect(messages(relay)).toContainEqual(
        expect.objectContaining({
          t: 'snap',
          e: restarted.status().epoch,
          b: [expect.objectContaining({ s, q: 2 })],
        }),
      )
      expect(await restarted.take([tick(s, 11, 1), tick(s, 12, 2)], 'ingest')).toMatchObject([
        { kind: 'duplicate' },
        { q: 3 },
      ])
    })
  })

  it('wants a websocket', async () => {
    expect((await hub().fetch('http://hub/')).status).toBe(426)
  })
})

describe('storeTicks', () => {
  it('does nothing the second time', async () => {
    const s = newSymbol()
    const row = {
      symbol: s,
      ts: '1',
      fp: '-5',
      q: 1,
      price: 1.5,
      dv: '0',
      dayVolume: null,
      marketHours: 1,
      bid: null,
      ask: 2,
    }
    const last = {
      symbol: s,
      q: 1,
      ts: '1',
      data: '',
      recvMs: start,
      quoteType: 8,
      exchange: 'NMS',
      currency: null,
      shortName: null,
      priceHint: 2,
    }
    const batch = {
      hub: s,
      no: 1,
      epoch: 'e0e0',
      ticks: [{ ...row, recvMs: start, source: 0, late: false, flags: 0 }],
      last: [last],
    }
    expect(await storeTicks(sql(), batch)).toBe(true)
    expect(await storeTicks(sql(), batch)).toBe(false)
    const changed = { ...batch, no: 2, last: [{ ...last, q: 0 }] }
    expect(await storeTicks(sql(), changed)).toBe(true)
    expect(await sql().query('select q from tidegate.feed_last where symbol = $1', [s])).toEqual([{ q: '1' }])
    expect(await stored(s)).toHaveLength(1)
  })
})

describe('TickWriter', () => {
  const nowhere = 'postgresql://u:p@127.0.0.1:9/postgres?sslmode=disable'
  const batch = (hubName: string, no: number, symbol: string) => ({
    hub: hubName,
    no,
    epoch: 'e0e0',
    ticks: [
      {
        symbol,
        ts: String(no),
        fp: '1',
        q: no,
        price: 1,
        dv: '0',
        dayVolume: null,
        marketHours: 1,
        bid: null,
        ask: null,
        recvMs: start,
        source: 0,
        late: false,
        flags: 0,
      },
    ],
    last: [],
  })

  it('queues what the database does not take, and stores it in order once it does', async () => {
    const s = newSymbol()
    await runInDurableObject(hub('hub:2'), async (_: FeedHub, { storage }) => {
      const away = new TickWriter(storage, nowhere)
      await away.write([batch(s, 1, s), batch(s, 2, s)])
      await away.write([batch(s, 3, s)])
      expect(away.queuedTicks).toBe(3)
      expect(away.retryMs).toBeTypeOf('number')
      const back = new TickWriter(storage, env.DATABASE_URL)
      expect(back.queuedTicks).toBe(3)
      await back.drain()
      expect([back.queuedTicks, back.retryMs]).toEqual([0, undefined])
    })
    expect((await stored(s)).map(({ q }) => q)).toEqual(['1', '2', '3'])
  })

  it('drops a batch that the database refuses, and goes on', async () => {
    const s = newSymbol()
    await runInDurableObject(hub('hub:3'), async (_: FeedHub, { storage }) => {
      const writer = new TickWriter(storage, env.DATABASE_URL)
      const bad = batch(s, 1, s)
      await writer.write([{ ...bad, ticks: [{ ...bad.ticks[0], source: 9 } as never] }, batch(s, 2, s)])
      expect([writer.queuedTicks, writer.dropped]).toEqual([0, 1])
    })
    expect((await stored(s)).map(({ q }) => q)).toEqual(['2'])
  })
})
