import { describe, expect, it } from 'vitest'
import { unknownRoute } from '../../../shared/kernel/contract/unknown-route.ts'
import { AppError, asAppError } from '../../../shared/kernel/errors.ts'
import { UpstreamTimeoutError } from '../../../shared/kernel/http/send.ts'
import { AccessDeniedError, InvalidTokenError, toManagedServiceError } from '../../../shared/managed-service/errors.ts'

class RateLimitedError extends AppError {
  override readonly name = 'RateLimitedError'
  readonly code = 'test.rate_limited'
  readonly status = 429
}

describe('toManagedServiceError', () => {
  it.each<[AppError, number, string]>([
    [new InvalidTokenError(), 401, 'invalid_token'],
    [new AccessDeniedError('the user of this token is not active'), 403, 'access_denied'],
    [unknownRoute('GET', '/v1/projects', false), 404, 'not_found'],
    [unknownRoute('POST', '/v1/me', true), 404, 'method_not_allowed'],
    [new RateLimitedError('slow down'), 429, 'rate_limited'],
    [new UpstreamTimeoutError('the upstream MST did not answer within 25 s'), 500, 'timeout'],
  ])('answers %s with %i %s, in both places of the body', (error, status, errorCode) => {
    const answer = toManagedServiceError(error, 'request-1')
    const { message } = error
    expect(answer.status).toBe(status)
    expect(answer.body).toEqual({ message, errors: [{ message, status, error_code: errorCode }] })
  })

  it('shows nothing of an unexpected error, and no member `error`, on which the official client would trip', () => {
    const { status, body } = toManagedServiceError(asAppError(new Error('hunter2')), 'request-1')
    expect(status).toBe(500)
    expect(JSON.stringify(body)).not.toContain('hunter2')
    expect(body).not.toHaveProperty('error')
  })
})
