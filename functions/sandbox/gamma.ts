import type { Hono } from 'hono'
import { operations } from '../../shared/exchange/contract-gamma.ts'
import { toGammaError } from '../../shared/exchange/errors.ts'
import type { Handlers } from '../../shared/kernel/contract/operation.ts'
import { operationRoutes } from '../http/operation-routes.ts'
import { answerErrors } from './answer-errors.ts'
import type { SandboxEnv } from './env.ts'
import { type VenueStub, venueOf } from './venue-of.ts'

const handlers: Handlers<typeof operations, VenueStub> = {
  getMarkets: async ({ query }, venue) => {
    const { limit, offset, closed, tag_id: tagId } = query
    return { status: 200, body: await venue.markets({ limit, offset, closed, tagId }) }
  },
}

/** The metadata service of the sandbox. */
export function createGammaApp(): Hono<SandboxEnv> {
  const app = operationRoutes<typeof operations, SandboxEnv, VenueStub>(operations, handlers, (c) => venueOf(c.env))
  app.onError(answerErrors(toGammaError))
  return app
}
