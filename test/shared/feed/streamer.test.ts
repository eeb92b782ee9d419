import { describe, expect, it } from 'vitest'
import type { Values } from '../../../shared/feed/fields.ts'
import { marketHours } from '../../../shared/feed/simulator.ts'
import { idleCutMs, noFaults, StreamerConnection, type StreamerOptions } from '../../../shared/feed/streamer.ts'
import { universe } from '../../../shared/feed/universe.ts'
import { readFrame } from '../../../shared/feed/upstream.ts'

const options: StreamerOptions = { seed: '1', alwaysOpen: true, rate: 1, version: 2, faults: noFaults }
const start = Date.UTC(2026, 0, 5, 15, 0, 0) // a Monday

function run(changes: Partial<StreamerOptions>, symbols: readonly string[], ms: number): string[] {
  const connection = new StreamerConnection({ ...options, ...changes }, start)
  connection.onText(JSON.stringify({ subscribe: symbols }), start)
  const sent: string[] = []
  for (let now = connection.nextMs(); now <= start + ms; now = connection.nextMs()) {
    for (const effect of connection.due(now)) {
      sent.push(effect.do === 'send' ? effect.data : `closed ${effect.code}`)
      if (effect.do === 'close') return sent
    }
  }
  return sent
}

const ticks = (frames: readonly string[]) => frames.map((frame) => readFrame(frame) as Values)

describe('the universe', () => {
  it('has 32 instruments of ten kinds', () => {
    const counts = Object.groupBy(universe, ({ type }) => type)
    expect(Object.fromEntries(Object.entries(counts).map(([type, list]) => [type, list?.length]))).toEqual({
      EQUITY: 10,
      ETF: 3,
      INDEX: 3,
      MUTUALFUND: 2,
      CURRENCY: 4,
      FUTURE: 2,
      COMMODITY: 1,
      CRYPTOCURRENCY: 4,
      OPTION: 2,
      BOND: 1,
    })
    expect(new Set(universe.map(({ symbol }) => symbol)).size).toBe(32)
  })
})

describe('StreamerConnection', () => {
  it('gives the same bytes for the same seed and clock, and others for another seed', () => {
    const symbols = universe.map(({ symbol }) => symbol)
    expect(run({}, symbols, 20_000)).toEqual(run({}, symbols, 20_000))
    expect(run({ seed: '2' }, symbols, 20_000)).not.toEqual(run({}, symbols, 20_000))
  })

  it('sends about one tick a second for a symbol, as many as the rate says', () => {
    expect(run({}, ['ORBT'], 600_000).length).toBeGreaterThan(500)
    expect(run({}, ['ORBT'], 600_000).length).toBeLessThan(700)
    expect(run({ rate: 10 }, ['ORBT'], 60_000).length).toBeGreaterThan(500)
  })

  it('sends an equity with ten fields, its range only when it grows, and what is static once', () => {
    const frames = ticks(run({}, ['ORBT'], 60_000))
    const still = frames.filter(({ short_name }) => short_name !== undefined)
    expect(still).toHaveLength(1)
    expect(still[0]).toMatchObject({ id: 'ORBT', currency: 'USD', previous_close: expect.any(Number) })
    const sizes = new Set(frames.filter(({ price }) => price !== undefined).map((frame) => Object.keys(frame).length))
    expect([...sizes].every((size) => size >= 9 && size <= 12)).toBe(true)
  })

  it('sends a coin with every field that the original sends for one', () => {
    const [tick] = ticks(run({}, ['ZNC-USD'], 30_000)).filter(({ price }) => price !== undefined)
    expect(Object.keys(tick ?? {})).toHaveLength(21)
  })

  it('moves the price by small steps, with a volume that never falls', () => {
    const frames = ticks(run({}, ['VLTR'], 600_000)).filter(({ price }) => price !== undefined)
    for (const [index, frame] of frames.entries()) {
      const before = frames[index - 1]
      if (!before) continue
      expect(Math.abs((frame.price ?? 0) / (before.price ?? 1) - 1)).toBeLessThan(0.01)
      expect(Number(frame.day_volume)).toBeGreaterThanOrEqual(Number(before.day_volume))
    }
    expect(new Set(frames.map(({ price }) => price)).size).toBeGreaterThan(10)
  })

  it('speaks bare base64 as version 1', () => {
    const [frame] = run({ version: 1 }, ['ORBT'], 10_000)
    expect(frame).toMatch(/^[A-Za-z0-9+/=]+$/)
  })

  it('answers a symbol that does not exist with silence', () => {
    expect(run({}, ['NOPE', 'not a symbol'], 60_000)).toEqual([])
  })

  it('adds symbols with each subscribe, and takes unsubscribe after it', () => {
    const connection = new StreamerConnection({ ...options, rate: 20 }, start)
    connection.onText('{"subscribe":["ORBT"]}', start)
    connection.onText('{"subscribe":["QNTA","SOLV"],"unsubscribe":["SOLV"]}', start)
    connection.onText('not json', start)
    connection.onText('[1]', start)
    const ids = ticks(connection.due(start + 900).flatMap((effect) => (effect.do === 'send' ? effect.data : [])))
    expect(new Set(ids.map(({ id }) => id))).toEqual(new Set(['ORBT', 'QNTA']))
  })

  it('ends a connection whose client said nothing for 25 minutes', () => {
    expect(run({ rate: 0.01 }, ['ORBT'], idleCutMs + 1).at(-1)).toBe('closed 1000')
  })

  it('does wrong on purpose when asked to', () => {
    const all = run({}, ['ORBT'], 120_000)
    expect(run({ faults: { ...noFaults, drop: 0.5 } }, ['ORBT'], 120_000).length).toBeLessThan(all.length * 0.8)
    expect(run({ faults: { ...noFaults, dup: 0.5 } }, ['ORBT'], 120_000).length).toBeGreaterThan(all.length * 1.2)
    const garbled = run({ faults: { ...noFaults, garble: 0.5 } }, ['ORBT'], 120_000)
    expect(garbled.filter((frame) => readFrame(frame) === 'bad').length).toBeGreaterThan(10)
    const frozen = run({ faults: { ...noFaults, freeze: { fromMs: 0, toMs: 500_000 } } }, ['ORBT'], 120_000)
    expect(ticks(frozen).filter(({ price }) => price !== undefined)).toEqual([])
    expect(run({ faults: { ...noFaults, close: { afterMs: 5000, code: 1011 } } }, ['ORBT'], 9000).at(-1)).toBe(
      'closed 1011',
    )
    const late = ticks(run({ faults: { ...noFaults, late: { share: 0.3, ms: 4000 } } }, ['ORBT'], 120_000))
    const times = late.flatMap(({ time }) => (time === undefined ? [] : Number(time)))
    expect(times.some((time, index) => time < (times[index - 1] ?? 0))).toBe(true)
  })
})

describe('marketHours', () => {
  it('is closed at night and at week ends for what keeps hours, unless markets never close', () => {
    const at = (hour: number, day = 5) => Date.UTC(2026, 0, day, hour, 30)
    expect([5, 8, 13, 20].map((hour) => marketHours('EQUITY', at(hour), false))).toEqual([undefined, 0, 1, 2])
    expect(marketHours('EQUITY', at(15, 4), false)).toBeUndefined()
    expect(marketHours('EQUITY', at(15, 4), true)).toBe(1)
    expect(marketHours('CRYPTOCURRENCY', at(3, 4), false)).toBe(1)
  })
})
