// The upstream of every subject: a streamer that speaks version 2 and sends ticks when it is told to, at its own pace.
import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket, WebSocketServer } from 'ws'
import { encode } from '../../../shared/feed/codec.ts'
import { parseUpstreamForm } from '../../../shared/feed/protocol.ts'
import { streamerFrame } from '../../../shared/feed/streamer.ts'
import { serveCommands } from './commands.ts'
import { nextTick, nowUs, symbols } from './ticks.ts'

/** Subscribers by the path that they connect to: `/` is Tidegate's hub. */
const subscribers = new Map<string, WebSocket>()
const changes = new EventEmitter()
const patienceMs = 20_000

/** The subscriber of a path, once it wants all symbols. */
async function subscriberOf(path: string): Promise<WebSocket> {
  const signal = AbortSignal.timeout(patienceMs)
  for (;;) {
    const socket = subscribers.get(path)
    if (socket?.readyState === WebSocket.OPEN) return socket
    await once(changes, 'subscribed', { signal }).catch(() => {
      throw new Error(`nobody subscribed to ${symbols.length} symbols at ${path} within ${patienceMs} ms`)
    })
  }
}

const sendTick = (socket: WebSocket, symbol: string): void =>
  socket.send(streamerFrame(encode(nextTick(symbol, nowUs())), 2))

const commands = {
  /** Rounds of one tick of each symbol, one after the other without a pause. */
  async burst({ path, rounds }: { path: string; rounds: number }) {
    const socket = await subscriberOf(path)
    const firstUs = nowUs()
    for (let round = 0; round < rounds; round++) for (const symbol of symbols) sendTick(socket, symbol)
    return { firstUs }
  },
  /** Single ticks, a symbol after the other, at a fixed rate that nothing slows down. */
  async pace({ path, ticks, perSecond }: { path: string; ticks: number; perSecond: number }) {
    const socket = await subscriberOf(path)
    const startUs = nowUs()
    for (let tick = 0; tick < ticks; tick++) {
      const waitMs = (startUs - nowUs()) / 1000 + (tick * 1000) / perSecond
      if (waitMs > 0) await delay(waitMs)
      sendTick(socket, symbols[tick % symbols.length] as string)
    }
  },
}
export type UpstreamCommands = typeof commands

const server = serveCommands(commands)
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket, request) => {
  const { pathname } = new URL(request.url ?? '', 'ws://upstream')
  const wanted = new Set<string>()
  socket.on('message', (data) => {
    const { subscribe = [], unsubscribe = [] } = parseUpstreamForm(JSON.parse(String(data))) ?? {}
    for (const symbol of unsubscribe) wanted.delete(symbol)
    for (const symbol of subscribe) wanted.add(symbol)
    if (symbols.every((symbol) => wanted.has(symbol))) {
      subscribers.set(pathname, socket)
      changes.emit('subscribed')
    } else if (subscribers.get(pathname) === socket) subscribers.delete(pathname)
  })
  socket.on('close', () => {
    if (subscribers.get(pathname) === socket) subscribers.delete(pathname)
  })
})
