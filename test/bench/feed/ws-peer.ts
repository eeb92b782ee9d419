// Peer: a Node process with `ws` that broadcasts frames of the native protocol to all its clients.
import { once } from 'node:events'
import { WebSocket, WebSocketServer } from 'ws'
import { readFields } from '../../../shared/feed/fields.ts'
import { type JsonForm, toJson } from '../../../shared/feed/json.ts'
import { frames } from '../../../shared/feed/protocol.ts'
import { readFrame } from '../../../shared/feed/upstream.ts'
import { serveCommands } from './commands.ts'
import { nowUs, symbols } from './ticks.ts'

/** Broadcasts that are not written yet; without a limit all of them would wait in memory. */
const mostInFlight = 8
const form: JsonForm = { fields: readFields('all') ?? [], names: 'snake', int64: 'auto' }

let following: WebSocket | undefined

const commands = {
  /** Broadcasts texts one after the other as fast as they can be written. */
  async replay({ texts }: { texts: readonly string[] }) {
    const inFlight: Promise<void>[] = []
    const firstUs = nowUs()
    for (const text of texts) {
      inFlight.push(broadcast(text))
      if (inFlight.length >= mostInFlight) await inFlight.shift()
    }
    await Promise.all(inFlight)
    return { firstUs }
  },
  /** Subscribes to the upstream and passes on each of its ticks at once. */
  async follow({ port }: { port: number }) {
    following = new WebSocket(`ws://127.0.0.1:${port}/peer?version=2`, { perMessageDeflate: false })
    const numbers = new Map<string, number>()
    following.on('message', (data) => {
      const values = readFrame(String(data))
      if (values === 'bad' || values === 'no-message') throw new Error('the upstream sent what is no tick')
      const s = String(values.id)
      const q = (numbers.get(s) ?? 0) + 1
      numbers.set(s, q)
      const item = `{"s":${JSON.stringify(s)},"q":${q},"n":1,"d":${JSON.stringify(toJson(values, form))}}`
      void broadcast(frames.u(Date.now(), [item]))
    })
    await once(following, 'open')
    following.send(JSON.stringify({ subscribe: symbols }))
  },
  async unfollow(_: object) {
    following?.close()
  },
}
export type WsPeerCommands = typeof commands

const clients = new WebSocketServer({ server: serveCommands(commands), perMessageDeflate: false }).clients

/** Resolves when the text is written to all; a client that is gone is missed by the load generator. */
function broadcast(text: string): Promise<void> {
  const bytes = Buffer.from(text)
  return new Promise((resolve) => {
    let left = clients.size
    if (left === 0) resolve()
    const onWritten = () => {
      left--
      if (left === 0) resolve()
    }
    for (const client of clients) client.send(bytes, { binary: false }, onWritten)
  })
}
