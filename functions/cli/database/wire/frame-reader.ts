import { type Frame, headerBytes } from './frames.ts'

/** A stream of bytes that is not the wire protocol, or a message beyond the limit. */
export class FrameError extends Error {
  override readonly name = 'FrameError'
}

/** Cuts a stream of bytes into whole messages. What it holds back is at most one message. */
export class FrameReader {
  readonly #maxBytes: number
  #chunks: Buffer[] = []
  #held = 0

  /** @param maxBytes of one message; a greater one throws */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Bytes that wait for the rest of their message. */
  get heldBytes(): number {
    return this.#held
  }

  /**
   * The messages completed by `chunk`, which may share its memory.
   *
   * @throws {FrameError} a length below 4 or above the limit
   */
  read(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk)
    this.#held += chunk.byteLength
    const frames: Frame[] = []
    while (this.#held >= headerBytes) {
      const length = this.#peekLength()
      if (length < 4) throw new FrameError(`invalid message length ${length}`)
      const size = 1 + length
      if (size > this.#maxBytes) throw new FrameError(`a message of ${size} bytes is larger than ${this.#maxBytes}`)
      if (this.#held < size) break
      frames.push(this.#take(size))
    }
    return frames
  }

  /** The bytes held back, which are then forgotten. */
  rest(): Buffer {
    const rest = Buffer.concat(this.#chunks)
    this.#chunks = []
    this.#held = 0
    return rest
  }

  #peekLength(): number {
    const first = this.#chunks[0] as Buffer
    if (first.byteLength >= headerBytes) return first.readInt32BE(1)
    this.#chunks = [Buffer.concat(this.#chunks)]
    return (this.#chunks[0] as Buffer).readInt32BE(1)
  }

  #take(size: number): Frame {
    this.#held -= size
    const first = this.#chunks[0] as Buffer
    if (first.byteLength < size) {
      const whole = Buffer.concat(this.#chunks)
      this.#chunks = whole.byteLength > size ? [whole.subarray(size)] : []
      return whole.subarray(0, size)
    }
    if (first.byteLength > size) this.#chunks[0] = first.subarray(size)
    else this.#chunks.shift()
    return first.subarray(0, size)
  }
}

/** Takes what {@link FrameWalker} finds. */
export type FrameSink = {
  /** A whole message. */
  readonly frame: (type: number, frame: Frame) => void
  /** Bytes of messages of a bulk type, cut anywhere. */
  readonly bulk: (bytes: Buffer) => void
}

/**
 * Walks a stream of messages without holding those of bulk types (rows, copy data), however large they are; the others
 * arrive whole.
 */
export class FrameWalker {
  readonly #bulkTypes: ReadonlySet<number>
  #header = Buffer.alloc(0)
  /** Bytes left of the message that is under way. */
  #left = 0
  #parts: Buffer[] | undefined

  constructor(bulkTypes: Iterable<number>) {
    this.#bulkTypes = new Set(bulkTypes)
  }

  /** Hands `chunk` over in order. `sink` is asked anew for each message, so that messages may change it. */
  walk(chunk: Buffer, sink: () => FrameSink): void {
    let at = 0
    let bulkFrom = -1
    const flushBulk = (end: number) => {
      if (bulkFrom >= 0 && end > bulkFrom) sink().bulk(chunk.subarray(bulkFrom, end))
      bulkFrom = -1
    }
    while (at < chunk.byteLength) {
      if (this.#left > 0) {
        const take = Math.min(this.#left, chunk.byteLength - at)
        if (this.#parts) this.#parts.push(chunk.subarray(at, at + take))
        else if (bulkFrom < 0) bulkFrom = at
        at += take
        this.#left -= take
        if (this.#left === 0) this.#finish(sink)
        continue
      }
      if (this.#header.byteLength > 0 || chunk.byteLength - at < headerBytes) {
        flushBulk(at)
        const need = headerBytes - this.#header.byteLength
        const piece = chunk.subarray(at, at + need)
        at += piece.byteLength
        this.#header = Buffer.concat([this.#header, piece])
        if (this.#header.byteLength < headerBytes) return
        const header = this.#header
        this.#header = Buffer.alloc(0)
        this.#left = header.readInt32BE(1) - 4
        if (this.#bulkTypes.has(header[0] as number)) sink().bulk(header)
        else this.#parts = [header]
        if (this.#left === 0) this.#finish(sink)
        continue
      }
      const type = chunk[at] as number
      const size = 1 + chunk.readInt32BE(at + 1)
      if (this.#bulkTypes.has(type)) {
        if (bulkFrom < 0) bulkFrom = at
        at += headerBytes
        this.#left = size - headerBytes
        continue
      }
      flushBulk(at)
      if (chunk.byteLength - at >= size) {
        sink().frame(type, chunk.subarray(at, at + size))
        at += size
        continue
      }
      this.#parts = [chunk.subarray(at)]
      this.#left = size - (chunk.byteLength - at)
      return
    }
    flushBulk(at)
  }

  #finish(sink: () => FrameSink): void {
    if (!this.#parts) return
    const whole = Buffer.concat(this.#parts)
    this.#parts = undefined
    sink().frame(whole[0] as number, whole)
  }
}
