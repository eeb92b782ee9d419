import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encode } from '../../../shared/feed/codec.ts'
import type { ConnectionSettings } from '../../../shared/feed/connection.ts'
import { readFields, selectableFields, type Values } from '../../../shared/feed/fields.ts'
import { merge } from '../../../shared/feed/merge.ts'
import { Relay, type RelayEffect } from '../../../shared/feed/relay.ts'
import type { HubSymbol, HubTick } from '../../../shared/feed/uplink.ts'
import { readFrame } from '../../../shared/feed/upstream.ts'
import { toBase64 } from '../../../shared/kernel/bytes.ts'

type Frame = Record<string, unknown> & { t: string; b?: Record<string, unknown>[] }

const start = 1_767_621_600_000
const m = (values: Values) => toBase64(encode(values))

/** A relay with a hub behind it: symbols get numbers as a hub gives them. */
class World {
  now = start
  readonly relay: Relay
  readonly inbox = new Map<string, (string | Uint8Array)[]>()
  readonly closed = new Map<string, [number, string]>()
  readonly kept = new Map<string, unknown>()
  /** Effects of sending, to see what is shared. */
  sends = 0
  needs: string[] = []
  e = 'e0e0'
  readonly hub = new Map<string, { q: number; values: Values }>()
  answers = true

  constructor(allowed: readonly string[] = []) {
    this.relay = new Relay({ node: 'relay:test:0', heartbeatMs: 15_000, allowed: new Set(allowed) })
    this.apply(this.relay.onHub({ t: 'up', up: 'live', since: start }, start))
  }

  apply(effects: readonly RelayEffect[]): void {
    for (const effect of effects) {
      if (effect.do === 'send') {
        this.sends++
        for (const id of effect.to) this.inbox.set(id, [...(this.inbox.get(id) ?? []), effect.data])
      } else if (effect.do === 'close') this.closed.set(effect.to, [effect.code, effect.reason])
      else if (effect.do === 'keep') this.kept.set(effect.to, effect.kept)
      else {
        this.needs = [...this.needs.filter((s) => !effect.drop.includes(s)), ...effect.need]
        if (this.answers && effect.need.length > 0) this.answer(effect.need)
      }
    }
  }

  answer(symbols: readonly string[]): void {
    const b: HubSymbol[] = []
    const none: string[] = []
    for (const s of symbols) {
      const known = this.hub.get(s)
      if (known) b.push({ s, q: known.q, at: this.now, m: m(known.values) })
      else none.push(s)
    }
    this.apply(this.relay.onHub({ t: 'snap', e: this.e, b, none }, this.now))
  }

  tick(s: string, frame: Values, late = false): void {
    this.ticks([[s, frame, late]])
  }

  ticks(list: readonly (readonly [string, Values, boolean?])[]): void {
    const b: HubTick[] = list.map(([s, frame, late]) => {
      const { q, values } = this.hub.get(s) ?? { q: 0, values: {} }
      this.hub.set(s, { q: q + 1, values: late ? values : merge(values, frame) })
      return { s, q: q + 1, ...(late && { late: 1 as const }), m: m(frame) }
    })
    this.apply(this.relay.onHub({ t: 'ticks', e: this.e, b: b.filter(({ s }) => this.needs.includes(s)) }, this.now))
  }

  connect(id: string, changes: Partial<ConnectionSettings> = {}, symbols: readonly string[] = []): void {
    const settings: ConnectionSettings = {
      id,
      form: 'json',
      names: 'snake',
      int64: 'auto',
      snapshot: true,
      merge: true,
      keyId: 'key00001',
      openedMs: this.now,
      interval: 250,
      fields: selectableFields,
      extremes: false,
      ...changes,
    }
    this.apply(this.relay.connect(settings, symbols, this.now))
  }

  say(id: string, message: unknown): void {
    const text = typeof message === 'string' ? message : JSON.stringify(message)
    this.apply(this.relay.onText(id, text, this.now))
  }

  /** Lets time pass, with every timer at its time. */
  pass(ms: number): void {
    const until = this.now + ms
    for (let next = this.relay.nextMs(); next !== undefined && next <= until; next = this.relay.nextMs()) {
      this.now = Math.max(this.now, next)
      this.apply(this.relay.onTimer(this.now))
    }
    this.now = until
  }

  /** Frames since the last look. */
  take(id: string): Frame[] {
    const frames = this.inbox.get(id) ?? []
    this.inbox.delete(id)
    return frames.map((frame) =>
      typeof frame === 'string' && frame.startsWith('{') ? JSON.parse(frame) : { t: 'bare', frame },
    )
  }

  items(id: string): Record<string, unknown>[] {
    return this.take(id).flatMap(({ t, b }) => (t === 'u' ? (b ?? []) : []))
  }
}

const tick = (price: number, time = start): Values => ({ price, time, market_hours: 1 })

describe('subscribe', () => {
  it('answers with the symbols, then a snapshot, then updates', () => {
    const world = new World()
    world.hub.set('ORBT', { q: 1041, values: { id: 'ORBT', ...tick(48.37), short_name: 'Orbital', change: -0.2 } })
    world.connect('c1')
    world.say('c1', { op: 'subscribe', id: 7, symbols: ['orbt', 'NOPE!'], interval: 500, fields: 'min' })
    world.tick('ORBT', { id: 'ORBT', ...tick(48.41), change: -0.16 })
    expect(world.take('c1')).toEqual([
      expect.objectContaining({ t: 'hello', v: 1, conn: 'c1', hb: 15_000, interval: 250, auth: 'ok' }),
      {
        t: 'ack',
        id: 7,
        op: 'subscribe',
        ok: true,
        symbols: [{ s: 'ORBT', state: 'live', q: 1041, e: 'e0e0' }],
        rejected: [{ s: 'NOPE!', code: 'bad_symbol' }],
      },
      {
        t: 'snap',
        ts: start,
        last: true,
        b: [
          {
            s: 'ORBT',
            q: 1041,
            e: 'e0e0',
            n: 1,
            f: 1,
            d: { price: 48.37, time: start, market_hours: 1, change: -0.2 },
          },
        ],
      },
      {
        t: 'u',
        ts: start,
        b: [{ s: 'ORBT', q: 1042, n: 1, d: { price: 48.41, time: start, market_hours: 1, change: -0.16 } }],
      },
    ])
  })

  it('says ok:false when every symbol is rejected', () => {
    const world = new World(['ORBT'])
    world.connect('c1')
    world.take('c1')
    world.say('c1', { op: 'subscribe', id: 'x', symbols: ['AAPL', 'b d'] })
    expect(world.take('c1')).toEqual([
      expect.objectContaining({
        ok: false,
        symbols: [],
        rejected: [
          { s: 'b d', code: 'bad_symbol' },
          { s: 'AAPL', code: 'unknown_symbol' },
        ],
      }),
    ])
  })

  it('takes a symbol that nobody knows yet, and says after a minute that there is no data', () => {
    const world = new World()
    world.connect('c1')
    world.say('c1', { op: 'subscribe', id: 1, symbols: ['QUIET'] })
    expect(world.take('c1')).toContainEqual(
      expect.objectContaining({ t: 'ack', symbols: [{ s: 'QUIET', state: 'unknown', q: 0, e: 'e0e0' }] }),
    )
    world.pass(62_000)
    const states = world.take('c1').filter(({ t }) => t === 'st')
    expect(states).toEqual([expect.objectContaining({ s: 'QUIET', state: 'no_data' })])
    world.tick('QUIET', { id: 'QUIET', ...tick(5) })
    expect(world.items('c1')).toEqual([{ s: 'QUIET', q: 1, n: 1, f: 1, d: { price: 5, time: start, market_hours: 1 } }])
  })

  it('acknowledges within a second when no hub answers, and sends the snapshot when one does', () => {
    const world = new World()
    world.answers = false
    world.hub.set('A', { q: 3, values: { id: 'A', ...tick(5) } })
    world.connect('c1')
    world.say('c1', { op: 'subscribe', id: 1, symbols: ['A'] })
    expect(world.take('c1').map(({ t }) => t)).toEqual(['hello'])
    world.pass(1000)
    expect(
      world
        .take('c1')
        .filter(({ t }) => t !== 'hb')
        .map(({ t }) => t),
    ).toEqual(['ack', 'snap'])
    world.answer(['A'])
    expect(world.take('c1')).toEqual([expect.objectContaining({ t: 'snap', b: [expect.objectContaining({ q: 3 })] })])
  })

  it('does not send a snapshot again for a symbol that is subscribed already', () => {
    const world = new World()
    world.hub.set('A', { q: 1, values: { id: 'A', ...tick(5) } })
    world.connect('c1', {}, ['A'])
    world.take('c1')
    world.say('c1', { op: 'subscribe', id: 2, symbols: ['A'] })
    expect(world.take('c1').map(({ t }) => t)).toEqual(['ack'])
    world.say('c1', { op: 'resync', id: 3, symbols: ['A'] })
    expect(world.take('c1').map(({ t }) => t)).toEqual(['ack', 'snap'])
    world.say('c1', { op: 'resync', id: 4, symbols: ['B'] })
    expect(world.take('c1')).toEqual([expect.objectContaining({ t: 'err', id: 4, code: 'not_subscribed' })])
  })

  it('takes symbols up to the limit of the caller', () => {
    const world = new World()
    const symbols = Array.from({ length: 51 }, (_, n) => `S${n}`)
    world.connect('c1', { keyId: undefined })
    world.say('c1', { op: 'subscribe', id: 1, symbols })
    const [ack] = world.take('c1').filter(({ t }) => t === 'ack')
    expect(ack?.symbols).toHaveLength(50)
    expect(ack?.rejected).toEqual([{ s: 'S50', code: 'too_many_symbols' }])
  })

  it('keeps a client that holds the newest item from getting it again', () => {
    const world = new World()
    world.hub.set('A', { q: 9, values: { id: 'A', ...tick(5) } })
    world.hub.set('B', { q: 9, values: { id: 'B', ...tick(6) } })
    world.connect('c1')
    world.take('c1')
    const since = { a: ['e0e0', 9], B: ['e0e0', 7] }
    world.say('c1', { op: 'subscribe', id: 1, symbols: ['A', 'B'], recover: 'all', since })
    const [, ...rest] = world.take('c1')
    expect(rest.map(({ t, s, complete, b }) => [t, s ?? b?.map((item) => item.s), complete])).toEqual([
      ['hist', 'A', true],
      ['hist', 'B', false],
      ['snap', ['B'], undefined],
    ])
    world.tick('A', { id: 'A', ...tick(7) })
    expect(world.items('c1')).toMatchObject([{ s: 'A', q: 10, n: 1 }])
  })
})

describe('updates', () => {
  it('encode one frame for all connections with the same symbols and options', () => {
    const world = new World()
    for (let n = 0; n < 100; n++) world.connect(`c${n}`, {}, ['A', 'B'])
    world.ticks([
      ['A', { id: 'A', ...tick(1) }],
      ['B', { id: 'B', ...tick(2) }],
    ])
    world.pass(250)
    world.sends = 0
    world.ticks([
      ['A', { id: 'A', ...tick(3) }],
      ['B', { id: 'B', ...tick(4) }],
    ])
    expect(world.sends).toBe(1)
    expect(world.items('c99').map(({ q }) => q)).toEqual([1, 1, 2, 2])
  })

  it('count every tick though an item whose selected fields did not change is not sent', () => {
    const world = new World()
    world.hub.set('A', { q: 1, values: { id: 'A', ...tick(5) } })
    world.connect('c1', { fields: readFields('price') ?? [], interval: 0 }, ['A'])
    world.take('c1')
    for (const price of [5, 5, 6]) world.tick('A', { id: 'A', ...tick(price) })
    expect(world.items('c1')).toEqual([{ s: 'A', q: 4, n: 3, d: { price: 6 } }])
  })

  it('show late ticks as late, with their own fields', () => {
    const world = new World()
    world.hub.set('A', { q: 1, values: { id: 'A', ...tick(5, start + 5000), bid: 4 } })
    world.connect('c1', { interval: 0 }, ['A'])
    world.take('c1')
    world.tick('A', { id: 'A', ...tick(3) }, true)
    expect(world.items('c1')).toEqual([{ s: 'A', q: 2, n: 1, late: 1, d: { price: 3, time: start, market_hours: 1 } }])
    world.tick('A', { id: 'A', ...tick(5, start + 5000) })
    world.tick('A', { id: 'A', ...tick(6, start + 6000) })
    expect(world.items('c1')).toMatchObject([{ q: 4, n: 2, d: { price: 6, bid: 4 } }])
  })

  it('keep the range of merged ticks when it is asked for', () => {
    const world = new World()
    world.pass(10) // a tick at the border of a window would leave with it
    world.connect('c1', { extremes: true }, ['A'])
    for (const price of [5, 9, 2, 6]) world.tick('A', { id: 'A', ...tick(price) })
    world.pass(250)
    expect(world.items('c1')).toMatchObject([
      { hi: 5, lo: 5 },
      { n: 3, hi: 9, lo: 2, d: { price: 6 } },
    ])
  })

  it('split frames after 200 items', () => {
    const world = new World()
    const symbols = Array.from({ length: 450 }, (_, n) => `S${n}`)
    world.connect('c1', {}, symbols)
    world.take('c1')
    world.ticks(symbols.map((id) => [id, { id, ...tick(1) }] as const))
    expect(world.take('c1').map(({ b }) => b?.length)).toEqual([200, 200, 50])
  })

  it('follow new options without a snapshot, counting on from what the client has', () => {
    const world = new World()
    world.hub.set('A', { q: 1, values: { id: 'A', ...tick(5) } })
    world.pass(10)
    world.connect('c1', { interval: 60_000 }, ['A'])
    world.tick('A', { id: 'A', ...tick(6) })
    world.tick('A', { id: 'A', ...tick(7) })
    world.take('c1')
    world.say('c1', { op: 'update', id: 5, interval: 0, fields: ['price'] })
    world.tick('A', { id: 'A', ...tick(8) })
    const frames = world.take('c1')
    expect(frames).toEqual([
      { t: 'ack', id: 5, op: 'update', ok: true, options: { interval: 0, fields: ['price'] } },
      { t: 'u', ts: start + 10, b: [{ s: 'A', q: 3, n: 1, d: { price: 7 } }] },
      { t: 'u', ts: start + 10, b: [{ s: 'A', q: 4, n: 1, d: { price: 8 } }] },
    ])
    world.say('c1', { op: 'list', id: 6 })
    expect(world.take('c1')).toMatchObject([
      { symbols: [{ s: 'A', q: 4 }], options: [{ interval: 0, symbols: ['A'] }] },
    ])
  })

  it('never leave a hole: the distance of two items of a symbol is the count of the second', () => {
    const steps = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({
          do: fc.constant('tick' as const),
          s: fc.constantFrom('A', 'B'),
          price: fc.integer({ min: 1, max: 3 }),
          late: fc.boolean(),
        }),
      },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 600 }) }) },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant('subscribe' as const),
          id: fc.constantFrom('c0', 'c1', 'c2'),
          s: fc.constantFrom('A', 'B'),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant('unsubscribe' as const),
          id: fc.constantFrom('c0', 'c1', 'c2'),
          s: fc.constantFrom('A', 'B'),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant('resync' as const),
          id: fc.constantFrom('c0', 'c1', 'c2'),
          s: fc.constantFrom('A', 'B'),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant('update' as const),
          id: fc.constantFrom('c0', 'c1', 'c2'),
          interval: fc.constantFrom(0, 100, 250),
          fields: fc.constantFrom('min', 'price'),
        }),
      },
    )
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 80 }), (list) => {
        const world = new World()
        for (const id of ['c0', 'c1', 'c2']) world.connect(id, { fields: readFields('price') ?? [] }, ['A'])
        for (const step of list) {
          if (step.do === 'tick') world.tick(step.s, { id: step.s, ...tick(step.price) }, step.late)
          else if (step.do === 'pass') world.pass(step.ms)
          else if (step.do === 'update')
            world.say(step.id, { op: 'update', interval: step.interval, fields: step.fields })
          else world.say(step.id, { op: step.do, symbols: [step.s] })
        }
        world.pass(1000)
        for (const id of ['c0', 'c1', 'c2']) {
          const at = new Map<unknown, number>()
          const prices = new Map<unknown, unknown>()
          for (const { t, b = [] } of world.take(id)) {
            for (const { s, q, n, f, late, d } of b as {
              s: string
              q: number
              n: number
              f?: number
              late?: number
              d: Values
            }[]) {
              const before = at.get(s)
              if (t === 'u' && f !== 1 && before !== undefined) expect(q - before).toBe(n)
              at.set(s, q)
              if (!late) prices.set(s, d.price)
            }
          }
          // What the client holds in the end is what the hub holds.
          world.say(id, { op: 'list', id: 0 })
          const [list0] = world.take(id)
          for (const { s, q } of (list0?.symbols ?? []) as { s: string; q: number }[]) {
            if (q > 0) expect(prices.get(s)).toBe(world.hub.get(s)?.values.price)
          }
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('a hub that comes back', () => {
  it('in a new epoch gives every subscriber a gap and a snapshot', () => {
    const world = new World()
    world.hub.set('A', { q: 5, values: { id: 'A', ...tick(5) } })
    world.connect('c1', {}, ['A'])
    world.take('c1')
    world.e = 'e1e1'
    world.hub.set('A', { q: 7, values: { id: 'A', ...tick(8) } })
    world.answer(['A'])
    expect(world.take('c1')).toEqual([
      { t: 'gap', symbols: [{ s: 'A', from: 5, to: 7, reason: 'hub_restart' }] },
      expect.objectContaining({ t: 'snap', b: [expect.objectContaining({ q: 7, e: 'e1e1' })] }),
    ])
  })

  it('asks for a symbol again when a number is missing', () => {
    const world = new World()
    world.hub.set('A', { q: 5, values: { id: 'A', ...tick(5) } })
    world.connect('c1', {}, ['A'])
    world.take('c1')
    world.hub.set('A', { q: 9, values: { id: 'A', ...tick(8) } })
    world.tick('A', { id: 'A', ...tick(9) })
    expect(world.take('c1').map(({ t }) => t)).toEqual(['gap', 'snap'])
  })

  it('tells native subscribers the state of the upstream', () => {
    const world = new World()
    world.connect('c1')
    world.connect('c2', { form: 'envelope' })
    world.take('c1')
    world.apply(world.relay.setUp('stale', start, start))
    expect(world.take('c1')).toEqual([{ t: 'st', ts: start, up: 'stale', since: start }])
    expect(world.take('c2')).toEqual([])
  })
})

describe('the upstream form', () => {
  const message = (frame: unknown) => readFrame((frame as { frame: string }).frame) as Values

  it('sends nothing but ticks: one message a frame, all known fields, a snapshot on the first subscribe', () => {
    const world = new World()
    world.hub.set('A', { q: 5, values: { id: 'A', ...tick(5), short_name: 'Alpha' } })
    world.connect('c1', { form: 'base64' })
    world.say('c1', { subscribe: ['A', 'NOPE!', 'SILENT'] })
    world.say('c1', { subscribe: ['A', 'SILENT'] })
    world.say('c1', 'nonsense')
    world.tick('A', { id: 'A', ...tick(6) })
    world.pass(60_000)
    expect(world.take('c1').map(message)).toEqual([
      { id: 'A', ...tick(5), short_name: 'Alpha' },
      { id: 'A', ...tick(6), short_name: 'Alpha' },
    ])
  })

  it('writes the envelope with its two members in order, or the bytes', () => {
    const world = new World()
    world.connect('v2', { form: 'envelope' }, ['A'])
    world.connect('raw', { form: 'raw' }, ['A'])
    world.tick('A', { id: 'A', ...tick(6) })
    expect(world.inbox.get('v2')?.[0]).toMatch(/^\{"type":"pricing","message":"[A-Za-z0-9+/=]+"\}$/)
    expect(world.inbox.get('raw')).toEqual([encode({ id: 'A', ...tick(6) })])
  })

  it('mirrors partial frames when merging is off, with the fields of a window together', () => {
    const world = new World()
    world.hub.set('A', { q: 5, values: { id: 'A', ...tick(5), short_name: 'Alpha' } })
    world.pass(10)
    world.connect('c1', { form: 'base64', merge: false, snapshot: false }, ['A'])
    world.tick('A', { id: 'A', ...tick(6) })
    world.tick('A', { id: 'A', bid: 4 })
    world.tick('A', { id: 'A', ...tick(7) })
    world.pass(250)
    expect(world.take('c1').map(message)).toEqual([
      { id: 'A', ...tick(6) },
      { id: 'A', bid: 4, ...tick(7) },
    ])
  })

  it('unsubscribes, after what the same object subscribes', () => {
    const world = new World()
    world.connect('c1', { form: 'base64' })
    world.say('c1', { unsubscribe: ['A'], subscribe: ['A', 'B'] })
    expect(world.needs).toEqual(['B'])
  })

  it('closes after twenty wrong frames in a minute', () => {
    const world = new World()
    world.connect('c1', { form: 'base64' })
    for (let n = 0; n < 20; n++) world.say('c1', 'nonsense')
    expect(world.closed.get('c1')).toEqual([4400, 'bad_request'])
    expect(world.take('c1')).toEqual([])
  })

  it('works on a native connection too, without an answer', () => {
    const world = new World()
    world.hub.set('A', { q: 5, values: { id: 'A', ...tick(5) } })
    world.connect('c1')
    world.say('c1', { subscribe: ['A'] })
    expect(world.take('c1').map(({ t }) => t)).toEqual(['hello', 'snap'])
  })
})

describe('wrong frames', () => {
  it.each([
    ['no JSON', '{', 'bad_json'],
    ['no object', '7', 'bad_request'],
    ['no op', '{}', 'bad_request'],
    ['an unknown op', '{"op":"jump","id":3}', 'bad_op'],
    ['a wrong field', '{"op":"subscribe","id":3,"symbols":"A"}', 'bad_request'],
    ['an unknown field name', '{"op":"subscribe","id":3,"symbols":["A"],"fields":"colour"}', 'bad_request'],
    ['an id out of range', '{"op":"list","id":-1}', 'bad_request'],
    ['an empty array', '[]', 'bad_request'],
  ])('%s: an error and an open socket', (_, text, code) => {
    const world = new World()
    world.connect('c1')
    world.take('c1')
    world.say('c1', text)
    expect(world.take('c1')).toEqual([expect.objectContaining({ t: 'err', code })])
    expect(world.closed.size).toBe(0)
  })

  it('names the field that is wrong and echoes the id', () => {
    const world = new World()
    world.connect('c1')
    world.take('c1')
    world.say('c1', [
      { op: 'ping', id: 1, t: 5 },
      { op: 'subscribe', id: 'b', symbols: ['A'], interval: 60_001 },
    ])
    expect(world.take('c1')).toEqual([
      { t: 'pong', id: 1, echo: 5, ts: start },
      expect.objectContaining({ t: 'err', id: 'b', msg: expect.stringContaining('interval') }),
    ])
  })

  it('close the socket when there were twenty in a minute', () => {
    const world = new World()
    world.connect('c1')
    for (let n = 0; n < 20; n++) world.say('c1', '{')
    expect(world.closed.get('c1')).toEqual([4400, 'bad_request'])
    expect(world.take('c1').at(-1)).toEqual({ t: 'bye', code: 4400, reason: 'bad_request', reconnect: false })
  })

  it('close a socket that sends a binary or an oversized frame', () => {
    const world = new World()
    world.connect('c1')
    world.connect('c2')
    world.apply(world.relay.onBinary('c1'))
    world.say('c2', `"${'é'.repeat(17_000)}"`)
    expect([...world.closed.values()]).toEqual([
      [4415, 'bad_data'],
      [4413, 'frame_too_large'],
    ])
    expect(world.relay.size).toBe(0)
  })

  it('come too fast: an error that says when to go on', () => {
    const world = new World()
    world.connect('c1', { keyId: undefined })
    for (let n = 0; n < 21; n++) world.say('c1', { op: 'list' })
    expect(world.take('c1').at(-1)).toEqual(expect.objectContaining({ t: 'err', code: 'rate_limited', retry_ms: 200 }))
    world.pass(200)
    world.say('c1', { op: 'list', id: 1 })
    expect(world.take('c1').at(-1)).toEqual(expect.objectContaining({ t: 'ack' }))
  })
})

describe('time', () => {
  it('sends each native connection a heartbeat every 15 s that counts its frames', () => {
    const world = new World()
    world.connect('c1', {}, ['A'])
    world.tick('A', { id: 'A', ...tick(6) })
    world.take('c1')
    world.pass(15_000)
    expect(world.take('c1')).toEqual([expect.objectContaining({ t: 'hb', up: 'live', seen: 2 })])
    world.pass(30_000)
    expect(world.take('c1')).toHaveLength(2)
  })

  it('closes a connection without symbols, sooner without a key', () => {
    const world = new World()
    world.connect('anonymous', { keyId: undefined })
    world.connect('key')
    world.pass(75_000)
    expect([...world.closed]).toEqual([['anonymous', [4408, 'timeout']]])
    world.pass(600_000)
    expect(world.closed.has('key')).toBe(true)
    expect(world.relay.nextMs()).toBeUndefined()
  })

  it('needs no wake-up but for the idle limit while nobody has symbols, and makes up for no heartbeats', () => {
    const world = new World()
    world.connect('c1')
    world.take('c1')
    expect(world.relay.nextMs()).toBe(start + 600_000)
    world.pass(300_000)
    expect(world.take('c1')).toEqual([])
    world.say('c1', { op: 'subscribe', symbols: ['A'] })
    world.pass(1)
    expect(world.take('c1').map(({ t }) => t)).toEqual(['snap'])
    world.pass(15_000)
    expect(world.take('c1').map(({ t }) => t)).toEqual(['hb'])
  })

  it('closes a native connection after a day and a compatible one never', () => {
    const world = new World()
    world.connect('native', {}, ['A'])
    world.connect('compat', { form: 'envelope' }, ['A'])
    world.pass(24 * 3_600_000 + 15_000)
    expect([...world.closed]).toEqual([['native', [4410, 'lifetime']]])
  })
})

describe('connections', () => {
  it('that leave give their symbols back when nobody else has them', () => {
    const world = new World()
    world.connect('c1', {}, ['A', 'B'])
    world.connect('c2', {}, ['B'])
    world.apply(world.relay.leave('c1'))
    expect(world.needs).toEqual(['B'])
    world.say('c2', { op: 'unsubscribe', id: 1, symbols: '*' })
    expect(world.needs).toEqual([])
    expect(world.relay.symbols).toEqual([])
  })

  it('of one key are limited', () => {
    const world = new World()
    for (let n = 0; n < 100; n++) world.connect(`c${n}`)
    expect([world.relay.hasRoom('key00001'), world.relay.hasRoom('key00002'), world.relay.hasRoom(undefined)]).toEqual([
      false,
      true,
      true,
    ])
  })

  it('go on after the object slept, from what is kept with their sockets', () => {
    const before = new World()
    before.hub.set('A', { q: 5, values: { id: 'A', ...tick(5) } })
    before.connect('c1', {}, ['A'])
    before.say('c1', { op: 'subscribe', symbols: ['B'], interval: 1000, fields: 'price' })
    const after = new World()
    after.hub.set('A', { q: 6, values: { id: 'A', ...tick(6) } })
    after.apply(after.relay.restore(structuredClone(before.kept.get('c1')) as never, start))
    expect(after.needs).toEqual(['A', 'B'])
    expect(after.take('c1')).toEqual([
      expect.objectContaining({ t: 'snap', b: [expect.objectContaining({ s: 'A', q: 6 })] }),
    ])
    after.tick('B', { id: 'B', ...tick(2) })
    expect(after.items('c1')).toEqual([{ s: 'B', q: 1, n: 1, f: 1, d: { price: 2 } }])
  })
})

describe('requests that come one behind the other', () => {
  it('are answered in that order, also when a hub keeps the first waiting', () => {
    const world = new World()
    world.answers = false
    world.hub.set('ORBT', { q: 7, values: { price: 48 } })
    world.connect('c')
    world.take('c')
    world.say('c', [
      { op: 'subscribe', id: 1, symbols: ['ORBT'] },
      { op: 'resync', id: 2, symbols: ['ORBT'] },
    ])
    world.say('c', { op: 'list', id: 3 })
    world.say('c', { op: 'unsubscribe', id: 4, symbols: '*' })
    expect(world.take('c')).toEqual([])
    world.answer(['ORBT'])
    const frames = world.take('c')
    expect(frames.filter(({ t }) => t === 'err')).toEqual([])
    expect(frames.filter(({ t }) => t === 'ack').map(({ id }) => id)).toEqual(
      [1, 2, 3, 4].filter((id) => frames.some((frame) => frame.id === id)),
    )
    expect(frames.findIndex(({ id }) => id === 1)).toBeLessThan(frames.findIndex(({ id }) => id === 3))
    expect(frames.findIndex(({ id }) => id === 3)).toBeLessThan(frames.findIndex(({ id }) => id === 4))
  })
})
