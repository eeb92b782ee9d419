import type { Upstream } from './upstream.ts'

/** Headers of one hop (RFC 9110, section 7.6.1), beside those that `Connection` names. */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** What says who the caller is, or where it came from: an upstream gets our credential and our address instead. */
const ofTheCaller = /^(cookie|forwarded|x-real-ip|true-client-ip|cf-.*|x-forwarded-.*|x-tidegate-.*)$/

export type ForwardOptions = {
  /** The caller's own credentials go through (`authorization`, `poly_…`). */
  readonly keepCredentials: boolean
  readonly requestId: string
  /** Prefix of the mount: some clients sign the path with it, and the sandbox takes both. */
  readonly mountPrefix: string
}

/**
 * The request to send upstream: same method, same body bytes, the path and query as the caller wrote them, behind the
 * upstream's address. Redirects come back as they are: followed, they would take the credential to another host.
 */
export function forwarded(request: Request, upstream: Upstream, target: string, options: ForwardOptions): Request {
  const result = new Request(upstream.base + target, {
    method: request.method,
    headers: request.headers,
    body: request.body,
    redirect: 'manual',
  })
  const { headers } = result
  for (const name of (request.headers.get('connection') ?? '').split(',')) {
    const named = name.trim().toLowerCase()
    if (/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(named)) headers.delete(named)
  }
  for (const name of hopByHop) headers.delete(name)
  for (const name of [...headers.keys()]) {
    if (ofTheCaller.test(name)) headers.delete(name)
    else if (!options.keepCredentials && (name === 'authorization' || name.startsWith('poly_'))) headers.delete(name)
  }
  headers.set('x-request-id', options.requestId)
  if (upstream.isSandbox) headers.set('x-tidegate-mount-prefix', options.mountPrefix)
  return result
}

/** Headers of an upstream's answer that are not the caller's business. */
export function stripAnswer(headers: Headers): void {
  for (const name of [...hopByHop, 'set-cookie', 'server', 'x-powered-by', 'alt-svc']) headers.delete(name)
}
