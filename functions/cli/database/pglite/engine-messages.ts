/** What the engine process is told at its start. */
export type EngineOptions = {
  readonly folder: string
  /** Where the template of a new cluster is, or is to be. */
  readonly template: string
  /** Default of `statement_timeout`; 0: none. */
  readonly queryTimeoutMs: number
  /** Default of `idle_in_transaction_session_timeout`; 0: none. */
  readonly idleInTransactionTimeoutMs: number
}

/** What it answers once. */
export type EngineReport =
  | { readonly kind: 'ready'; readonly parameters: readonly (readonly [name: string, value: string])[] }
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly message: string
      readonly details: Readonly<Record<string, unknown>>
    }

/** File descriptors of the engine process beyond standard ones; 3 is the channel of `fork`. */
export const descriptors = {
  /** A socket that carries the wire protocol, past the start-up, of one client at a time. */
  wire: 4,
  /** A pipe that closes when the parent is gone. */
  lifeline: 5,
} as const

/** The engine died of something that only a new process cures: an exhausted stack, a trap, a FATAL error. */
export const engineDiedStatus = 70
