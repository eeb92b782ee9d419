import type { Config, HostName } from './env.ts'

/** Where a mount stands on the gateway's main origin. */
const prefixes: Readonly<Record<HostName, string>> = {
  CLOUD: '/cloud',
  MST: '/mst',
  CLOB: '/clob',
  GAMMA: '/gamma',
  DATA: '/data',
  FEED: '/feed',
  SPORTS: '/sports',
  RTDS: '/rtds',
}

/**
 * A request to a host or port that serves one mount without prefix, as it would read on the main origin. Some official
 * clients drop the path of their base address, or sign it, and can only be served so. A path that has the prefix is
 * left alone. The feed's root is the streamer, for clients whose path is fixed.
 */
export function onMainOrigin(request: Request, name: HostName): Request {
  const prefix = prefixes[name]
  const { url } = request
  const pathAt = url.indexOf('/', url.indexOf('//') + 2)
  const target = url.slice(pathAt)
  const path = target.split('?', 1)[0] as string
  if (path === prefix || path.startsWith(`${prefix}/`)) return request
  const root = name === 'FEED' && path === '/' ? `/streamer${target.slice(1)}` : target
  return new Request(url.slice(0, pathAt) + prefix + root, request)
}

/** The request as the main origin would get it, when its host name is one of `HOST_<NAME>`. */
export function fromOwnHost(request: Request, { hosts }: Config): Request {
  if (hosts.size === 0) return request
  const { host, hostname } = new URL(request.url)
  const name = hosts.get(host) ?? hosts.get(hostname)
  return name ? onMainOrigin(request, name) : request
}
