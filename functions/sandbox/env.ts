import type { Project } from './project.ts'
import type { Venue } from './venue.ts'

export type SandboxBindings = {
  readonly PROJECT: DurableObjectNamespace<Project>
  readonly VENUE: DurableObjectNamespace<Venue>
  /** Multiplies every duration of the control plane; 0 = immediate at the next read. Default 1. */
  readonly TIME_SCALE?: string
  readonly SANDBOX_SEED?: string
  readonly SANDBOX_ALWAYS_OPEN?: string
  /** Comma list of scheme words that stand for `svcv1`. Default `aivenv1`. */
  readonly MST_SCHEME_ALIASES?: string
}

export type SandboxEnv = { Bindings: SandboxBindings }
