import { type Context, Hono } from 'hono'
import type { ConnectionSettings, Form } from '../../../shared/feed/connection.ts'
import { entityTag, matchesTag, parseLastQuery, toLastAnswer } from '../../../shared/feed/last-values.ts'
import { BadParameterError, type FeedOptions, parseOptions } from '../../../shared/feed/options.ts'
import { shardOf, shardsOf } from '../../../shared/feed/rendezvous.ts'
import { type Subscriber, subprotocol, subscriberHeader } from '../../../shared/feed/subscriber.ts'
import { unknownRoute } from '../../../shared/kernel/contract/unknown-route.ts'
import { AppError } from '../../../shared/kernel/errors.ts'
import { randomBase62 } from '../../../shared/kernel/ids.ts'
import type { GatewayEnv } from '../app-env.ts'
import { configOf } from '../env.ts'
import {
  AuthFailedError,
  AuthRequiredError,
  anonymousPasses,
  identify,
  type ReadCredential,
  readBasic,
  readToken,
  requireScope,
} from '../middleware/caller.ts'
import { answerProblems } from '../middleware/on-error.ts'
import { rateLimit } from '../middleware/rate-limit.ts'

class UpgradeRequiredError extends AppError {
  override readonly name = 'UpgradeRequiredError'
  readonly code = 'feed.upgrade_required'
  readonly status = 426

  constructor() {
    super('this address is a websocket: connect with "Upgrade: websocket"')
  }
}

class ForbiddenOriginError extends AppError {
  override readonly name = 'ForbiddenOriginError'
  readonly code = 'feed.forbidden'
  readonly status = 403

  constructor(origin: string) {
    super(`pages of ${origin} may not open this feed; FEED_ALLOWED_ORIGINS lists those that may`, { origin })
  }
}

class RelaysFullError extends AppError {
  override readonly name = 'RelaysFullError'
  readonly code = 'feed.overloaded'
  readonly status = 503
  override readonly fault = 'platform'

  constructor() {
    super('every relay asked is full; try again later', { retryAfterSeconds: 5 })
  }
}

/** A full relay is skipped, this often. */
const relayTries = 3

export const feedRoutes = new Hono<GatewayEnv>()
  .get('/feed', async (c) => {
    await admit(c)
    const query = new URL(c.req.url).searchParams
    const options = readOptions(c, query)
    const form = formOf(options, query)
    return openSocket(c, options, form, readMerge(query))
  })
  .get('/feed/streamer', async (c) => {
    await admit(c)
    const query = new URL(c.req.url).searchParams
    const options = readOptions(c, query)
    return openSocket(c, options, versionForm(query), readMerge(query))
  })
  .get('/feed/last', async (c) => {
    await admit(c)
    const query = parseLastQuery(new URL(c.req.url).searchParams)
    const { FEED_HUBS: hubs } = configOf(c.env).feed
    const shards = Map.groupBy(query.symbols, (symbol) => shardOf(symbol, hubs))
    const known = await Promise.all(
      Array.from(shards, async ([shard, symbols]) => await c.env.HUB.getByName(`hub:${shard}`).last(symbols)),
    )
    const answer = toLastAnswer(query, known.flat(), Date.now())
    const headers = { etag: entityTag(query, answer), 'cache-control': 'max-age=1' }
    if (matchesTag(c.req.header('if-none-match'), headers.etag)) return c.body(null, 304, headers)
    return c.json(answer, 200, headers)
  })
  .get('/feed/status', async (c) => {
    await admit(c)
    const { FEED_HUBS: count } = configOf(c.env).feed
    const hubs = await Promise.all(
      Array.from({ length: count }, async (_, shard) => {
        const id = `hub:${shard}`
        return { id, ...(await c.env.HUB.getByName(id).status()) }
      }),
    )
    const worst = hubs.toSorted((left, right) => states.indexOf(right.up) - states.indexOf(left.up))[0]
    const relays = hubs.reduce((sum, hub) => sum + hub.relays, 0)
    return c.json({ up: worst?.up ?? 'down', since: worst?.since ?? 0, hubs, relays })
  })
for (const path of ['/feed', '/feed/streamer', '/feed/last', '/feed/status']) {
  feedRoutes.all(path, (c) => {
    throw unknownRoute(c.req.method, c.req.path, true)
  })
}
feedRoutes.onError(answerProblems)

/** States of the upstream, best first. */
const states = ['live', 'quiet', 'stale', 'down']

/** Finds out who calls before any object is touched. */
async function admit(c: Context<GatewayEnv>): Promise<void> {
  const shown = await identify(c, credentialReader(c))
  if (shown === 'foreign') throw new AuthFailedError()
  if (shown === 'anonymous' && !anonymousPasses(c)) throw new AuthRequiredError()
  if (shown === 'key') requireScope(c, 'feed:read')
  await rateLimit(c)
}

/**
 * A key in the `Authorization` header (Bearer, Basic or the managed service's scheme), in the subprotocol
 * `feed.auth.<base64url>`, which is all that a page can set, or in the query where that is allowed.
 */
function credentialReader(c: Context<GatewayEnv>): ReadCredential {
  return (headers) => {
    const authorization = headers.get('authorization')
    if (authorization !== null) {
      const scheme = configOf(c.env).mstScheme.toLowerCase()
      return authorization.toLowerCase().startsWith(`${scheme} `) ? readToken([scheme])(headers) : readBasic(headers)
    }
    const token = tokenOf(c)
    return token === undefined ? 'nothing' : readBasic(new Headers({ authorization: `Bearer ${token}` }))
  }
}

function tokenOf(c: Context<GatewayEnv>): string | undefined {
  const offered = protocolsOf(c).find((name) => name.startsWith('feed.auth.'))
  if (offered !== undefined) return fromBase64Url(offered.slice('feed.auth.'.length))
  return configOf(c.env).feed.FEED_ALLOW_QUERY_TOKEN ? c.req.query('token') : undefined
}

/** Text that cannot be read is no key, which the reader of keys says. */
function fromBase64Url(text: string): string {
  try {
    return atob(text.replaceAll('-', '+').replaceAll('_', '/')).replaceAll(/[^\x21-\x7e]/g, '?')
  } catch {
    return '?'
  }
}

const protocolsOf = (c: Context<GatewayEnv>): string[] =>
  (c.req.header('sec-websocket-protocol') ?? '').split(',').flatMap((name) => name.trim() || [])

/** @throws {BadParameterError} a bad value, or one that this feed does not serve */
function readOptions(c: Context<GatewayEnv>, query: URLSearchParams): FeedOptions {
  const options = parseOptions(query, c.var.caller !== undefined, configOf(c.env).feed.FEED_INTERVAL_MS)
  if (options.format === 'protobuf') throw new BadParameterError('format', 'json, raw, base64 or envelope', 'protobuf')
  if (options.delta) throw new BadParameterError('delta', '0', '1')
  if (options.compact) throw new BadParameterError('compact', '0', '1')
  const since = query.get('since')
  if (since !== null) throw new BadParameterError('since', 'a cursor of this feed, which gives none', since)
  return options
}

/** Bare formats follow the rules of the upstream's own clients, whatever the mode. */
function formOf({ mode, format }: FeedOptions, query: URLSearchParams): Form {
  if (format === 'raw' || format === 'base64' || format === 'envelope') return format
  return mode === 'compat' ? versionForm(query) : 'json'
}

function versionForm(query: URLSearchParams): Form {
  const version = query.get('version') ?? '1'
  if (version !== '1' && version !== '2') throw new BadParameterError('version', '1 or 2', version)
  return version === '1' ? 'base64' : 'envelope'
}

function readMerge(query: URLSearchParams): boolean {
  const merge = query.get('merge') ?? '1'
  if (merge !== '0' && merge !== '1') throw new BadParameterError('merge', '0 or 1', merge)
  return merge === '1'
}

/** Hands the socket to a relay: by the region of the caller, then by the connection's id. */
async function openSocket(c: Context<GatewayEnv>, options: FeedOptions, form: Form, merge: boolean): Promise<Response> {
  if (c.req.header('upgrade')?.toLowerCase() !== 'websocket') throw new UpgradeRequiredError()
  checkOrigin(c)
  const id = randomBase62(12, (count) => crypto.getRandomValues(new Uint8Array(count)))
  const request = new Request(c.req.raw)
  request.headers.set(subscriberHeader, JSON.stringify(subscriberOf(c, id, options, form, merge)))
  request.headers.delete('authorization')
  const hint = locationHint(c.req.raw)
  for (const relay of shardsOf(id, configOf(c.env).feed.FEED_RELAYS, relayTries)) {
    const stub = c.env.RELAY.getByName(`relay:${hint ?? 'any'}:${relay}`, hint && { locationHint: hint })
    const answer = await stub.fetch(request)
    if (answer.status !== 503) return answer
  }
  throw new RelaysFullError()
}

function subscriberOf(
  c: Context<GatewayEnv>,
  id: string,
  options: FeedOptions,
  form: Form,
  merge: boolean,
): Subscriber {
  const { interval, fields, extremes, names, int64, snapshot, symbols, rejected } = options
  const settings: ConnectionSettings = {
    id,
    form,
    names,
    int64,
    snapshot,
    merge,
    keyId: c.var.caller?.keyId,
    openedMs: Date.now(),
    interval,
    fields,
    extremes,
  }
  const protocols = protocolsOf(c).filter((name) => !name.startsWith('feed.auth.'))
  const badSubprotocol = protocols.length > 0 && !protocols.includes(subprotocol)
  // What is rejected goes along: the relay says so in its own frames.
  return { settings, symbols: [...symbols, ...rejected.map(({ s }) => s)], badSubprotocol }
}

/** Pages of our own origin, of the feed's own host, and of those that are allowed; no `Origin` is no page. */
function checkOrigin(c: Context<GatewayEnv>): void {
  const origin = c.req.header('origin')
  if (origin === undefined) return
  const { feed, hosts } = configOf(c.env)
  const host = URL.parse(origin)?.host
  const isOurs = host !== undefined && (host === new URL(c.req.url).host || hosts.get(host) === 'FEED')
  if (!isOurs && !feed.FEED_ALLOWED_ORIGINS.includes(origin)) throw new ForbiddenOriginError(origin)
}

const hints: Readonly<Record<string, DurableObjectLocationHint>> = {
  AF: 'afr',
  AS: 'apac',
  EU: 'weur',
  NA: 'enam',
  OC: 'oc',
  SA: 'sam',
}

/** Where the caller's relay should be, when the platform says where the caller is. */
function locationHint(request: Request): DurableObjectLocationHint | undefined {
  const { continent } = (request.cf ?? {}) as { continent?: string }
  return hints[continent ?? '']
}
