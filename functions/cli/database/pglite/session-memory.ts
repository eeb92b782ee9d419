import type { Frame } from '../wire/frames.ts'

/** A table, view, index or sequence that lives in the temporary schema. */
export type TemporaryRelation = { readonly oid: string; readonly name: string; readonly kind: string }

/**
 * What one client has left in the engine, which all clients share: enough to take it away when another's turn comes, and
 * to bring it back. Lost with the engine: relations and cursors; all else is brought back.
 */
export class SessionMemory {
  /** Run-time parameters of the start-up; what RESET goes back to. */
  readonly startSettings: Map<string, string>
  /** Parameters that differ from the defaults. */
  settings: Map<string, string>
  /** Of SET ROLE and SET SESSION AUTHORIZATION; undefined: not set. */
  role: string | undefined
  sessionUser: string | undefined
  /** Names like `app.user`: the engine does not list such parameters, so they are noted when a statement names them. */
  readonly customNames = new Set<string>()
  /** Parameters may have changed since they were last read. */
  settingsTouched = false

  /** Statements of the extended protocol by name, as the Parse message that made them. */
  readonly statements = new Map<string, Frame>()
  /** Texts of `PREPARE name AS ...`, taken out of the engine between turns. */
  prepared: { readonly name: string; readonly text: string }[] = []
  relations: TemporaryRelation[] = []
  /** Cursors WITH HOLD that outlived their transaction. */
  cursors: string[] = []
  /** Statements have run that may have left relations or cursors. */
  objectsTouched = false
  /** Statements have run that speak of temporary relations. */
  temporaryTouched = false
  /** PREPARE has run since the prepared statements were last taken out. */
  preparedTouched = false

  readonly channels = new Set<string>()
  /** LISTEN and UNLISTEN that have run since the channels were last settled, in order. */
  listenSteps: ListenStep[] = []

  constructor(startSettings: ReadonlyMap<string, string> = new Map()) {
    this.startSettings = new Map(startSettings)
    this.settings = new Map(startSettings)
  }

  /** Nothing to bring back. */
  get isBlank(): boolean {
    return (
      this.settings.size === 0 &&
      this.role === undefined &&
      this.sessionUser === undefined &&
      this.prepared.length === 0 &&
      this.relations.length === 0
    )
  }

  /** Has what stays in the engine between turns, and what a general clean-up would therefore take away. */
  get staysInEngine(): boolean {
    return this.relations.length > 0 || this.cursors.length > 0 || this.channels.size > 0
  }

  /** Has what a new engine does not have. */
  get diesWithEngine(): boolean {
    return this.relations.length > 0 || this.cursors.length > 0 || this.temporaryTouched
  }
}

export type ListenStep = {
  readonly listen: boolean /** Undefined: all, of UNLISTEN *. */
  readonly channel: string | undefined
}
