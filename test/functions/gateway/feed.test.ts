import { afterEach, describe, expect, it } from 'vitest'
import type { Values } from '../../../shared/feed/fields.ts'
import { readFrame } from '../../../shared/feed/upstream.ts'
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

const busy = ['ORBT', 'QNTA', 'VLTR', 'ZNC-USD', 'ORB-USD', 'NIMB', 'SOLV', 'WRLD']
const values = (frame: unknown) => readFrame(frame as string) as Values

describe('GET /feed', () => {
  it('says hello, then sends a snapshot and updates of the symbols in the query', async () => {
    const socket = await connect(`/feed?symbols=${busy}`)
    await socket.until(() => socket.of('u').length >= 3)
    expect(socket.json[0]).toMatchObject({ t: 'hello', v: 1, auth: 'none', interval: 250, limits: { symbols: 50 } })
    expect(socket.json[1]).toMatchObject({ t: 'snap', last: true })
    const items = socket.of('u').flatMap(({ b }) => b as { s: string; q: number; n: number; d: Values }[])
    const last = new Map<string, number>()
    for (const { s, q, n, d } of items) {
      expect(busy).toContain(s)
      expect(q - (last.get(s) ?? q - n)).toBe(n)
      last.set(s, q)
      if (d.price !== undefined) expect(d.market_hours).toBeTypeOf('number')
    }
  })

  it('sends binary messages of the instruments asked for, with prices that change', async () => {
    rows('feed.api.live-pricing')
    const socket = await connect('/feed?symbols=ORBT,ZNC-USD&format=raw')
    const prices = () => {
      const messages = socket.frames.map((frame) => readFrame(frame as ArrayBuffer) as Values)
      return Map.groupBy(messages, ({ id }) => id)
    }
    const isChanging = (id: string) => new Set((prices().get(id) ?? []).map(({ price }) => price)).size >= 2
    await socket.until(() => isChanging('ORBT') && isChanging('ZNC-USD'))
    expect(socket.frames.every((frame) => frame instanceof ArrayBuffer)).toBe(true)
    expect([...prices().keys()].sort()).toEqual(['ORBT', 'ZNC-USD'])
  })

  it('names the parameter that is wrong before the upgrade', async () => {
    for (const [query, field] of [
      ['interval=1e3', 'interval'],
      ['format=xml', 'format'],
      ['format=protobuf', 'format'],
      ['delta=1', 'delta'],
      ['compact=1', 'compact'],
      ['fields=colour', 'fields'],
      ['since=abc', 'since'],
    ]) {
      const answer = await call(`/feed?${query}`, { headers: { upgrade: 'websocket' } })
      expect(answer.status).toBe(400)
      expect(answer.headers.get('content-type')).toBe('application/problem+json')
      expect(await answer.json()).toMatchObject({ code: 'bad_parameter', errors: [{ field }] })
    }
    const many = Array.from({ length: 51 }, (_, n) => `S${n}`)
    const answer = await call(`/feed?symbols=${many}`, { headers: { upgrade: 'websocket' } })
    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({ code: 'too_many_symbols' })
  })

  it('asks for an upgrade', async () => {
    for (const path of ['/feed?symbols=ORBT', '/feed/streamer']) {
      const answer = await call(path)
      expect(answer.status).toBe(426)
      expect(await answer.json()).toMatchObject({ code: 'upgrade_required' })
    }
    expect((await call('/feed/nothing')).status).toBe(404)
  })

  it('knows a key in the header, in the subprotocol, and refuses a wrong one', async () => {
    const { text } = await newKey('feed:read')
    const byHeader = await connect('/feed?interval=0', bearer(text))
    await byHeader.until(() => byHeader.json.length > 0)
    expect(byHeader.json[0]).toMatchObject({ auth: 'ok', interval: 0, limits: { symbols: 500 } })
    const protocol = `feed.v1, feed.auth.${btoa(text).replaceAll('=', '')}`
    const answer = await call('/feed', { headers: { upgrade: 'websocket', 'sec-websocket-protocol': protocol } })
    expect(answer.headers.get('sec-websocket-protocol')).toBe('feed.v1')
    const byProtocol = socketOf(answer)
    open.push(byProtocol)
    await byProtocol.until(() => byProtocol.json.length > 0)
    expect(byProtocol.json[0]).toMatchObject({ auth: 'ok' })
    for (const headers of [{ authorization: 'Bearer nonsense' }, { 'sec-websocket-protocol': 'feed.auth.bm8' }]) {
      const refused = await call('/feed', { headers: { upgrade: 'websocket', ...headers } })
      expect(refused.status).toBe(401)
      expect(await refused.json()).toMatchObject({ code: 'auth_failed' })
    }
  })

  it('wants the scope of the feed', async () => {
    const { text } = await newKey('jobs:read')
    const answer = await call('/feed', { headers: { upgrade: 'websocket', ...bearer(text) } })
    expect(answer.status).toBe(403)
  })

  it('does not take a key from the query unless that is allowed', async () => {
    const { text } = await newKey('feed:read')
    const socket = await connect(`/feed?token=${text}`)
    await socket.until(() => socket.json.length > 0)
    expect(socket.json[0]).toMatchObject({ auth: 'none' })
  })

  it('refuses pages of other origins, and takes our own', async () => {
    const other = await call('/feed', { headers: { upgrade: 'websocket', origin: 'https://evil.example' } })
    expect([other.status, ((await other.json()) as { code: string }).code]).toEqual([403, 'forbidden'])
    await connect('/feed', { origin: 'http://gateway.test' })
  })

  it('closes a socket that only offers subprotocols that we do not speak', async () => {
    const socket = await connect('/feed', { 'sec-websocket-protocol': 'soap' })
    await socket.until(() => socket.closed !== undefined)
    expect(socket.closed).toMatchObject({ code: 4406, reason: 'bad_subprotocol' })
  })

  it('takes the frames of a client and answers them', async () => {
    const socket = await connect('/feed')
    socket.say({ op: 'subscribe', id: 1, symbols: ['ORBT', 'NOPE!', 'NOBODY'], fields: 'min' })
    await socket.until(() => socket.of('ack').length > 0)
    expect(socket.of('ack')[0]).toMatchObject({
      id: 1,
      ok: true,
      symbols: [{ s: 'ORBT' }, { s: 'NOBODY', state: 'unknown', q: 0 }],
      rejected: [{ s: 'NOPE!', code: 'bad_symbol' }],
    })
    socket.say('{"op":"jump","id":2}')
    socket.say({ op: 'unsubscribe', id: 3, symbols: '*' })
    await socket.until(() => socket.of('ack').length > 1)
    expect(socket.of('err')).toMatchObject([{ id: 2, code: 'bad_op' }])
    socket.say('ping')
    await socket.until(() => socket.frames.includes('pong'))
  })

  it('says which symbols of the query are none', async () => {
    const socket = await connect('/feed?symbols=ORBT,NOPE!')
    await socket.until(() => socket.of('err').length > 0)
    expect(socket.of('err')).toMatchObject([{ code: 'bad_symbol', symbol: 'NOPE!' }])
  })

  it('closes on binary and on oversized frames', async () => {
    const binary = await connect('/feed')
    binary.socket.send(new Uint8Array([1]))
    await binary.until(() => binary.closed !== undefined)
    expect(binary.closed).toMatchObject({ code: 4415, reason: 'bad_data' })
    const large = await connect('/feed')
    large.say(`"${'x'.repeat(8 * 1024)}"`)
    await large.until(() => large.closed !== undefined)
    expect(large.closed).toMatchObject({ code: 4413, reason: 'frame_too_large' })
    expect(large.of('bye')).toMatchObject([{ code: 4413, reconnect: false }])
  })
})

describe('GET /feed/streamer', () => {
  it.each([
    ['', /^[A-Za-z0-9+/]+={0,2}$/],
    ['?version=2', /^\{"type":"pricing","message":"[A-Za-z0-9+/]+={0,2}"\}$/],
  ])('sends nothing but ticks in the form of the upstream: %j', async (query, form) => {
    const socket = await connect(`/feed/streamer${query}`)
    socket.say({ subscribe: busy })
    socket.say({ subscribe: ['NOPE'] })
    socket.say('nonsense')
    await socket.until(() => socket.frames.length >= 5)
    for (const frame of socket.frames) {
      expect(frame).toMatch(form)
      expect(busy).toContain(values(frame).id)
    }
  })

  it('gives all known fields with each tick, and only the new ones with merge=0', async () => {
    const socket = await connect('/feed/streamer')
    socket.say({ subscribe: busy })
    await socket.until(() => socket.frames.some((frame) => 'short_name' in values(frame)))
    const { id } = socket.frames.map(values).find(({ short_name }) => short_name !== undefined) ?? {}
    const later = await connect(`/feed/streamer?symbols=${id}`)
    await later.until(() => later.frames.length > 0)
    expect(values(later.frames[0])).toMatchObject({ id, short_name: expect.any(String) })
    const partial = await connect(`/feed/streamer?merge=0&snapshot=0&symbols=${id}`)
    await partial.until(() => partial.frames.length > 0)
    expect(values(partial.frames[0])).not.toHaveProperty('short_name')
  })
})

describe('GET /feed/last', () => {
  it('gives last values in the order of the request, with an entity tag', async () => {
    const socket = await connect(`/feed?symbols=${busy}`)
    await socket.until(() => socket.of('u').length >= 1)
    const [item] = socket.of('u').flatMap(({ b }) => b as { s: string }[])
    socket.say({ op: 'unsubscribe', symbols: '*' })
    const path = `/feed/last?symbols=NOBODY,${item?.s},${item?.s.toLowerCase()}&names=camel&int64=string&fields=min`
    const answer = await call(path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('max-age=1')
    expect(await answer.json()).toEqual({
      ts: expect.any(Number),
      data: [
        {
          s: item?.s,
          q: expect.any(Number),
          e: expect.stringMatching(/^.{4,8}$/),
          state: 'live',
          age_ms: expect.any(Number),
          d: expect.objectContaining({
            price: expect.any(Number),
            marketHours: 1,
            time: expect.stringMatching(/^\d+$/),
          }),
        },
      ],
      missing: ['NOBODY'],
    })
  })

  it('answers 304 to the tag of an answer that has not changed', async () => {
    const first = await call('/feed/last?symbols=NOBODY')
    const tag = first.headers.get('etag') ?? ''
    expect((await call('/feed/last?symbols=NOBODY', { headers: { 'if-none-match': `"x", ${tag}` } })).status).toBe(304)
    expect((await call('/feed/last?symbols=NOBODY2', { headers: { 'if-none-match': tag } })).status).toBe(200)
  })

  it.each([
    ['', 400, 'bad_parameter', 'symbols'],
    ['symbols=', 400, 'bad_parameter', 'symbols'],
    ['symbols=A,,B', 400, 'bad_symbol', 'symbols'],
    ['symbols=A&fields=', 400, 'bad_parameter', 'fields'],
    ['symbols=A&fields=id', 400, 'bad_parameter', 'fields'],
    ['symbols=A&names=kebab', 400, 'bad_parameter', 'names'],
    ['symbols=A&int64=number', 400, 'bad_parameter', 'int64'],
    ['symbols=A&wait=26000', 400, 'bad_parameter', 'wait'],
  ])('refuses %j', async (query, status, code, field) => {
    const answer = await call(`/feed/last?${query}`)
    expect(answer.status).toBe(status)
    expect(await answer.json()).toMatchObject({ code, errors: [{ field }] })
  })

  it('refuses more than 500 symbols', async () => {
    const answer = await call(`/feed/last?symbols=${Array.from({ length: 501 }, (_, n) => `X${n}`)}`)
    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({ code: 'too_many_symbols', errors: [{ field: 'symbols' }] })
  })
})

describe('GET /feed/status', () => {
  it('says whether the upstream is live', async () => {
    const socket = await connect(`/feed?symbols=${busy}`)
    await socket.until(() => socket.of('u').length >= 1)
    expect(await (await call('/feed/status')).json()).toMatchObject({
      up: 'live',
      hubs: [{ id: 'hub:0', up: 'live', epoch: expect.stringMatching(/^[0-9a-z]{6}$/), relays: 1 }],
      relays: 1,
    })
  })
})
