import { type Context, Hono } from 'hono'
import { getPath } from 'hono/utils/url'
import { parseToken } from '../../shared/kernel/auth/token.ts'
import { sha256, utf8 } from '../../shared/kernel/bytes.ts'
import type { Handlers, Operation } from '../../shared/kernel/contract/operation.ts'
import { operations } from '../../shared/managed-service/contract.ts'
import { AccessDeniedError, InvalidTokenError, toManagedServiceError } from '../../shared/managed-service/errors.ts'
import { acceptedSchemes, denial, type KnownToken } from '../../shared/managed-service/token.ts'
import { operationRoutes } from '../http/operation-routes.ts'
import { answerErrors } from './answer-errors.ts'
import { nameAnswer, privateByDefault } from './answer-headers.ts'
import type { SandboxEnv } from './env.ts'
import { directoryOf } from './project.ts'

const handlers: Handlers<typeof operations, KnownToken> = {
  getMe: (_, { user }) => ({ status: 200, body: { user } }),
}

/** The token first; what its user may do is asked only where there is something to do. */
async function admit(c: Context<SandboxEnv>, operation: Operation | undefined): Promise<KnownToken> {
  const token = parseToken(c.req.header('authorization') ?? null, acceptedSchemes(c.env.MST_SCHEME_ALIASES))
  const known = token && (await directoryOf(c.env).findToken(await sha256(utf8(token))))
  if (!known) throw new InvalidTokenError()
  const reason = operation && denial(known, clientAddress(c))
  if (reason) throw new AccessDeniedError(reason)
  return known
}

/** The caller's address: as a test names it, else as the platform saw it. Callers cannot set either through the gateway. */
const clientAddress = (c: Context<SandboxEnv>): string | undefined =>
  c.req.header('x-sandbox-client-ip') ?? c.req.header('cf-connecting-ip')

/** The managed-service API of the sandbox. */
export function createManagedServiceApp(): Hono<SandboxEnv> {
  // A base address that ends in a slash, joined with a path that begins with one, gives two.
  const app = new Hono<SandboxEnv>({ getPath: (request) => getPath(request).replace(/^\/\//, '/') })
  app.use(nameAnswer, privateByDefault)
  app.route('/', operationRoutes(operations, handlers, admit))
  app.onError(answerErrors(toManagedServiceError))
  return app
}
