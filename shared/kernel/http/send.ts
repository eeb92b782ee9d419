import { AppError } from '../errors.ts'

/** An upstream is a function: whether a host or a service binding is behind it, no caller can tell. */
export type Send = (request: Request) => Promise<Response>

/** What `fetch` is: with the signal beside the request, a limit needs no copy of it. */
export type Fetch = (request: Request, init?: { signal?: AbortSignal }) => Promise<Response>

/** Sends over the network. Redirects are the caller's business: following one would lose, or leak, the credential. */
export const remote = (): Fetch => (request, init) => fetch(request, init)

/** Sends to another Worker through a service binding. */
export const bound =
  (service: { fetch: Fetch }): Fetch =>
  (request, init) =>
    service.fetch(request, init)

export class UpstreamUnreachableError extends AppError {
  override readonly name = 'UpstreamUnreachableError'
  readonly code = 'upstream.unreachable'
  readonly status = 502
  override readonly fault = 'upstream'
}

export class UpstreamTimeoutError extends AppError {
  override readonly name = 'UpstreamTimeoutError'
  readonly code = 'upstream.timeout'
  readonly status = 504
  override readonly fault = 'upstream'
}

/** Names the upstream in network failures and ends calls that take longer than `timeoutMs` until the headers. */
export const withTimeout =
  (send: Fetch, upstream: string, timeoutMs: number): Send =>
  async (request) => {
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(), timeoutMs)
    try {
      return await send(request, { signal: timeout.signal })
    } catch (cause) {
      if (cause instanceof AppError) throw cause
      if (timeout.signal.aborted) {
        throw new UpstreamTimeoutError(
          `the upstream ${upstream} did not answer within ${timeoutMs / 1000} s; try again later`,
          { upstream },
        )
      }
      throw new UpstreamUnreachableError(
        `the upstream ${upstream} cannot be reached; check UPSTREAM_${upstream} or try again later`,
        { upstream },
        { cause },
      )
    } finally {
      clearTimeout(timer)
    }
  }
