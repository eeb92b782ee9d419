import { createMiddleware } from 'hono/factory'
import type { GatewayEnv } from '../app-env.ts'
import { stripAnswer } from '../forward.ts'
import { allowAnyOrigin, preflight } from './cors.ts'

/**
 * Wraps every request: answers preflights, puts our own headers on the answer and writes one log line. The headers of
 * an upstream's answer are immutable, so there is one copy for all of them. Paths are logged without their query,
 * where tickets and tokens may stand.
 */
export const finish = createMiddleware<GatewayEnv>(async (c, next) => {
  const startedAtMs = Date.now()
  c.set('upstreamMs', 0)
  const early = preflight(c.req.raw)
  if (early) c.res = early
  else await next()
  const durationMs = Date.now() - startedAtMs
  const { requestId, upstreamMs, caller } = c.var
  // An upgraded answer carries the socket and cannot be copied.
  if (c.res.status !== 101) {
    const answer = new Response(c.res.body, c.res)
    if (c.var.isForwarded) stripAnswer(answer.headers)
    answer.headers.set('x-request-id', requestId)
    answer.headers.set('server-timing', `gateway;dur=${durationMs - upstreamMs}, upstream;dur=${upstreamMs}`)
    for (const [name, value] of Object.entries(c.var.limitHeaders ?? {})) answer.headers.set(name, value)
    allowAnyOrigin(answer.headers)
    c.res = undefined
    c.res = answer
  }
  console.log(
    JSON.stringify({
      level: c.res.status >= 500 ? 'error' : 'info',
      at: new Date(startedAtMs).toISOString(),
      request_id: requestId,
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
      duration_ms: durationMs,
      upstream_ms: upstreamMs,
      ...(caller && { key: caller.keyId }),
      ...(c.var.errorCode && { error: c.var.errorCode }),
    }),
  )
})
