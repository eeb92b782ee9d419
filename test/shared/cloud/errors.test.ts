import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  ConflictError,
  ForbiddenError,
  InvalidRequestError,
  notFound,
  toCloudError,
  UnauthorizedError,
} from '../../../shared/cloud/errors.ts'
import { outcomeOf, unwrap } from '../../../shared/cloud/outcome.ts'
import { MissingScopeError } from '../../../shared/kernel/auth/scope.ts'
import { MalformedJsonError, parse } from '../../../shared/kernel/contract/parse.ts'
import { unknownRoute } from '../../../shared/kernel/contract/unknown-route.ts'
import { AppError, asAppError } from '../../../shared/kernel/errors.ts'
import { UpstreamTimeoutError, UpstreamUnreachableError } from '../../../shared/kernel/http/send.ts'

const answer = (error: AppError) => toCloudError(error, 'request-1')

class RateLimitedError extends AppError {
  override readonly name = 'RateLimitedError'
  readonly code = 'test.rate_limited'
  readonly status = 429
}

class BodyTooLargeError extends AppError {
  override readonly name = 'BodyTooLargeError'
  readonly code = 'test.body_too_large'
  readonly status = 413
}

class RefusedCredentialError extends AppError {
  override readonly name = 'RefusedCredentialError'
  readonly code = 'test.refused'
  readonly status = 401
}

class UpstreamRefusedUsError extends AppError {
  override readonly name = 'UpstreamRefusedUsError'
  readonly code = 'test.upstream_refused_us'
  readonly status = 401
  override readonly fault = 'upstream'
}

const inputError = (schema: z.ZodType, value: unknown, place: 'path' | 'query' | 'body' = 'body'): AppError => {
  try {
    parse(schema, value, place)
  } catch (thrown) {
    return asAppError(thrown)
  }
  throw new Error('expected the value to be refused')
}

describe('toCloudError', () => {
  it.each<[AppError, number, string, string | undefined]>([
    [new InvalidRequestError('INVALID_REGION', 'no'), 400, 'INVALID_REQUEST', 'INVALID_REGION'],
    [new InvalidRequestError(undefined, 'too large'), 400, 'INVALID_REQUEST', undefined],
    [new ForbiddenError('WRONG_PROJECT', 'no'), 403, 'FORBIDDEN', 'WRONG_PROJECT'],
    [notFound('service', 'abc'), 404, 'NOT_FOUND', undefined],
    [new ConflictError('INVALID_STATE', 'no'), 409, 'CONFLICT', 'INVALID_STATE'],
    [new MissingScopeError('cloud:write'), 403, 'FORBIDDEN', 'READ_ONLY_KEY'],
    [new MissingScopeError('cloud:admin'), 403, 'FORBIDDEN', 'INSUFFICIENT_ROLE'],
    [unknownRoute('GET', '/x', false), 404, 'NOT_FOUND', undefined],
    [unknownRoute('PUT', '/x', true), 404, 'NOT_FOUND', undefined],
    [new BodyTooLargeError('the body is larger than 65536 bytes'), 400, 'INVALID_REQUEST', undefined],
    [new MalformedJsonError('no'), 400, 'INVALID_REQUEST', 'MALFORMED_JSON'],
    [inputError(z.object({ a: z.string() }), {}), 400, 'INVALID_REQUEST', 'MISSING_FIELD'],
    [inputError(z.object({ a: z.string() }), { a: null }), 400, 'INVALID_REQUEST', 'MISSING_FIELD'],
    [inputError(z.object({ a: z.string() }), { a: 1 }), 400, 'INVALID_REQUEST', 'INVALID_FIELD'],
    [inputError(z.object({ a: z.string() }), []), 400, 'INVALID_REQUEST', 'MALFORMED_JSON'],
    [inputError(z.strictObject({}), { b: 1 }), 400, 'INVALID_REQUEST', 'UNKNOWN_FIELD'],
    [
      inputError(z.object({ vpc_id: z.string().regex(/^\d+$/) }), { vpc_id: 'x' }, 'path'),
      400,
      'INVALID_REQUEST',
      'INVALID_ID',
    ],
    [inputError(z.object({ node: z.int() }), { node: 'x' }, 'query'), 400, 'INVALID_REQUEST', 'INVALID_FIELD'],
  ])('answers %s with %i %s %s', (error, status, code, reason) => {
    const { status: got, body } = answer(error)
    expect(got).toBe(status)
    expect(body).toEqual({ code, message: error.message, ...(reason !== undefined && { reason }) })
  })

  it('answers every 401 with one body and a challenge', () => {
    const expected = answer(new UnauthorizedError())
    expect(expected.headers).toMatchObject({ 'www-authenticate': 'Basic realm="management"' })
    expect(expected.body).toMatchObject({ code: 'UNAUTHORIZED' })
    expect(answer(new RefusedCredentialError('this key was revoked on Monday'))).toEqual(expected)
  })

  it.each<[AppError, string]>([
    [new UpstreamTimeoutError('the upstream CLOUD did not answer within 25 s'), 'timeout'],
    [new UpstreamUnreachableError('the upstream CLOUD cannot be reached'), 'unreachable'],
    [new UpstreamRefusedUsError('the upstream CLOUD refused our key'), 'upstream_refused_us'],
  ])('turns %s into a 500 that names its kind', (error, kind) => {
    expect(answer(error)).toMatchObject({
      status: 500,
      body: { code: 'INTERNAL_ERROR', message: error.message, details: kind },
    })
  })

  it('shows nothing of an unexpected error', () => {
    const { status, body } = answer(asAppError(new Error('password=hunter2')))
    expect(status).toBe(500)
    expect(body).toMatchObject({ code: 'INTERNAL_ERROR', details: 'unexpected' })
    expect(JSON.stringify(body)).not.toContain('hunter2')
  })

  it('keeps 429, with the time to wait', () => {
    const got = answer(new RateLimitedError('slow down', { retryAfterSeconds: 1.2 }))
    expect(got).toMatchObject({ status: 429, headers: { 'retry-after': '2' } })
  })

  it('adds the context that an error has to its sentence', () => {
    const error = new ConflictError('INVALID_STATE', 'service x is CONFIGURING', 'a resize is in progress')
    expect(answer(error).body).toEqual({
      code: 'CONFLICT',
      message: 'service x is CONFIGURING',
      details: 'a resize is in progress',
      reason: 'INVALID_STATE',
    })
  })
})

describe('notFound', () => {
  it('repeats the id, unless it is long', () => {
    expect(notFound('service', 'abc').message).toBe('this project has no service "abc"')
    expect(notFound('service', 'x'.repeat(65)).message).toBe('this project has no service of 65 characters')
  })
})

describe('outcomeOf and unwrap', () => {
  it('give a value back', () => {
    expect(unwrap(outcomeOf(() => 7))).toBe(7)
  })

  it.each([
    new InvalidRequestError('INVALID_SIZE', 'no', 'more'),
    new ForbiddenError('PLAN_LIMIT', 'no'),
    notFound('service', 'abc'),
    new ConflictError('INVALID_STATE', 'no', 'more'),
  ])('carry %s across as data', (error) => {
    const outcome = outcomeOf(() => {
      throw error
    })
    const copy = structuredClone(outcome)
    let thrown: unknown
    try {
      unwrap(copy)
    } catch (caught) {
      thrown = caught
    }
    expect(thrown).toBeInstanceOf(error.constructor)
    expect(answer(asAppError(thrown))).toEqual(answer(error))
  })

  it('do NOT take any other error for an answer', () => {
    expect(() =>
      outcomeOf(() => {
        throw new TypeError('bug')
      }),
    ).toThrow(TypeError)
  })
})
