import { describe, expect, it } from 'vitest'
import { encode } from '../../../shared/feed/codec.ts'
import { linkTimes, readFrame, UpstreamLink } from '../../../shared/feed/upstream.ts'
import { toBase64 } from '../../../shared/kernel/bytes.ts'

const bytes = encode({ id: 'ORBT', price: 48.37 })
const base64 = toBase64(bytes)
const envelope = JSON.stringify({ type: 'pricing', message: base64 })

const sent = (effects: readonly unknown[]) =>
  effects.flatMap((effect) => ((effect as { data?: string }).data ? JSON.parse((effect as { data: string }).data) : []))

function open(random = () => 0.5): UpstreamLink {
  const link = new UpstreamLink(random)
  link.want(['A', 'B'], 0)
  link.onOpen(0)
  return link
}

describe('readFrame', () => {
  it.each([
    ['an envelope', envelope],
    ['an envelope with extra keys', JSON.stringify({ type: 'pricing', message: base64, seq: 3 })],
    ['bare base64', base64],
    ['a binary message', bytes.slice().buffer],
    ['a binary frame that holds the envelope', new TextEncoder().encode(envelope).buffer as ArrayBuffer],
  ])('reads %s', (_, frame) => {
    expect(readFrame(frame)).toEqual({ id: 'ORBT', price: 48.37 })
  })

  it('tells a control frame from what cannot be read', () => {
    expect(readFrame('{"type":"heartbeat"}')).toBe('no-message')
    expect(['', '{', 'not base64!', '{"message":"!"}'].map((text) => readFrame(text))).toEqual([
      {},
      'bad',
      'bad',
      'bad',
    ])
  })
})

describe('UpstreamLink', () => {
  it('connects with the first wanted symbol and subscribes to all of them when open', () => {
    const link = new UpstreamLink(() => 0)
    expect(link.want(['A'], 0)).toEqual([{ do: 'connect' }])
    expect(link.want(['B'], 0)).toEqual([])
    expect(sent(link.onOpen(5))).toEqual([{ subscribe: ['A', 'B'] }])
    expect(link.state).toBe('live')
  })

  it('subscribes once to a symbol that many want', () => {
    const link = open()
    expect(link.want(['A'], 1)).toEqual([])
    expect(sent(link.want(['C'], 1))).toEqual([{ subscribe: ['C'] }])
  })

  it('gives a symbol up 30 s after the last reference, and not when it is wanted again before', () => {
    const link = open()
    link.want(['A'], 1)
    link.unwant(['A', 'B'], 2)
    link.unwant(['A'], 3)
    link.want(['B'], 4)
    expect(sent(link.onTimer(2 + linkTimes.lingerMs)).filter((message) => 'unsubscribe' in message)).toEqual([])
    expect(sent(link.onTimer(3 + linkTimes.lingerMs))).toContainEqual({ unsubscribe: ['A'] })
    expect(link.symbols).toEqual(['B'])
  })

  it('closes when nothing is wanted any more', () => {
    const link = open()
    link.unwant(['A', 'B'], 0)
    link.onFrame(envelope, 29_000)
    expect(link.onTimer(linkTimes.lingerMs)).toContainEqual({ do: 'close' })
    expect(link.state).toBe('idle')
    expect(link.nextMs()).toBeUndefined()
    expect(link.onClosed(40_000)).toEqual([])
  })

  it('repeats the whole subscription every 15 s', () => {
    const link = open()
    expect(link.nextMs()).toBe(15_000)
    expect(sent(link.onTimer(15_000))).toEqual([{ subscribe: ['A', 'B'] }])
  })

  it('is quiet after 30 s without a frame and reconnects after 60 s, though the socket is open', () => {
    const link = open()
    link.onTimer(15_000)
    link.onTimer(30_000)
    expect(link.state).toBe('quiet')
    expect(link.onTimer(60_000)).toContainEqual({ do: 'close' })
    expect(link.state).toBe('backoff')
  })

  it('waits longer after each failure, with full jitter, up to a minute', () => {
    const link = new UpstreamLink(() => 1)
    link.want(['A'], 0)
    const waits: number[] = []
    let now = 0
    for (let attempt = 0; attempt < 8; attempt++) {
      link.onClosed(now)
      waits.push((link.nextMs() ?? 0) - now)
      now = link.nextMs() ?? 0
      expect(link.onTimer(now)).toEqual([{ do: 'connect' }])
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  })

  it('starts over with short waits only after a minute of health, not when it connects', () => {
    const link = new UpstreamLink(() => 1)
    link.want(['A'], 0)
    link.onClosed(0)
    link.onTimer(1000)
    link.onOpen(1000)
    link.onClosed(2000)
    expect(link.nextMs()).toBe(4000)
    link.onTimer(4000)
    link.onOpen(4000)
    link.onFrame(envelope, 64_000)
    link.onClosed(65_000)
    expect(link.nextMs()).toBe(66_000)
  })

  it('gives up a connection that does not open within 10 s', () => {
    const link = new UpstreamLink(() => 0)
    link.want(['A'], 0)
    expect(link.onTimer(10_000)).toEqual([{ do: 'close' }])
    expect(link.state).toBe('backoff')
  })

  it('stops when its access is refused, and waits as long as it is told otherwise', () => {
    const refused = new UpstreamLink(() => 0)
    refused.want(['A'], 0)
    refused.onRefused(403, undefined, 0)
    expect([refused.state, refused.nextMs()]).toEqual(['refused', undefined])
    const busy = new UpstreamLink(() => 0.5)
    busy.want(['A'], 0)
    busy.onRefused(503, 20_000, 0)
    expect(busy.nextMs()).toBe(20_500)
  })

  it('keeps the socket when frames do not decode, until there were a hundred in a minute', () => {
    const link = open()
    for (let n = 1; n < 100; n++) expect(link.onFrame('bad!', n).effects).toEqual([])
    expect(link.onFrame('bad!', 100).effects).toEqual([{ do: 'close' }])
    expect(link.totals.failures).toBe(100)
  })
})
