import { describe, expect, it } from 'vitest'
import { Connection, type ConnectionSettings } from '../../../shared/feed/connection.ts'
import { Stream } from '../../../shared/feed/stream.ts'

const settings: ConnectionSettings = {
  id: 'c',
  form: 'json',
  names: 'snake',
  int64: 'auto',
  snapshot: true,
  merge: true,
  keyId: 'k',
  openedMs: 0,
  interval: 0,
  fields: ['price'],
  extremes: false,
}
const item = (q: number, price: number) => ({
  s: 'ORBT',
  q,
  n: 1,
  price,
  hi: price,
  lo: price,
  data: { values: { price }, frame: { price } },
})

describe('a turn with several ticks of one symbol', () => {
  it('writes each against the one before it, so that none is miscounted and a way back is not lost', () => {
    const stream = new Stream(settings, { interval: 0, fields: ['price'], extremes: false })
    stream.join(new Connection(settings, 0), ['ORBT'])
    const read = (sends: ReturnType<Stream['deliver']>) => sends.flatMap(({ data }) => JSON.parse(String(data)).b)
    expect(read(stream.deliver([item(1, 10)], 0))).toEqual([{ s: 'ORBT', q: 1, n: 1, d: { price: 10 } }])
    expect(read(stream.deliver([item(2, 11), item(3, 12), item(4, 12), item(5, 10)], 50))).toEqual([
      { s: 'ORBT', q: 2, n: 1, d: { price: 11 } },
      { s: 'ORBT', q: 3, n: 1, d: { price: 12 } },
      { s: 'ORBT', q: 5, n: 2, d: { price: 10 } },
    ])
  })
})
