import { createMiddleware } from 'hono/factory'
import { randomUuid } from '../../../shared/kernel/ids.ts'
import type { GatewayEnv } from '../app-env.ts'

const printable = /^[\x21-\x7e]{1,128}$/

/** Names every request: the caller's own `X-Request-Id` when it is 1 to 128 printable ASCII characters, else a new one. */
export const requestId = createMiddleware<GatewayEnv>(async (c, next) => {
  const given = c.req.raw.headers.get('x-request-id') ?? ''
  c.set(
    'requestId',
    printable.test(given) ? given : randomUuid((count) => crypto.getRandomValues(new Uint8Array(count))),
  )
  await next()
})
