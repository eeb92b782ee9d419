import * as z from 'zod'
import { defineOperations, type Handlers } from '../../../shared/kernel/contract/operation.ts'
import { createSql } from '../../../shared/kernel/sql/client.ts'
import { operationRoutes } from '../../http/operation-routes.ts'
import type { GatewayEnv } from '../app-env.ts'
import { configOf, type GatewayBindings, type UpstreamName, upstreamNames } from '../env.ts'
import { answerProblems } from '../middleware/on-error.ts'
import { upstreamOf } from '../upstream.ts'
import { version } from '../version.ts'

const Readiness = z.object({ database: z.string(), upstreams: z.record(z.string(), z.string()) })

export const operations = defineOperations({
  getHealth: {
    method: 'GET',
    path: '/ops/health',
    auth: 'none',
    kind: 'read',
    summary: 'The gateway answers; nothing behind it is asked',
    response: { 200: z.object({ status: z.literal('ok'), version: z.string() }) },
  },
  getReadiness: {
    method: 'GET',
    path: '/ops/ready',
    auth: 'none',
    kind: 'read',
    summary: 'Whether the database and every upstream answer',
    response: { 200: Readiness, 503: Readiness },
  },
})

const handlers: Handlers<typeof operations, GatewayBindings> = {
  getHealth: () => ({ status: 200, body: { status: 'ok', version } }),
  getReadiness: async (_, env) => {
    const [database, upstreams] = await Promise.all([databaseState(env), upstreamStates(env)])
    const ready = [database, ...Object.values(upstreams)].every((state) => state === 'ok')
    return { status: ready ? 200 : 503, body: { database, upstreams } }
  },
}

const databaseState = (env: GatewayBindings): Promise<string> =>
  createSql(env.DATABASE_URL)
    .query('select 1', [], { timeoutMs: 2_000 })
    .then(
      () => 'ok',
      () => 'down',
    )

/** A path of each upstream that answers something without credentials; a socket has none. */
const probes: Partial<Record<UpstreamName, string>> = {
  CLOUD: '/auth/info',
  MST: '/v1/me',
  CLOB: '/ok',
  GAMMA: '/markets?limit=1',
  DATA: '/',
}

async function upstreamStates(env: GatewayBindings): Promise<Record<string, string>> {
  configOf(env)
  const states = await Promise.all(
    upstreamNames.flatMap((name) => {
      const path = probes[name]
      return path === undefined ? [] : [probe(env, name, path).then((state) => [name.toLowerCase(), state] as const)]
    }),
  )
  return Object.fromEntries(states)
}

/** An upstream that refuses us for want of a credential is there. */
async function probe(env: GatewayBindings, name: UpstreamName, path: string): Promise<string> {
  try {
    const upstream = upstreamOf(env, name)
    const answer = await upstream.send(new Request(upstream.base + path, { redirect: 'manual' }))
    await answer.body?.cancel()
    return answer.status < 500 ? 'ok' : 'failing'
  } catch {
    return 'down'
  }
}

export const opsRoutes = operationRoutes<typeof operations, GatewayEnv, GatewayBindings>(
  operations,
  handlers,
  (c) => c.env,
  '/ops',
)
opsRoutes.onError(answerProblems)
