import type { Hono } from 'hono'
import { operations } from '../../shared/exchange/contract-data.ts'
import { toDataError } from '../../shared/exchange/errors.ts'
import type { Handlers } from '../../shared/kernel/contract/operation.ts'
import { operationRoutes } from '../http/operation-routes.ts'
import { answerErrors } from './answer-errors.ts'
import type { SandboxEnv } from './env.ts'

const handlers: Handlers<typeof operations, undefined> = {
  getDataHealth: () => ({ status: 200, body: { data: 'OK' } }),
}

/** The data service of the sandbox. */
export function createDataApp(): Hono<SandboxEnv> {
  const app = operationRoutes<typeof operations, SandboxEnv, undefined>(operations, handlers, () => undefined)
  app.onError(answerErrors(toDataError))
  return app
}
