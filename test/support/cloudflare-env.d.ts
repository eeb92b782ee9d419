// What `cloudflare:workers` gives the runtime tests: the bindings of all scripts, and the test-only main script.
import type { GatewayBindings } from '../../functions/gateway/env.ts'
import type { SandboxBindings } from '../../functions/sandbox/env.ts'

declare global {
  namespace Cloudflare {
    interface Env extends GatewayBindings, SandboxBindings {}
    interface GlobalProps {
      mainModule: typeof import('../functions/worker.ts')
    }
  }
}
