import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connectUpstream } from '../../../../functions/cli/database/postgres/upstream.ts'
import { FrameReader } from '../../../../functions/cli/database/wire/frame-reader.ts'
import {
  answer,
  cstring,
  type Frame,
  frame,
  queryFrame,
  readError,
  readRow,
  readStatus,
  readTag,
  request,
} from '../../../../functions/cli/database/wire/frames.ts'

/** A client that sends and sees single messages of the wire protocol, logged in by node-postgres. */
export class WireClient {
  readonly socket: Socket
  readonly key: { readonly processId: number; readonly secretKey: number }
  readonly parameters: ReadonlyMap<string, string>
  readonly #frames: Frame[] = []
  #wake: (() => void) | undefined
  closed = false

  private constructor(upstream: Awaited<ReturnType<typeof connectUpstream>>) {
    this.socket = upstream.socket
    this.key = upstream.key
    this.parameters = upstream.parameters
    const reader = new FrameReader(1 << 30)
    this.socket.on('data', (chunk: Buffer) => {
      this.#frames.push(...reader.read(chunk))
      this.#wake?.()
    })
    this.socket.on('close', () => {
      this.closed = true
      this.#wake?.()
    })
    this.socket.resume()
  }

  static async connect(url: string, settings: Record<string, string> = {}): Promise<WireClient> {
    return new WireClient(
      await connectUpstream(url, undefined, { options: '', settings: new Map(Object.entries(settings)) }),
    )
  }

  send(...frames: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(frames))
  }

  /** The next message; undefined when the server has closed. */
  async next(): Promise<Frame | undefined> {
    for (;;) {
      const found = this.#frames.shift()
      if (found || this.closed) return found
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** Messages up to and including the first of `type`, described in short. */
  async until(type: number): Promise<string[]> {
    const seen: string[] = []
    for (;;) {
      const found = await this.next()
      if (!found) return [...seen, 'closed']
      seen.push(describeFrame(found))
      if (found[0] === type) return seen
    }
  }

  /** Messages up to ReadyForQuery. */
  ready(): Promise<string[]> {
    return this.until(answer.readyForQuery)
  }

  async query(text: string): Promise<string[]> {
    this.send(queryFrame(text))
    return this.ready()
  }

  /** Until the server closes. */
  async end(): Promise<void> {
    if (this.closed) return
    this.socket.end(frame(request.terminate))
    this.socket.resume()
    await once(this.socket, 'close')
  }
}

export const copyData = (text: string): Frame => frame(request.copyData, text)
export const copyDone: Frame = frame(request.copyDone)
export const copyFail = (reason: string): Frame => frame(request.copyFail, cstring(reason))
export const flush: Frame = frame(request.flush)

/** `D[1,null]`, `C INSERT 0 1`, `E 42601`, `Z I`, or the type alone. Reported parameters are left to other tests. */
function describeFrame(found: Frame): string {
  const type = String.fromCharCode(found[0] as number)
  switch (found[0]) {
    case answer.readyForQuery:
      return `${type} ${readStatus(found)}`
    case answer.commandComplete:
      return `${type} ${readTag(found)}`
    case answer.dataRow:
      return `${type} ${readRow(found).join(',')}`
    case answer.copyData:
      return `${type} ${found.toString('utf8', 5).replace(/\n$/, '')}`
    case answer.error:
      return `${type} ${readError(found).code}`
    case answer.notification:
      return `${type} ${found.toString('utf8', 9, found.length - 1).replace('\0', '=')}`
    default:
      return type
  }
}
