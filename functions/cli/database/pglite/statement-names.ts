import { closeStatementFrame, type Frame, readCString, request } from '../wire/frames.ts'

/**
 * Which named statements the engine has. Clients choose names, all clients share the engine, so a name means to each
 * client what it last made of it: the engine has one of these at a time, and gets another when it is needed. Clients that
 * prepare the same text under the same name, as pools do, share one.
 */
export class StatementNames {
  readonly #inEngine = new Map<string, Frame | undefined>()

  /** A new engine has none. */
  clear(): void {
    this.#inEngine.clear()
  }

  /** The engine has made this statement. */
  made(name: string, parse: Frame): void {
    this.#inEngine.set(name, parse)
  }

  closed(name: string): void {
    this.#inEngine.delete(name)
  }

  has(name: string): boolean {
    return this.#inEngine.has(name)
  }

  /** The names that the engine itself says it has; the others are gone. Answers what is gone. */
  retain(names: ReadonlySet<string>): string[] {
    const gone = [...this.#inEngine.keys()].filter((name) => !names.has(name))
    for (const name of gone) this.#inEngine.delete(name)
    // Made by a statement of SQL or lost track of: it has the name, with a text that is nobody's.
    for (const name of names) if (!this.#inEngine.has(name)) this.#inEngine.set(name, undefined)
    return gone
  }

  /**
   * Messages that make `name` in the engine what it is to a client, to be sent before the client's own: none, when it is
   * that already.
   *
   * @param wanted the Parse message by which the client made it; undefined: it did not
   */
  aligning(name: string, wanted: Frame | undefined): Frame[] {
    if (name === '') return []
    const present = this.#inEngine.get(name)
    const frames: Frame[] = []
    if (this.#inEngine.has(name) && !(wanted && present?.equals(wanted))) frames.push(closeStatementFrame(name))
    if (wanted && !present?.equals(wanted)) frames.push(wanted)
    return frames
  }

  /** The same for all names at once: nothing else is left in the engine. */
  aligningAll(wanted: ReadonlyMap<string, Frame>): Frame[] {
    const names = new Set([...this.#inEngine.keys(), ...wanted.keys()])
    return [...names].flatMap((name) => this.aligning(name, wanted.get(name)))
  }

  /** Notes that messages of {@link aligning} were carried out. */
  aligned(frames: readonly Frame[]): void {
    for (const frame of frames) {
      if (frame[0] === request.parse) this.made(statementOf(frame), frame)
      else this.closed(statementOf(frame))
    }
  }
}

/** The statement that a Parse, Bind, Describe or Close message is about; undefined when it is about a portal. */
export function statementNamed(frame: Frame): string | undefined {
  const first = 5
  if (frame[0] === request.parse) return readCString(frame, first).text
  if (frame[0] === request.bind) return readCString(frame, readCString(frame, first).next).text
  // Describe and Close: 'S' for a statement, 'P' for a portal.
  return frame[first] === 0x53 ? readCString(frame, first + 1).text : undefined
}

const statementOf = (frame: Frame): string => statementNamed(frame) ?? ''
