import { env, exports } from 'cloudflare:workers'
import { afterEach, describe, expect, it } from 'vitest'
import type { Values } from '../../../shared/feed/fields.ts'
import { readFrame } from '../../../shared/feed/upstream.ts'
import { socketOf, type TestSocket } from '../../support/socket.ts'

const open: TestSocket[] = []
afterEach(() => {
  for (const socket of open.splice(0)) socket.close()
})

async function connect(query = ''): Promise<TestSocket> {
  const answer = await exports.Sandbox.fetch(
    new Request(`http://streamer.sandbox/${query}`, { headers: { upgrade: 'websocket' } }),
  )
  const socket = socketOf(answer)
  open.push(socket)
  return socket
}

const values = (frame: unknown) => readFrame(frame as string) as Values

describe('the streamer', () => {
  it('sends envelopes of one message as version 2', async () => {
    const socket = await connect('?version=2&rate=20')
    socket.say({ subscribe: ['ORBT'] })
    await socket.until(() => socket.frames.length >= 3)
    for (const frame of socket.frames) {
      expect(frame).toMatch(/^\{"type":"pricing","message":"[A-Za-z0-9+/]+={0,2}"\}$/)
      expect(values(frame).id).toBe('ORBT')
    }
  })

  it('sends bare base64 as version 1, the default', async () => {
    const socket = await connect('?rate=20')
    socket.say({ subscribe: ['ZNC-USD'] })
    await socket.until(() => socket.frames.length >= 1)
    expect(socket.frames[0]).toMatch(/^[A-Za-z0-9+/]+={0,2}$/)
    expect(values(socket.frames[0])).toMatchObject({ id: 'ZNC-USD', quote_type: 41, exchange: 'CCC' })
  })

  it('adds symbols, removes them, and keeps silent about wrong ones and wrong frames', async () => {
    const socket = await connect('?version=2&rate=30')
    socket.say({ subscribe: ['NOPE'] })
    socket.say('not json')
    socket.say({ subscribe: ['ORBT'] })
    socket.say({ subscribe: ['QNTA'] })
    await socket.until(() => new Set(socket.frames.map((frame) => values(frame).id)).size === 2)
    socket.say({ unsubscribe: ['ORBT'] })
    const ids = () => socket.frames.slice(-8).map((frame) => values(frame).id)
    await socket.until(() => ids().every((id) => id === 'QNTA'))
    expect(socket.closed).toBeUndefined()
  })

  it('closes when it is told to', async () => {
    const socket = await connect('?close=50,4999')
    await socket.until(() => socket.closed !== undefined)
    expect(socket.closed?.code).toBe(4999)
  })

  it('takes no request that is not an upgrade, and no parameter out of range', async () => {
    const plain = await exports.Sandbox.fetch(new Request('http://streamer.sandbox/'))
    expect(plain.status).toBe(426)
    const bad = await exports.Sandbox.fetch(
      new Request('http://streamer.sandbox/?drop=2', { headers: { upgrade: 'websocket' } }),
    )
    expect([bad.status, await bad.text()]).toEqual([400, expect.stringContaining('drop')])
  })

  it('is reached through the binding of the gateway too', async () => {
    const answer = await env.SANDBOX?.fetch('http://streamer.sandbox/?version=2', { headers: { upgrade: 'websocket' } })
    const socket = socketOf(answer as Response)
    open.push(socket)
    socket.say({ subscribe: ['ORBT', 'QNTA', 'VLTR', 'ZNC-USD'] })
    await socket.until(() => socket.frames.length > 0)
  })
})
