import * as z from 'zod'
import { feedSettings } from '../../shared/feed/settings.ts'
import { Credential } from '../../shared/kernel/auth/credential.ts'
import { AppError } from '../../shared/kernel/errors.ts'
import type { FeedHub } from '../feed/hub.ts'
import type { FeedRelay } from '../relay/relay.ts'
import type { Limiter } from './limiter.ts'

/** What the platform binds to the gateway script, beside the texts that {@link configOf} reads. */
export type GatewayBindings = {
  readonly DATABASE_URL: string
  readonly ASSETS: Fetcher
  /** Absent where every upstream is a URL. */
  readonly SANDBOX?: Fetcher
  readonly HUB: DurableObjectNamespace<FeedHub>
  readonly RELAY: DurableObjectNamespace<FeedRelay>
  readonly LIMITER: DurableObjectNamespace<Limiter>
}

export const upstreamNames = ['CLOUD', 'MST', 'CLOB', 'CLOB_WS', 'GAMMA', 'DATA', 'STREAMER', 'SPORTS', 'RTDS'] as const
export type UpstreamName = (typeof upstreamNames)[number]

export const hostNames = ['CLOUD', 'MST', 'CLOB', 'GAMMA', 'DATA', 'FEED', 'SPORTS', 'RTDS'] as const
export type HostName = (typeof hostNames)[number]

/** The address of an upstream; `sandbox` is the embedded one. */
export type UpstreamAddress = 'sandbox' | URL

export type Config = {
  readonly upstreams: Readonly<Record<UpstreamName, UpstreamAddress>>
  readonly credentials: Readonly<Partial<Record<UpstreamName, Credential>>>
  /** Mounts that are also served without prefix, by host name in lower case. */
  readonly hosts: ReadonlyMap<string, HostName>
  /** Public data, the feed and pass-through without a Tidegate key. */
  readonly anonymous: boolean
  /** `/sandbox/…` is mounted. */
  readonly sandboxControl: boolean
  /** The scheme word sent to the managed service. */
  readonly mstScheme: string
  /** Host names that polls by URL may reach. */
  readonly jobsAllowedHosts: readonly string[]
  readonly feed: z.output<typeof feedSettings>
}

/** The configuration cannot be used; the message names each variable, what it takes and (unless secret) what it holds. */
export class ConfigError extends AppError {
  override readonly name = 'ConfigError'
  readonly code = 'platform.bad_configuration'
  readonly status = 500
  override readonly fault = 'platform'
}

const flag = (whenAbsent: '0' | '1') =>
  z
    .enum(['0', '1'], { error: '0 or 1' })
    .default(whenAbsent)
    .transform((text) => text === '1')

const hostList = z
  .string()
  .regex(/^\s*([a-z0-9.-]+\s*(,\s*[a-z0-9.-]+\s*)*)?$/i, { error: 'host names separated by commas' })
  .default('')
  .transform((text) => text.split(',').flatMap((host) => host.trim().toLowerCase() || []))

const upstreamAddress = z
  .string()
  .default('sandbox')
  .transform((text, context): UpstreamAddress => {
    if (text === 'sandbox') return 'sandbox'
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url && /^(https?|wss?):$/.test(url.protocol) && !url.username && !url.search && !url.hash) return url
    context.addIssue({
      code: 'custom',
      message: 'sandbox, or an http, https, ws or wss URL without credentials and query',
    })
    return z.NEVER
  })

const hostName = z
  .string()
  .regex(/^[a-z0-9.-]+(:\d+)?$/i, { error: 'a host name, such as clob.example.com' })
  .optional()

const credential = z
  .string()
  .optional()
  .transform((text, context): Credential | undefined => {
    if (text === undefined) return undefined
    const parsed = Credential.safeParse(parseJson(text))
    if (parsed.success) return parsed.data
    context.addIssue({
      code: 'custom',
      message: 'a credential as JSON, such as {"kind":"basic","access_key":"…","secret_key":"…"}',
    })
    return z.NEVER
  })

const shape = {
  ...Object.fromEntries(upstreamNames.map((name) => [`UPSTREAM_${name}`, upstreamAddress])),
  ...Object.fromEntries(upstreamNames.map((name) => [`CREDENTIAL_${name}`, credential])),
  ...Object.fromEntries(hostNames.map((name) => [`HOST_${name}`, hostName])),
  ANONYMOUS: flag('0'),
  SANDBOX_CONTROL: flag('0'),
  JOBS_ALLOWED_HOSTS: hostList,
  MST_SCHEME: z
    .string()
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, { error: 'one word, such as svcv1' })
    .default('svcv1'),
}
const schema = z.object(shape)

const word = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"

/** Read by other scripts, and judged here, where a wrong one stops the start. */
const elsewhere = z.object({
  TIME_SCALE: z
    .string()
    .regex(/^\d+(\.\d+)?$/, { error: 'a number from 0 up, such as 0.5' })
    .optional(),
  SANDBOX_SEED: z
    .string()
    .regex(/^\d{1,15}$/, { error: 'a whole number' })
    .optional(),
  SANDBOX_ALWAYS_OPEN: flag('1'),
  MST_SCHEME_ALIASES: z
    .string()
    .regex(new RegExp(`^(${word}(\\s*,\\s*${word})*)?$`), { error: 'words separated by commas, such as aivenv1' })
    .optional(),
})
const ourPrefixes = /^(UPSTREAM|CREDENTIAL|HOST|JOBS|SANDBOX|MST|FEED)_/
const secretNames = /^(CREDENTIAL_|DATABASE_URL|VAULT_KEY)/

/**
 * Reads the configuration from the texts among the Worker's bindings (or of a process).
 *
 * @throws {ConfigError} a value is malformed, or a name has one of our prefixes and is unknown
 */
export function parseConfig(env: Readonly<Record<string, unknown>>): Config {
  const texts = Object.fromEntries(Object.entries(env).filter(([, value]) => typeof value === 'string'))
  const faults: string[] = []
  const known = new Set([...Object.keys(shape), ...Object.keys(feedSettings.shape), ...Object.keys(elsewhere.shape)])
  for (const name of Object.keys(texts)) {
    if (ourPrefixes.test(name) && !known.has(name)) faults.push(`${name} is not a setting of Tidegate`)
  }
  const parsed = schema.safeParse(texts)
  const feed = feedSettings.safeParse(texts)
  const others = elsewhere.safeParse(texts)
  for (const { path, message } of [parsed, feed, others].flatMap(({ error }) => error?.issues ?? [])) {
    const name = String(path[0])
    const given = secretNames.test(name) ? '' : `, not ${JSON.stringify(texts[name])}`
    faults.push(`${name} takes ${message}${given}`)
  }
  if (faults.length > 0 || !parsed.success || !feed.success) throw new ConfigError(faults.join('; '))
  const values = parsed.data as Record<string, unknown> & z.output<z.ZodObject<Pick<typeof shape, PlainName>>>
  return {
    upstreams: pick(upstreamNames, (name) => values[`UPSTREAM_${name}`] as UpstreamAddress),
    credentials: pick(upstreamNames, (name) => values[`CREDENTIAL_${name}`] as Credential),
    hosts: new Map(
      hostNames.flatMap((name) => {
        const host = values[`HOST_${name}`] as string | undefined
        return host === undefined ? [] : [[host.toLowerCase(), name] as const]
      }),
    ),
    anonymous: values.ANONYMOUS,
    sandboxControl: values.SANDBOX_CONTROL,
    mstScheme: values.MST_SCHEME,
    jobsAllowedHosts: values.JOBS_ALLOWED_HOSTS,
    feed: feed.data,
  }
}

type PlainName = 'ANONYMOUS' | 'JOBS_ALLOWED_HOSTS' | 'SANDBOX_CONTROL' | 'MST_SCHEME'

const pick = <Name extends string, Value>(names: readonly Name[], value: (name: Name) => Value) =>
  Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, Value>

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const configs = new WeakMap<object, Config>()

/** The configuration of this isolate, read once. */
export function configOf(env: GatewayBindings): Config {
  const known = configs.get(env)
  if (known) return known
  const config = parseConfig(env as unknown as Record<string, unknown>)
  configs.set(env, config)
  return config
}
