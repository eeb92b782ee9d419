import { vi } from 'vitest'

/** A websocket of a test, with what it received and how it ended. */
export class TestSocket {
  readonly socket: WebSocket
  readonly frames: (string | ArrayBuffer)[] = []
  closed: { code: number; reason: string } | undefined

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.binaryType = 'arraybuffer'
    socket.addEventListener('message', ({ data }) => {
      this.frames.push(data as string | ArrayBuffer)
    })
    socket.addEventListener('close', ({ code, reason }) => {
      this.closed = { code, reason }
    })
    socket.accept()
  }

  say(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  /** Frames that are JSON objects. */
  get json(): Record<string, unknown>[] {
    return this.frames.flatMap((frame) => (typeof frame === 'string' && frame.startsWith('{') ? JSON.parse(frame) : []))
  }

  /** The frames of a type of the native protocol. */
  of(type: string): Record<string, unknown>[] {
    return this.json.filter(({ t }) => t === type)
  }

  /** Waits until a condition on the frames holds. */
  async until(condition: () => boolean, timeout = 15_000): Promise<void> {
    await vi.waitFor(
      () => {
        if (!condition()) throw new Error(`not yet; last frames: ${JSON.stringify(this.frames.slice(-5))}`)
      },
      { timeout, interval: 20 },
    )
  }

  close(): void {
    this.socket.close(1000)
  }
}

/** The socket of an upgraded answer. */
export function socketOf(answer: Response): TestSocket {
  if (!answer.webSocket) throw new Error(`expected an upgrade, got ${answer.status}`)
  return new TestSocket(answer.webSocket)
}
