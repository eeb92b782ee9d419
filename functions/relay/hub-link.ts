import type { HubMessage, RelayMessage } from '../../shared/feed/uplink.ts'

export type HubLinkEvents = {
  readonly onMessage: (message: HubMessage) => void
  /** No hub any more: what it serves is stale until it is back. */
  readonly onDown: () => void
}

const firstRetryMs = 250
const mostRetryMs = 2000

/** A hub as the relay sees it: one websocket, opened again after each end for as long as symbols are wanted. */
export class HubLink {
  readonly #dial: () => Promise<WebSocket>
  readonly #events: HubLinkEvents
  readonly #wanted = new Set<string>()
  #socket: WebSocket | undefined
  #dialling = false
  #failures = 0
  #retry: ReturnType<typeof setTimeout> | undefined

  constructor(dial: () => Promise<WebSocket>, events: HubLinkEvents) {
    this.#dial = dial
    this.#events = events
  }

  /** Changes what is wanted; asking again for a symbol gives its snapshot again. */
  tell({ need = [], drop = [] }: RelayMessage): void {
    for (const symbol of drop) this.#wanted.delete(symbol)
    for (const symbol of need) this.#wanted.add(symbol)
    if (this.#wanted.size === 0) this.#rest()
    else if (this.#socket) sendQuietly(this.#socket, { need, drop })
    else if (this.#retry === undefined) void this.#connect()
  }

  #rest(): void {
    clearTimeout(this.#retry)
    this.#retry = undefined
    const socket = this.#socket
    this.#socket = undefined
    if (socket) closeQuietly(socket)
  }

  async #connect(): Promise<void> {
    if (this.#dialling) return
    this.#dialling = true
    try {
      const socket = await this.#dial()
      if (this.#wanted.size === 0) {
        socket.accept()
        closeQuietly(socket)
      } else this.#open(socket)
    } catch (error) {
      console.error(JSON.stringify({ level: 'error', message: 'the hub cannot be reached', error: String(error) }))
      this.#tryAgain()
    } finally {
      this.#dialling = false
    }
  }

  #open(socket: WebSocket): void {
    this.#socket = socket
    socket.accept()
    socket.addEventListener('message', ({ data }) => {
      if (this.#socket !== socket || typeof data !== 'string') return
      this.#failures = 0
      this.#events.onMessage(JSON.parse(data) as HubMessage)
    })
    const onEnd = () => {
      closeQuietly(socket)
      if (this.#socket !== socket) return
      this.#socket = undefined
      this.#events.onDown()
      this.#tryAgain()
    }
    socket.addEventListener('close', onEnd)
    socket.addEventListener('error', onEnd)
    sendQuietly(socket, { need: [...this.#wanted] })
  }

  #tryAgain(): void {
    if (this.#wanted.size === 0) return
    const waitMs = Math.random() * Math.min(mostRetryMs, firstRetryMs * 2 ** this.#failures++)
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      void this.#connect()
    }, waitMs)
  }
}

/** A socket that has just ended throws; its close event follows, and the next connection asks for everything. */
function sendQuietly(socket: WebSocket, message: RelayMessage): void {
  try {
    socket.send(JSON.stringify(message))
  } catch {
    closeQuietly(socket)
  }
}

function closeQuietly(socket: WebSocket): void {
  try {
    socket.close(1000)
  } catch {
    // closed already
  }
}
