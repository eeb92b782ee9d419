import type { Context, Hono } from 'hono'
import { admitL1, admitL2 } from '../../shared/exchange/admission.ts'
import { ApiKeyExistsError, NoApiKeyError } from '../../shared/exchange/api-key.ts'
import { operations } from '../../shared/exchange/contract-clob.ts'
import { toClobError } from '../../shared/exchange/errors.ts'
import { NoBookError } from '../../shared/exchange/market.ts'
import { sandboxChainId } from '../../shared/exchange/scenery.ts'
import type { Handlers, Operation } from '../../shared/kernel/contract/operation.ts'
import { operationRoutes } from '../http/operation-routes.ts'
import { answerErrors } from './answer-errors.ts'
import type { SandboxEnv } from './env.ts'
import { type VenueStub, venueOf } from './venue-of.ts'

/** Where the gateway mounts this service, set by it alone: it strips the header from callers. */
const mountPrefixHeader = 'x-tidegate-mount-prefix'

type ClobContext = {
  readonly venue: VenueStub
  /** The wallet that the headers prove, with the nonce of an L1 request or of the key; empty where none is asked for. */
  readonly caller: { readonly address: string; readonly nonce: bigint }
}

const handlers: Handlers<typeof operations, ClobContext> = {
  getClobRoot: () => ({ status: 200, body: 'OK' }),
  getClobOk: () => ({ status: 200, body: 'OK' }),
  getServerTime: async (_, { venue }) => ({ status: 200, body: Math.floor((await venue.nowMs()) / 1000) }),
  // The only format that the sandbox takes; without this answer current official clients sign a newer one.
  getOrderVersion: () => ({ status: 200, body: { version: 1 } }),
  getBook: async ({ query }, { venue }) => {
    const summary = await venue.book(query.token_id)
    if (!summary) throw new NoBookError()
    return { status: 200, body: { ...summary } }
  },
  createApiKey: async (_, { venue, caller }) => {
    const key = await venue.createApiKey(caller)
    if (!key) throw new ApiKeyExistsError()
    return { status: 200, body: { ...key } }
  },
  deriveApiKey: async (_, { venue, caller }) => {
    const key = await venue.deriveApiKey(caller)
    if (!key) throw new NoApiKeyError()
    return { status: 200, body: { ...key } }
  },
  getApiKeys: async (_, { venue, caller }) => ({
    status: 200,
    body: { apiKeys: await venue.apiKeysOf(caller.address) },
  }),
}

const nobody = { address: '', nonce: 0n }

async function admit(c: Context<SandboxEnv>, operation: Operation | undefined): Promise<ClobContext> {
  const venue = venueOf(c.env)
  const { headers, method, url } = c.req.raw
  if (operation?.auth === 'l1') return { venue, caller: admitL1(headers, sandboxChainId, await venue.nowMs()) }
  if (operation?.auth !== 'l2') return { venue, caller: nobody }
  const { key, nowMs } = await venue.findApiKey(headers.get('poly_api_key') ?? '')
  const body = new Uint8Array(await c.req.arrayBuffer())
  const mountPrefix = headers.get(mountPrefixHeader)
  return {
    venue,
    caller: await admitL2({ headers, method, path: new URL(url).pathname, body, mountPrefix }, key, nowMs),
  }
}

/** The order-book service of the sandbox: every credential is really checked. */
export function createClobApp(): Hono<SandboxEnv> {
  const app = operationRoutes<typeof operations, SandboxEnv, ClobContext>(operations, handlers, admit)
  app.onError(answerErrors(toClobError))
  return app
}
