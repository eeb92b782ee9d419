import { Hono } from 'hono'
import { unknownRoute } from '../../shared/kernel/contract/unknown-route.ts'
import type { GatewayEnv } from './app-env.ts'
import { finish } from './middleware/finish.ts'
import { answerProblems } from './middleware/on-error.ts'
import { requestId } from './middleware/request-id.ts'
import { clobRoutes } from './routes/clob.ts'
import { cloudRoutes } from './routes/cloud.ts'
import { dataRoutes } from './routes/data.ts'
import { feedRoutes } from './routes/feed.ts'
import { gammaRoutes } from './routes/gamma.ts'
import { jobsRoutes } from './routes/jobs.ts'
import { managedServiceRoutes } from './routes/managed-service.ts'
import { opsRoutes } from './routes/ops.ts'
import { sandboxRoutes } from './routes/sandbox.ts'

/** Static descriptions of all mounts and of each, made at build time. They stand before the mounts, whose upstreams have none. */
const documents = ['', '/cloud/public/api/v1', '/mst', '/clob', '/gamma', '/data'].map(
  (prefix) => `${prefix}/openapi.json`,
)

/** The gateway: what wraps every request, then the mounts. A mount answers errors in its own shape. */
export const app = new Hono<GatewayEnv>()
  .use(requestId)
  .use(finish)
  .on('GET', documents, (c) => c.env.ASSETS.fetch(c.req.raw))
  .route('/', cloudRoutes)
  .route('/', managedServiceRoutes)
  .route('/', clobRoutes)
  .route('/', gammaRoutes)
  .route('/', dataRoutes)
  .route('/', feedRoutes)
  .route('/', jobsRoutes)
  .route('/', opsRoutes)
  .route('/', sandboxRoutes)

app.onError(answerProblems)
// A route, not Hono's `notFound`: what that throws passes by the middleware that finishes every answer.
app.all('*', (c) => {
  throw unknownRoute(c.req.method, c.req.path, false)
})
