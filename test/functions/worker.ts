// The main script of the runtime tests: every object in one script, since a binding across scripts cannot name the
// script that the test runner renames. The sandbox is reached by a binding to this script's own entry.
import { WorkerEntrypoint } from 'cloudflare:workers'
import type { SandboxBindings } from '../../functions/sandbox/env.ts'
import sandbox from '../../functions/sandbox/worker.ts'

export * from '../../functions/gateway/worker.ts'
export { default } from '../../functions/gateway/worker.ts'
export { FeedRelay } from '../../functions/relay/relay.ts'
export { Project, Venue } from '../../functions/sandbox/worker.ts'

export class Sandbox extends WorkerEntrypoint<SandboxBindings> {
  override fetch(request: Request): Response | Promise<Response> {
    return sandbox.fetch(request as Parameters<typeof sandbox.fetch>[0], this.env, this.ctx)
  }
}
