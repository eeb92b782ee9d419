import type { MiddlewareHandler } from 'hono'
import { randomUuid } from '../../shared/kernel/ids.ts'
import type { SandboxEnv } from './env.ts'

const printable = /^[\x20-\x7e]{1,128}$/

/** Names every answer: the caller's `X-Request-Id` when it is 1 to 128 printable ASCII characters, else a new one. */
export const nameAnswer: MiddlewareHandler<SandboxEnv> = async (c, next) => {
  const given = c.req.header('x-request-id') ?? ''
  await next()
  c.res.headers.set(
    'x-request-id',
    printable.test(given) ? given : randomUuid((count) => crypto.getRandomValues(new Uint8Array(count))),
  )
}

/** An answer that says nothing about keeping it is for one caller, who must ask again each time. */
export const privateByDefault: MiddlewareHandler<SandboxEnv> = async (c, next) => {
  await next()
  if (!c.res.headers.has('cache-control')) c.res.headers.set('cache-control', 'private, no-cache')
}
