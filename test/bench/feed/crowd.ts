import { connect, type Socket } from 'node:net'
import { FrameReader } from './frame-reader.ts'
import { nowUs } from './ticks.ts'

export type Audience = {
  /** Said in errors. */
  readonly subject: string
  readonly port: number
  readonly path: string
  /** `Authorization` of each client; empty = none. */
  readonly authorizations: readonly string[]
  /** Clients are there once they have a snapshot; a server that sends none has them from the upgrade on. */
  readonly awaitsSnapshot: boolean
}

export type Received = {
  /** When the last client had its last item. */
  readonly lastUs: number
  /** The frames of updates as each client got them. */
  readonly texts: readonly string[]
  readonly latenciesMs: readonly number[]
}

type Client = { readonly at: number; readonly socket: Socket; items: number; isReady: boolean }
type Update = { readonly b: readonly { readonly n: number; readonly d: { readonly last_size: number } }[] }

/** Handshakes at a time. */
const groupSize = 10
/** Latency is taken from about this many clients, spread over all: the first ones are served first. */
const sampledClients = 50
const patienceMs = 60_000
/** Key of the example in RFC 6455, section 1.3; nothing here has to be unguessable. */
const websocketKey = 'dGhlIHNhbXBsZSBub25jZQ=='

/** Clients of one server, which count the items that they receive. */
export class Crowd {
  readonly #audience: Audience
  readonly #clients: Client[] = []
  /** Items of each frame that a client has seen whole, by its length and its beginning, which holds time and number. */
  readonly #known = new Map<string, number>()
  #texts: string[] = []
  #latenciesMs: number[] = []
  #takesLatency = false
  #expected = 0
  #complete = 0
  #lastUs = 0
  #failure: Error | undefined
  #isLeaving = false
  /** Called whenever something that is waited for may have happened. */
  #onChange: () => void = () => {}

  constructor(audience: Audience) {
    this.#audience = audience
  }

  /** Connects all, some at a time, and waits until each is ready. */
  async enter(): Promise<void> {
    const { authorizations } = this.#audience
    for (let from = 0; from < authorizations.length; from += groupSize) {
      const group = authorizations
        .slice(from, from + groupSize)
        .map((authorization, at) => this.#open(from + at, authorization))
      await this.#until(
        () => group.every(({ isReady }) => isReady),
        () => `clients ${from} to ${from + group.length - 1} are not ready`,
      )
    }
  }

  /** Begins a measurement in which each client is to get so many items. */
  arm(items: number, takesLatency: boolean): void {
    this.#known.clear()
    this.#texts = []
    this.#latenciesMs = []
    this.#takesLatency = takesLatency
    this.#expected = items
    this.#complete = 0
    for (const client of this.#clients) client.items = 0
  }

  /** Waits until each client has all its items. */
  async finish(): Promise<Received> {
    const { length } = this.#clients
    await this.#until(
      () => this.#complete === length,
      () => `${length - this.#complete} of ${length} clients have not got all ${this.#expected} items`,
    )
    return { lastUs: this.#lastUs, texts: this.#texts, latenciesMs: this.#latenciesMs }
  }

  leave(): void {
    this.#isLeaving = true
    for (const { socket } of this.#clients) socket.destroy()
  }

  #open(at: number, authorization: string): Client {
    const { port, path } = this.#audience
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    const client: Client = { at, socket, items: 0, isReady: false }
    this.#clients.push(client)
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${websocketKey}\r\n` +
        `${authorization === '' ? '' : `Authorization: ${authorization}\r\n`}\r\n`,
    )
    const reader = this.#readerOf(client)
    let answer: Buffer | undefined = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      try {
        if (answer) answer = this.#readAnswer(client, Buffer.concat([answer, chunk]), reader)
        else reader.read(chunk)
      } catch (error) {
        this.#fail(`client ${at}: ${error instanceof Error ? error.message : String(error)}`)
      }
    })
    socket.on('error', (error) => this.#fail(`client ${at}: ${error.message}`))
    socket.on('close', () => this.#fail(`client ${at} lost its connection`))
    return client
  }

  /** The answer to the upgrade as far as it came; undefined once it was read, with what follows it. */
  #readAnswer(client: Client, answer: Buffer, reader: FrameReader): Buffer | undefined {
    const end = answer.indexOf('\r\n\r\n')
    if (end < 0) return answer
    const [status] = answer.toString('latin1', 0, end).split('\r\n')
    if (!status?.startsWith('HTTP/1.1 101')) throw new Error(`was not upgraded: ${status}`)
    if (!this.#audience.awaitsSnapshot) this.#setReady(client)
    if (answer.length > end + 4) reader.read(answer.subarray(end + 4))
    return undefined
  }

  #readerOf(client: Client): FrameReader {
    let key = ''
    let opcode = 0
    const isSampled = () => {
      const step = Math.max(1, Math.floor(this.#clients.length / sampledClients))
      return this.#takesLatency && client.at % step === 0
    }
    return new FrameReader({
      wants: (of, head, length) => {
        opcode = of
        key = `${length} ${head.toString('latin1')}`
        return isSampled() || !this.#known.has(key)
      },
      onFrame: (payload) => {
        const items = payload ? this.#readFrame(client, opcode, key, payload, isSampled()) : this.#known.get(key)
        if (items) this.#count(client, items)
      },
    })
  }

  /** Items of a frame. */
  #readFrame(client: Client, opcode: number, key: string, payload: Buffer, isSampled: boolean): number {
    if (opcode === 8) {
      const code = payload.length >= 2 ? payload.readUInt16BE() : 'no code'
      throw new Error(`was closed with ${code} ${payload.toString('utf8', 2)}`)
    }
    if (opcode !== 1) throw new Error(`got a frame of opcode ${opcode}`)
    const receivedUs = nowUs()
    const text = payload.toString()
    const frame = JSON.parse(text) as { t: string; last?: boolean }
    if (frame.t === 'snap' && frame.last) this.#setReady(client)
    if (frame.t === 'gap' || frame.t === 'err' || frame.t === 'bye') throw new Error(`got ${text.slice(0, 300)}`)
    if (frame.t !== 'u') return 0
    const { b } = frame as unknown as Update
    if (isSampled) for (const { d } of b) this.#latenciesMs.push((receivedUs - d.last_size) / 1000)
    // Conflation may make one item of ticks that were late together; without it each tick is an item.
    const items = this.#takesLatency ? b.reduce((sum, { n }) => sum + n, 0) : b.length
    if (!this.#known.has(key)) {
      this.#known.set(key, items)
      this.#texts.push(text)
    }
    return items
  }

  #count(client: Client, items: number): void {
    client.items += items
    if (client.items > this.#expected) {
      this.#fail(`client ${client.at} got ${client.items} items of ${this.#expected}`)
    } else if (client.items === this.#expected) {
      this.#complete++
      this.#lastUs = nowUs()
      this.#onChange()
    }
  }

  #setReady(client: Client): void {
    client.isReady = true
    this.#onChange()
  }

  #fail(sentence: string): void {
    if (this.#isLeaving) return
    this.#failure ??= new Error(`${this.#audience.subject}: ${sentence}`)
    this.#onChange()
  }

  /** @throws {Error} what went wrong meanwhile, or what is still missing when the patience ends */
  async #until(isDone: () => boolean, missing: () => string): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    try {
      await new Promise<void>((resolve, reject) => {
        const look = () => {
          if (this.#failure) reject(this.#failure)
          else if (isDone()) resolve()
        }
        timer = setTimeout(() => {
          reject(new Error(`${this.#audience.subject}: ${missing()} after ${patienceMs / 1000} s`))
        }, patienceMs)
        this.#onChange = look
        look()
      })
    } finally {
      clearTimeout(timer)
      this.#onChange = () => {}
    }
  }
}
