import type { Readable } from 'node:stream'

/** The next `size` bytes of a stream, which stays paused; undefined when it ends before. */
export async function readExactly(stream: Readable, size: number): Promise<Buffer | undefined> {
  if (size === 0) return Buffer.alloc(0)
  for (;;) {
    if (stream.destroyed || stream.readableEnded) return undefined
    const bytes = stream.read(size) as Buffer | null
    if (bytes !== null) return bytes.byteLength === size ? bytes : undefined
    await change(stream)
  }
}

/** Whether bytes have arrived that nobody has read yet. */
export const hasBytes = (stream: Readable): boolean => stream.readableLength > 0

const change = (stream: Readable): Promise<void> =>
  new Promise((resolve) => {
    const events = ['readable', 'end', 'close', 'error'] as const
    const done = () => {
      for (const event of events) stream.off(event, done)
      resolve()
    }
    for (const event of events) stream.on(event, done)
  })
