import { createClobApp } from './clob.ts'
import { createCloudApp } from './cloud.ts'
import { createDataApp } from './data.ts'
import type { SandboxBindings } from './env.ts'
import { createGammaApp } from './gamma.ts'
import { createManagedServiceApp } from './managed-service.ts'
import { createStreamerApp } from './streamer.ts'

export { Project } from './project.ts'
export { Venue } from './venue.ts'

/** Every upstream, told apart by the first label of the host name. */
const apps = new Map([
  ['cloud', createCloudApp()],
  ['mst', createManagedServiceApp()],
  ['clob', createClobApp()],
  ['gamma', createGammaApp()],
  ['data', createDataApp()],
  ['streamer', createStreamerApp()],
])

export default {
  fetch(request, env, ctx) {
    const { hostname, pathname } = new URL(request.url)
    const app = apps.get(hostname.split('.', 1)[0] as string)
    if (app) return app.fetch(request, env, ctx)
    // Asked by its own address, which only a health check does: the gateway names an upstream.
    if (pathname === '/ops/health') return Response.json({ status: 'ok' })
    return Response.json({ error: `no upstream at ${hostname}` }, { status: 404 })
  },
} satisfies ExportedHandler<SandboxBindings>
