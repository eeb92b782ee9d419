import { type Context, Hono } from 'hono'
import { getPath } from 'hono/utils/url'
import { authorize, type Caller, toAuthInfo } from '../../shared/cloud/caller.ts'
import { basePath, operations } from '../../shared/cloud/contract.ts'
import { resolveCreate } from '../../shared/cloud/create.ts'
import { InvalidRequestError, notFound, toCloudError, UnauthorizedError } from '../../shared/cloud/errors.ts'
import { unwrap } from '../../shared/cloud/outcome.ts'
import { toService } from '../../shared/cloud/service.ts'
import { parseBasic } from '../../shared/kernel/auth/basic.ts'
import { sha256, utf8 } from '../../shared/kernel/bytes.ts'
import type { Handlers, Operation } from '../../shared/kernel/contract/operation.ts'
import { unknownRoute } from '../../shared/kernel/contract/unknown-route.ts'
import { operationRoutes } from '../http/operation-routes.ts'
import { answerErrors } from './answer-errors.ts'
import { nameAnswer, privateByDefault } from './answer-headers.ts'
import type { SandboxBindings, SandboxEnv } from './env.ts'
import { directoryOf, type Project, projectOf } from './project.ts'

type CloudContext = { readonly caller: Caller; readonly project: DurableObjectStub<Project> }

const handlers: Handlers<typeof operations, CloudContext> = {
  getAuthInfo: (_, { caller }) => ({ status: 200, body: toAuthInfo(caller) }),

  getProjects: (_, { caller: { project } }) => ({ status: 200, body: [{ id: project.id, name: project.name }] }),

  getServices: async (_, { project }) => ({ status: 200, body: (await project.listServices()).map(toService) }),

  createService: async ({ body }, { caller, project }) => {
    const { id, plan } = caller.project
    const { service, password } = unwrap(await project.createService(id, plan, resolveCreate(body, plan)))
    return {
      status: 202,
      headers: { 'cache-control': 'no-store' }, // the password is in it
      body: { ...toService(service), initial_password: password },
    }
  },

  getService: async ({ params }, { project }) => {
    const service = await project.findService(params.service_id)
    if (!service) throw notFound('service', params.service_id)
    return { status: 200, body: toService(service) }
  },
}

/** Credentials, then (for a known operation) project, role and the form of the body: the order in which a call is refused. */
async function admit(c: Context<SandboxEnv>, operation: Operation | undefined): Promise<CloudContext> {
  const caller = await authenticate(c.env, c.req.header('authorization'))
  if (!caller) throw new UnauthorizedError()
  if (operation) {
    authorize(caller, operation, c.req.param('project_id'))
    if (operation.body) c.req.raw = await checkBody(c.req.raw)
  }
  return { caller, project: projectOf(c.env, caller.project.id) }
}

async function authenticate(env: SandboxBindings, header: string | undefined): Promise<Caller | undefined> {
  const credential = parseBasic(header ?? null)
  return credential && directoryOf(env).authenticate(credential.accessKey, await sha256(utf8(credential.secretKey)))
}

const bodyLimitBytes = 64 * 1024

/**
 * The request with its body read: at most 64 KiB, in UTF-8 (RFC 8259, section 8.1).
 *
 * @throws {InvalidRequestError}
 */
async function checkBody(request: Request): Promise<Request> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > bodyLimitBytes) {
      throw new InvalidRequestError(undefined, `the body is larger than ${bodyLimitBytes} bytes`)
    }
    chunks.push(chunk)
  }
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
    const body = chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('') + decoder.decode()
    return new Request(request.url, { method: request.method, headers: request.headers, body })
  } catch {
    throw new InvalidRequestError('MALFORMED_JSON', 'the body is not valid UTF-8')
  }
}

const doubledSlash = new RegExp(`^${basePath}//`)

/** The management API of the sandbox, below `/public/api/v1`. */
export function createCloudApp(): Hono<SandboxEnv> {
  // A base address that ends in a slash, joined with a path that begins with one, gives two.
  const app = new Hono<SandboxEnv>({ getPath: (request) => getPath(request).replace(doubledSlash, `${basePath}/`) })
  app.use(nameAnswer, privateByDefault)
  app.route(basePath, operationRoutes(operations, handlers, admit))
  app.all('*', (c) => {
    throw unknownRoute(c.req.method, c.req.path, false)
  })
  app.onError(answerErrors(toCloudError))
  return app
}
