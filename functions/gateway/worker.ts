import { WorkerEntrypoint } from 'cloudflare:workers'
import { toResponse } from '../../shared/kernel/errors.ts'
import { toProblem } from '../../shared/kernel/problem.ts'
import { scheduled } from '../jobs/scheduled.ts'
import { app } from './app.ts'
import { type Config, ConfigError, configOf, type GatewayBindings, type HostName } from './env.ts'
import { fromOwnHost, onMainOrigin } from './own-host.ts'

export { FeedHub } from '../feed/hub.ts'
export { Limiter } from './limiter.ts'

const serve = (
  request: Request,
  env: GatewayBindings,
  ctx: ExecutionContext,
  place: (config: Config) => Request,
): Response | Promise<Response> => {
  try {
    return app.fetch(place(configOf(env)), env, ctx)
  } catch (error) {
    if (error instanceof ConfigError) return toResponse(toProblem(error, request.headers.get('x-request-id') ?? ''))
    throw error
  }
}

export default {
  fetch: (request, env, ctx) => serve(request, env, ctx, (config) => fromOwnHost(request, config)),
  scheduled,
} satisfies ExportedHandler<GatewayBindings>

/**
 * The main origin as a named entry. Where a port can be bound to an entry it is reached directly; the default entry
 * stands behind the runtime's router of static assets, which costs half of the speed and has nothing to route here
 * (`run_worker_first`).
 */
export class MainEntry extends WorkerEntrypoint<GatewayBindings> {
  override fetch(request: Request): Response | Promise<Response> {
    return serve(request, this.env, this.ctx, (config) => fromOwnHost(request, config))
  }
}

/** An entry of its own for a mount, for a port that serves it without prefix. */
const entry = (name: HostName) =>
  class extends WorkerEntrypoint<GatewayBindings> {
    override fetch(request: Request): Response | Promise<Response> {
      return serve(request, this.env, this.ctx, () => onMainOrigin(request, name))
    }
  }

export class CloudEntry extends entry('CLOUD') {}
export class ManagedServiceEntry extends entry('MST') {}
export class ClobEntry extends entry('CLOB') {}
export class GammaEntry extends entry('GAMMA') {}
export class DataEntry extends entry('DATA') {}
export class FeedEntry extends entry('FEED') {}
export class SportsEntry extends entry('SPORTS') {}
export class RtdsEntry extends entry('RTDS') {}
