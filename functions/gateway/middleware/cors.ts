/**
 * Pages of any origin may call the gateway: a caller is known by a key that the page must send itself, never by a
 * cookie. Header names are listed one by one, since `*` does not cover `Authorization` (Fetch standard, CORS protocol).
 */
const allowHeaders = [
  'Accept',
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Last-Event-ID',
  'Prefer',
  'X-Request-Id',
  'POLY_ADDRESS',
  'POLY_API_KEY',
  'POLY_NONCE',
  'POLY_PASSPHRASE',
  'POLY_SIGNATURE',
  'POLY_TIMESTAMP',
  'POLY_BUILDER_API_KEY',
  'POLY_BUILDER_PASSPHRASE',
  'POLY_BUILDER_SIGNATURE',
  'POLY_BUILDER_TIMESTAMP',
].join(', ')

const exposeHeaders = [
  'ETag',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Server-Timing',
  'X-Next-Cursor',
  'X-Request-Id',
].join(', ')

/** The answer to a preflight, or undefined when the request is none. */
export function preflight(request: Request): Response | undefined {
  if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) return undefined
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      'access-control-allow-headers': allowHeaders,
      'access-control-max-age': '86400',
    },
  })
}

/** Lets a page read the answer. An upstream's own policy is replaced: its origin is not ours. */
export function allowAnyOrigin(headers: Headers): void {
  headers.set('access-control-allow-origin', '*')
  headers.set('access-control-expose-headers', exposeHeaders)
  headers.delete('access-control-allow-credentials')
}
