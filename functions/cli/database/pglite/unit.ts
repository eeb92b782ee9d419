import type { SqlError } from '../sql-error.ts'
import { type Frame, request } from '../wire/frames.ts'
import type { Observation } from './observe.ts'

/** An answer the engine owes to a message about a named statement, in order. */
export type Owed = {
  readonly kind: 'parse' | 'close'
  /** Undefined: a portal. */
  readonly name: string | undefined
  readonly frame: Frame
  /** Sent by the endpoint: its answer is not the client's. */
  readonly injected: boolean
}

/**
 * What goes from one ReadyForQuery to the next: a Query, or the messages up to a Sync. Says which of a client's messages
 * may go to the engine now, so that what a query leaves unread (copy data after an error, say) never reaches the next.
 */
export class Unit {
  /** Of a Query (or FunctionCall), which ends by itself; others end by a Sync. */
  readonly simple: boolean
  /** The engine will say ReadyForQuery without further messages. */
  closed: boolean
  /** The engine reads copy data. */
  copying = false
  failed = false
  /** Executes that the engine has not finished. */
  executing = 0
  /** A Query sent on as messages of the extended protocol, whose own answers are not the client's. */
  readonly translated: boolean
  /** For each statement to be finished the timeout that it sets. */
  readonly plan: (number | undefined)[]
  readonly owed: Owed[] = []
  /** What to tell the client instead of the next error: why its copy was ended. */
  replacement: SqlError | undefined
  /** The ends of statements are watched. */
  timed = false
  /** The engine's unnamed statement is the client's own. */
  hasUnnamed = false
  /** A timeout may be another after this. */
  limits = false
  /** Prepared statements were made or removed by SQL. */
  names = false
  /** Parameters that were reset; `all`: all. */
  readonly resets = new Set<string>()
  resetsIdentity = false

  constructor(
    simple: boolean,
    { plan = [], translated = false }: { plan?: (number | undefined)[]; translated?: boolean } = {},
  ) {
    this.simple = simple
    this.closed = simple
    this.plan = plan
    this.translated = translated
  }

  note({ limits, resets, resetsIdentity }: Observation): void {
    this.limits ||= limits
    this.resetsIdentity ||= resetsIdentity
    for (const name of resets) this.resets.add(name)
  }

  /** The engine works; it is not waiting for the client. */
  get computing(): boolean {
    return !this.copying && (this.closed || this.executing > 0)
  }

  /** What to do with the client's next message. */
  admit(type: number): 'forward' | 'wait' | 'drop' | 'refuse' {
    const copyMessage = isCopyMessage(type)
    if (this.copying) {
      // Ignored while copying, "for the convenience of client libraries" (copyfromparse.c).
      return type === request.sync || type === request.flush ? 'drop' : 'forward'
    }
    // Left over from a copy that failed. Before that, the engine may still be about to ask for it.
    if (copyMessage) return this.failed || !this.computing ? 'drop' : 'wait'
    if (this.closed) return 'wait'
    // Two protocols mixed: after an error in the first the engine would skip the second and never answer it.
    if (type === request.query || type === request.functionCall) return 'refuse'
    return 'forward'
  }
}

export const isCopyMessage = (type: number): boolean =>
  type === request.copyData || type === request.copyDone || type === request.copyFail
