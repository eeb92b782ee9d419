import { neonConfig } from '@neondatabase/serverless'
import { DatabaseUrlError } from './errors.ts'

/** A checked database URL and how the driver reaches it. */
export type DatabaseAddress = {
  readonly url: string
  /** `host:port` of an endpoint without TLS that answers `/sql` and `/v2` itself; undefined: the driver's own rules. */
  readonly plain: string | undefined
}

const plainEndpoints = new Set<string>()
let installed = false

/**
 * Reads a `postgresql://user:password@host[:port]/database[?sslmode=disable]` URL. `sslmode=disable` says that the
 * endpoint answers the driver's protocols without TLS on that very host and port.
 *
 * @throws {DatabaseUrlError} without repeating the URL
 */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new DatabaseUrlError('the database URL is not a URL; expected postgresql://user:password@host/database')
  }
  if (!/^postgres(ql)?:$/.test(url.protocol))
    throw new DatabaseUrlError('the database URL does not start with postgresql://', { scheme: url.protocol })
  const missing = (['username', 'hostname', 'pathname'] as const).filter(
    (name) => url[name] === '' || url[name] === '/',
  )
  if (missing.length > 0) {
    const names = { username: 'user', hostname: 'host', pathname: 'database' }
    throw new DatabaseUrlError(`the database URL has no ${missing.map((name) => names[name]).join(' and no ')}`)
  }
  if (url.searchParams.get('sslmode') !== 'disable') return { url: text, plain: undefined }
  const plain = `${url.hostname}:${url.port || '5432'}`
  plainEndpoints.add(plain)
  installFetchEndpoint()
  return { url: text, plain }
}

/** The driver takes this option for the whole module only, so plain endpoints are told apart by host and port. */
function installFetchEndpoint(): void {
  if (installed) return
  installed = true
  const { fetchEndpoint } = neonConfig
  neonConfig.fetchEndpoint = (host, port, options) => {
    const plain = `${host}:${port || '5432'}`
    if (plainEndpoints.has(plain)) return `http://${plain}/sql`
    return typeof fetchEndpoint === 'string' ? fetchEndpoint : fetchEndpoint(host, port, options)
  }
}
