import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeValues, encode } from '../../../shared/feed/codec.ts'
import { selectableFields, type Values } from '../../../shared/feed/fields.ts'
import { Hub, type Verdict } from '../../../shared/feed/hub.ts'
import { toJson } from '../../../shared/feed/json.ts'
import { merge } from '../../../shared/feed/merge.ts'
import file from '../../vectors/feed-core.json' with { type: 'json' }

const limits = { ringTicks: 256, ringMs: 120_000 }
const newHub = () => new Hub('e0e0', limits)

function take(hub: Hub, frame: Values, at: number, source: 'stream' | 'ingest' = 'stream', known = new Set<string>()) {
  const candidate = Hub.check(frame, at)
  if ('kind' in candidate) return candidate
  return hub.accept(candidate, at, source, ({ s, tsMs, fp }) => known.has(`${s} ${tsMs} ${fp}`))
}

const shown = (verdict: Verdict) => {
  if (verdict.kind === 'rejected') return { code: verdict.code }
  if (verdict.kind === 'duplicate') return { duplicate: true }
  const { q, late, flags, dv } = verdict
  return { q, late, flags, dv }
}

type HubCase = {
  input: { steps: { at: number; source?: 'stream' | 'ingest'; tick: Record<string, string | number> }[] }
  expected: { results: unknown[]; last: Record<string, { q: number; d: unknown }> }
}

const read = (tick: Record<string, string | number>) =>
  decodeValues(encode({ ...tick, ...(tick.price !== undefined && { price: Number(tick.price) }) } as Values))

describe('the hub vectors, as far as candles are not in them', () => {
  const cases = file.cases.filter((vector) => vector.kind === 'hub')
  it.each(cases.map((vector) => [`${vector.id} ${vector.title}`, vector as unknown as HubCase] as const))(
    '%s',
    (_, { input, expected }) => {
      const hub = newHub()
      const results = input.steps.map(({ at, source, tick }) => shown(take(hub, read(tick), at, source)))
      expect(results).toEqual(expected.results)
      for (const [symbol, last] of Object.entries(expected.last)) {
        const got = hub.last(symbol)
        const form = { fields: selectableFields, names: 'snake', int64: 'auto' } as const
        expect({ q: got?.q, d: toJson(got?.values ?? {}, form) }).toEqual(last)
      }
    },
  )
})

describe('Hub', () => {
  const start = 1_767_621_600_000

  it('drops a repeat in whatever spelling its id comes', () => {
    const hub = newHub()
    expect(shown(take(hub, { id: 'a', price: 1, time: start }, start))).toMatchObject({ q: 1 })
    expect(shown(take(hub, { id: 'A', price: 1, time: start }, start))).toEqual({ duplicate: true })
  })

  it('takes different ticks of one second in order of arrival', () => {
    const hub = newHub()
    for (const price of [1, 2, 3])
      expect(take(hub, { id: 'A', price, time: start }, start)).toMatchObject({ late: false })
    expect(hub.last('A')).toMatchObject({ q: 3, values: { price: 3 } })
  })

  it('asks whether a tick is stored only when those of its time may have left the window', () => {
    const hub = newHub()
    const frame = (n: number) => ({ id: 'A', price: n + 1, time: start + n * 1000 })
    for (let n = 0; n < 64; n++) take(hub, frame(n), start + n * 1000)
    const candidates = [0, 63].map((n) => Hub.check(frame(n), start)) as never[]
    expect(candidates.map((candidate) => hub.mayBeStored(candidate))).toEqual([false, false])
    take(hub, frame(64), start + 64_000)
    expect(candidates.map((candidate) => hub.mayBeStored(candidate))).toEqual([true, false])
  })

  it('calls a tick that the stored rows know a duplicate, also after a restart', () => {
    const hub = newHub()
    const first = take(hub, { id: 'A', price: 5, time: start }, start)
    if (first.kind !== 'accepted') throw new Error('not accepted')
    const restarted = new Hub('e1e1', limits, hub.save())
    const known = new Set([`A ${start} ${first.fp}`])
    expect(take(restarted, { id: 'A', price: 5, time: start }, start + 5000, 'stream', known).kind).toBe('duplicate')
    expect(take(restarted, { id: 'A', price: 6, time: start }, start + 5000, 'stream', known)).toMatchObject({ q: 2 })
  })

  it('gives the first tick after a gap the flag that its volume spans it', () => {
    const hub = newHub()
    take(hub, { id: 'A', price: 5, time: start, day_volume: 100 }, start)
    hub.noteGap('A', start + 5000)
    expect(shown(take(hub, { id: 'A', price: 5, time: start + 4999, day_volume: 110 }, start))).toMatchObject({
      flags: [],
    })
    const after = take(hub, { id: 'A', price: 5, time: start + 5000, day_volume: 190 }, start)
    expect(shown(after)).toMatchObject({ dv: 80, flags: ['volume_spans_gap'] })
    expect(shown(take(hub, { id: 'A', price: 5, time: start + 6000 }, start))).toMatchObject({ flags: [] })
  })

  it('keeps the newest 256 ticks of at most 120 s in the ring', () => {
    const hub = newHub()
    for (let n = 0; n < 300; n++) take(hub, { id: 'A', price: 1, time: start + n }, start + n)
    expect(hub.ring('A', start + 300).map(({ q }) => q)).toHaveLength(256)
    take(hub, { id: 'A', price: 1, time: start + 120_150 }, start + 120_150)
    expect(hub.ring('A', start + 120_150)[0]?.q).toBe(151)
    expect(hub.ring('A', start + 400_000)).toEqual([])
  })

  it('says stale after 30 s, or twenty times the usual pause when that is longer', () => {
    const hub = newHub()
    take(hub, { id: 'A', price: 1, time: start }, start)
    expect([30_000, 30_001].map((ms) => hub.stateOf('A', start + ms))).toEqual(['live', 'stale'])
    for (let n = 1; n < 9; n++) take(hub, { id: 'A', price: 1, time: start + n * 10_000 }, start + n * 10_000)
    expect([200_000, 200_001].map((ms) => hub.stateOf('A', start + 80_000 + ms))).toEqual(['live', 'stale'])
    expect(hub.stateOf('B', start)).toBe('unknown')
  })

  it('numbers every accepted frame once and without a hole, whatever comes', () => {
    const frames = fc.record(
      { price: fc.constantFrom(0, 1, 2, NaN, -3), time: fc.integer({ min: 0, max: 40 }), day_volume: fc.nat(30) },
      { requiredKeys: ['time'] },
    )
    fc.assert(
      fc.property(fc.array(frames, { maxLength: 80 }), (list) => {
        const hub = newHub()
        const numbers = list.flatMap(({ time, ...rest }) => {
          const verdict = take(hub, { id: 'A', time: start + time, ...rest }, start)
          return verdict.kind === 'accepted' ? [verdict.q] : []
        })
        expect(numbers).toEqual(numbers.map((_, index) => index + 1))
      }),
    )
  })
})

describe('merge', () => {
  it('shows the hours before the market after a day that ended with the hours after it', () => {
    const after = {
      id: 'A',
      price: 5,
      market_hours: 2,
      day_high: 6,
      day_low: 4,
      open_price: 5,
      day_volume: 900,
      bid: 4,
    }
    const merged = merge(after, { id: 'A', price: 7 })
    expect(merged).toEqual({ id: 'A', price: 7, bid: 4 })
    const form = { fields: selectableFields, names: 'snake', int64: 'auto' } as const
    expect(toJson(merged, form)).toEqual({ price: 7, bid: 4, market_hours: 0 })
  })

  it('takes a smaller fall of the volume for a correction and keeps the day', () => {
    const merged = merge(
      { price: 5, market_hours: 1, day_high: 6, day_volume: 900 },
      { price: 5, market_hours: 1, day_volume: 450 },
    )
    expect(merged).toMatchObject({ day_high: 6, day_volume: 450 })
    const next = merge(
      { price: 5, market_hours: 1, day_high: 6, day_volume: 900 },
      { price: 5, market_hours: 1, day_volume: 449 },
    )
    expect(next).toEqual({ price: 5, market_hours: 1, day_volume: 449 })
  })

  it('takes an absent option type for a call only in a frame with a price of an option', () => {
    const put = { price: 1, quote_type: 13, options_type: 1 }
    expect(merge(put, { price: 2 }).options_type).toBeUndefined()
    expect(merge(put, { bid: 2 }).options_type).toBe(1)
    expect(merge({ ...put, quote_type: 8 }, { price: 2 }).options_type).toBe(1)
  })

  it('gives the same after a trip through the codec, so that a relay may merge what the hub merged', () => {
    const anyFrame = fc.record(
      {
        price: fc.float({ min: 1, max: 1000, noNaN: true }),
        market_hours: fc.nat(3),
        day_volume: fc.nat(1000),
        change: fc.float({ min: -5, max: 5, noNaN: true }),
        bid: fc.float({ min: 1, max: 9, noNaN: true }),
        quote_type: fc.constantFrom(8, 13),
        options_type: fc.nat(1),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.array(anyFrame, { maxLength: 12 }), (list) => {
        const frames = list.map((frame) => decodeValues(encode(frame as Values)))
        let atHub: Values = {}
        let atRelay: Values = {}
        for (const frame of frames) {
          atHub = merge(atHub, frame)
          atRelay = merge(decodeValues(encode(atRelay)), frame)
        }
        expect(encode(atRelay)).toEqual(encode(atHub))
      }),
    )
  })
})
