import { type Context, Hono } from 'hono'
import { operationMatcher } from '../../shared/kernel/contract/match.ts'
import type { Operation, Operations } from '../../shared/kernel/contract/operation.ts'
import { unknownRoute } from '../../shared/kernel/contract/unknown-route.ts'
import { AppError, type ErrorShape } from '../../shared/kernel/errors.ts'
import type { Send } from '../../shared/kernel/http/send.ts'
import type { GatewayEnv } from './app-env.ts'
import type { UpstreamName } from './env.ts'
import { forwarded } from './forward.ts'
import { limitBody } from './middleware/body-limit.ts'
import {
  AuthFailedError,
  AuthRequiredError,
  anonymousPasses,
  identify,
  type ReadCredential,
  requireScope,
} from './middleware/caller.ts'
import { answerErrors } from './middleware/on-error.ts'
import { rateLimit } from './middleware/rate-limit.ts'
import { signedSend, type Upstream, upstreamOf } from './upstream.ts'

/** A mount that forwards to an upstream; what differs between them is data. */
export type ProxiedMount = {
  readonly prefix: `/${string}`
  readonly upstream: UpstreamName
  readonly operations: Operations
  readonly errors: ErrorShape
  readonly readCredential: ReadCredential
  readonly bodyLimitBytes: number
  /** Sends an operation with the gateway's credential; default: {@link signedSend} for every operation that wants one. */
  readonly sign?: (c: Context<GatewayEnv>, upstream: Upstream, operation: Operation) => Send
}

class UpstreamRefusedError extends AppError {
  override readonly name = 'UpstreamRefusedError'
  readonly code = 'upstream.refused_credential'
  readonly status = 500
  override readonly fault = 'platform'
}

/** `caller (key) → scope → body limit → rate limit → send(upstream) → answer`, with errors in the mount's own shape. */
export function proxiedMount(mount: ProxiedMount): Hono<GatewayEnv> {
  const match = operationMatcher(mount.operations)
  // Where nothing is public, a caller without credentials learns nothing, not even which paths exist.
  const somePublic = Object.values(mount.operations).some(({ auth }) => auth === 'none')
  const app = new Hono<GatewayEnv>()
  app.onError(answerErrors(mount.errors))
  const handle = async (c: Context<GatewayEnv>): Promise<Response> => {
    const target = targetBelow(c.req.raw.url, mount.prefix)
    const path = target.split('?', 1)[0] as string
    const found = match(c.req.method, path)
    const operation = typeof found === 'object' ? found.operation : undefined
    const shown = await identify(c, mount.readCredential)
    if (shown !== 'key') refuseUnlessOpen(c, shown, operation ? operation.auth === 'none' : somePublic)
    if (!operation) throw unknownRoute(c.req.method, path, found === 'other-method')
    if (shown === 'key' && operation.scope) requireScope(c, operation.scope)
    await rateLimit(c)
    const request = await limitBody(c.req.raw, mount.bodyLimitBytes)
    const upstream = upstreamOf(c.env, mount.upstream)
    const managed = shown === 'key' && operation.auth !== 'none'
    const send = managed ? (mount.sign ?? defaultSign)(c, upstream, operation) : upstream.send
    const options = { keepCredentials: shown === 'foreign', requestId: c.var.requestId, mountPrefix: mount.prefix }
    const startedAtMs = Date.now()
    const answer = await send(forwarded(request, upstream, target, options))
    c.set('upstreamMs', Date.now() - startedAtMs)
    if (managed && answer.status === 401) {
      throw new UpstreamRefusedError(
        `the upstream ${upstream.name} refused the gateway's credential; check CREDENTIAL_${upstream.name}`,
      )
    }
    c.set('isForwarded', true)
    return answer
  }
  app.all(mount.prefix, handle)
  app.all(`${mount.prefix}/*`, handle)
  return app
}

const defaultSign = (c: Context<GatewayEnv>, upstream: Upstream): Send => signedSend(c.env, upstream)

/** Without a key, public operations and the upstream's own credentials pass where that is enabled; nothing else does. */
function refuseUnlessOpen(c: Context<GatewayEnv>, shown: 'anonymous' | 'foreign', isPublic: boolean): void {
  const open = anonymousPasses(c)
  if (shown === 'foreign' && !open) throw new AuthFailedError()
  if (shown === 'anonymous' && !(open && isPublic)) throw new AuthRequiredError()
}

/** Path and query below the mount exactly as the caller wrote them: signatures cover their bytes. */
function targetBelow(url: string, prefix: string): string {
  const pathAt = url.indexOf('/', url.indexOf('//') + 2)
  // The router decodes percent escapes, this does not: a mount's name is written plainly, or it is another path.
  if (!url.startsWith(prefix, pathAt)) throw unknownRoute('GET', url.slice(pathAt).split('?', 1)[0] as string, false)
  const target = url.slice(pathAt + prefix.length)
  return target.startsWith('/') ? target : `/${target}`
}
