import { Hono } from 'hono'
import { unknownRoute } from '../../../shared/kernel/contract/unknown-route.ts'
import type { GatewayEnv } from '../app-env.ts'
import { configOf, type UpstreamName } from '../env.ts'
import { answerProblems } from '../middleware/on-error.ts'
import { sandboxHost } from '../upstream.ts'

const bareUpstreams: Readonly<Record<string, UpstreamName>> = {
  cloud: 'CLOUD',
  mst: 'MST',
  clob: 'CLOB',
  gamma: 'GAMMA',
  data: 'DATA',
  streamer: 'STREAMER',
}

/**
 * `/sandbox/upstream/{name}/…`: the bare upstreams with their own credentials, past the gateway's pipeline, to compare
 * both. Only where SANDBOX_CONTROL is on.
 */
export const sandboxRoutes = new Hono<GatewayEnv>().all('/sandbox/upstream/:name/*', async (c) => {
  const name = bareUpstreams[c.req.param('name')]
  if (!configOf(c.env).sandboxControl || !c.env.SANDBOX || !name) throw unknownRoute(c.req.method, c.req.path, false)
  const url = c.req.raw.url
  const prefix = `/sandbox/upstream/${c.req.param('name')}`
  const target = url.slice(url.indexOf(prefix) + prefix.length)
  return c.env.SANDBOX.fetch(new Request(`http://${sandboxHost(name)}${target}`, c.req.raw))
})
sandboxRoutes.onError(answerProblems)
