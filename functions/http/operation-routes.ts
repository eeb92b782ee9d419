import { type Context, type Env, Hono } from 'hono'
import { operationMatcher } from '../../shared/kernel/contract/match.ts'
import type { Handlers, Operation, Operations, Reply } from '../../shared/kernel/contract/operation.ts'
import { parseInput } from '../../shared/kernel/contract/parse.ts'
import { unknownRoute } from '../../shared/kernel/contract/unknown-route.ts'

/**
 * A Hono app that serves every operation of a table with its handler. `admit` runs before the input is read: it checks
 * the caller and gives the handler its context, also for a path that no operation takes (`operation` undefined), so
 * that an upstream can ask for credentials first.
 *
 * `below` limits the answer for unknown paths to a prefix, for a table that shares its app with others.
 *
 * The body's text is read once; `c.req.text()` in `admit` and here give the same bytes.
 */
export function operationRoutes<const T extends Operations, E extends Env, C>(
  operations: T,
  handlers: Handlers<T, C>,
  admit: (c: Context<E>, operation: Operation | undefined) => C | Promise<C>,
  below = '',
): Hono<E> {
  const app = new Hono<E>()
  for (const [name, operation] of Object.entries(operations) as [keyof T & string, Operation][]) {
    const handler = handlers[name] as (input: unknown, context: C) => Promise<Reply<Operation>>
    app.on(operation.method, operation.path.replaceAll(/\{(\w+)\}/g, ':$1'), async (c) => {
      const context = await admit(c, operation)
      const { searchParams } = new URL(c.req.url)
      const body = operation.body ? await c.req.text() : undefined
      const input = parseInput(operation, {
        params: c.req.param() as Record<string, string>,
        query: searchParams,
        body,
      })
      return toResponse(await handler(input, context))
    })
  }
  const match = operationMatcher(operations)
  app.all(`${below}/*`, async (c) => {
    await admit(c, undefined)
    throw unknownRoute(c.req.method, c.req.path, match(c.req.method, c.req.path) === 'other-method')
  })
  return app
}

function toResponse(reply: { status: number; headers?: Readonly<Record<string, string>>; body?: unknown }): Response {
  const headers = new Headers(reply.headers)
  if (reply.body === undefined) return new Response(null, { status: reply.status, headers })
  if (!headers.has('content-type')) headers.set('content-type', 'application/json; charset=utf-8')
  return new Response(JSON.stringify(reply.body), { status: reply.status, headers })
}
