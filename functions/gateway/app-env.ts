import type { Scope } from '../../shared/kernel/auth/scope.ts'
import type { LimitPolicy } from '../../shared/kernel/limit.ts'
import type { GatewayBindings } from './env.ts'

/** Who calls, once a Tidegate key is verified. */
export type Caller = {
  readonly keyId: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** The key's own limit; undefined = the default of keys. */
  readonly limit: LimitPolicy | undefined
}

export type GatewayVariables = {
  requestId: string
  /** Undefined: no Tidegate key was given, and the mount lets that pass. */
  caller: Caller | undefined
  /** Milliseconds spent waiting for an upstream, for `Server-Timing` and the log line. */
  upstreamMs: number
  /** The answer is an upstream's, with headers that are not the caller's business. */
  isForwarded: boolean | undefined
  /** `RateLimit` headers of this answer, once a limit was looked at. */
  limitHeaders: Readonly<Record<string, string>> | undefined
  /** Code of the error that was answered, for the log line. */
  errorCode: string | undefined
}

export type GatewayEnv = { Bindings: GatewayBindings; Variables: GatewayVariables }
