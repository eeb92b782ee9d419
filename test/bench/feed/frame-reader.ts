/** Bytes of a payload that are at hand when its frame begins (all of a shorter one). */
const headBytes = 64

export type FrameSink = {
  /** A frame begins: whether its payload is wanted. Most are only counted, and their bytes never looked at. */
  readonly wants: (opcode: number, head: Buffer, length: number) => boolean
  /** It is complete. */
  readonly onFrame: (payload: Buffer | undefined) => void
}

/** Cuts what a websocket server sends (RFC 6455, section 5.2: unmasked) into frames, without copying what is skipped. */
export class FrameReader {
  readonly #sink: FrameSink
  #rest: Buffer | undefined
  #left = 0
  #parts: Buffer[] | undefined

  constructor(sink: FrameSink) {
    this.#sink = sink
  }

  /** @throws {Error} a frame that a server of whole messages does not send */
  read(chunk: Buffer): void {
    const data = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk
    this.#rest = undefined
    let at = 0
    while (at < data.length) {
      if (this.#left === 0) {
        const begun = this.#begin(data, at)
        if (begun === undefined) {
          this.#rest = data.subarray(at)
          return
        }
        at = begun
      }
      const end = Math.min(data.length, at + this.#left)
      this.#parts?.push(data.subarray(at, end))
      this.#left -= end - at
      at = end
      if (this.#left === 0) this.#sink.onFrame(this.#parts && Buffer.concat(this.#parts))
    }
  }

  /** Where the payload begins; undefined when the header or the head is not all there. */
  #begin(data: Buffer, at: number): number | undefined {
    const [first = 0, second = 0] = data.subarray(at, at + 2)
    const short = second & 0x7f
    const from = at + (short < 126 ? 2 : short === 126 ? 4 : 10)
    if (data.length < from) return undefined
    if ((first & 0xf0) !== 0x80 || second >= 0x80 || (first & 0x0f) === 0) {
      throw new Error(`expected whole, plain, unmasked frames, not one that begins with ${first}, ${second}`)
    }
    const length =
      short < 126 ? short : short === 126 ? data.readUInt16BE(at + 2) : Number(data.readBigUInt64BE(at + 2))
    const head = data.subarray(from, from + Math.min(length, headBytes))
    if (head.length < Math.min(length, headBytes)) return undefined
    this.#parts = this.#sink.wants(first & 0x0f, head, length) ? [] : undefined
    this.#left = length
    if (length === 0) this.#sink.onFrame(this.#parts && Buffer.alloc(0))
    return from
  }
}
