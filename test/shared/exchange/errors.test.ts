import { describe, expect, it } from 'vitest'
import { InvalidApiKeyError, InvalidL1HeadersError } from '../../../shared/exchange/admission.ts'
import { ApiKeyExistsError } from '../../../shared/exchange/api-key.ts'
import { operations as clob } from '../../../shared/exchange/contract-clob.ts'
import { operations as gamma } from '../../../shared/exchange/contract-gamma.ts'
import { toClobError, toDataError, toGammaError } from '../../../shared/exchange/errors.ts'
import { NoBookError } from '../../../shared/exchange/market.ts'
import { MissingScopeError } from '../../../shared/kernel/auth/scope.ts'
import type { Operation } from '../../../shared/kernel/contract/operation.ts'
import { MalformedJsonError, parseInput } from '../../../shared/kernel/contract/parse.ts'
import { unknownRoute } from '../../../shared/kernel/contract/unknown-route.ts'
import { AppError, asAppError } from '../../../shared/kernel/errors.ts'
import { UpstreamTimeoutError } from '../../../shared/kernel/http/send.ts'

class LimitedError extends AppError {
  readonly code = 'test.limited'
  readonly status = 429
}
class KeyRefusedError extends AppError {
  readonly code = 'test.refused'
  readonly status = 401
}
class GoneError extends AppError {
  readonly code = 'test.gone'
  readonly status = 404
}

const refusedInput = (operation: Operation, query: string): AppError => {
  try {
    parseInput(operation, { params: {}, query: new URLSearchParams(query), body: undefined })
  } catch (error) {
    return error as AppError
  }
  throw new Error(`${query} was taken`)
}

const shapes = [
  ['order book', toClobError],
  ['metadata', toGammaError],
  ['data', toDataError],
] as const

describe.each(shapes)('the %s service', (_, shape) => {
  it('answers an unknown path and a wrong method with the texts common to all three', () => {
    expect(shape(unknownRoute('GET', '/nope', false), 'r')).toMatchObject({ status: 404, body: { error: 'Not found' } })
    expect(shape(unknownRoute('PUT', '/book', true), 'r')).toMatchObject({
      status: 405,
      body: { error: 'Method not allowed' },
    })
    expect(Object.keys(shape(unknownRoute('GET', '/nope', false), 'r').body as object)).toEqual(['error'])
  })

  it('shows nothing of an error that was not foreseen', () => {
    const answer = shape(asAppError(new Error('canary')), 'r')
    expect(answer).toMatchObject({ status: 500, body: { error: 'Internal server error' } })
    expect(JSON.stringify(answer)).not.toContain('canary')
  })

  it('says when trying again can help', () => {
    const answer = shape(new LimitedError('slow down', { retryAfterSeconds: 1.2 }), 'r')
    expect(answer).toMatchObject({ status: 429, body: { error: 'Too Many Requests' }, headers: { 'retry-after': '2' } })
  })

  it('has one text for every refused credential', () => {
    const texts = [new KeyRefusedError('expired'), new KeyRefusedError('unknown')].map(
      (error) => (shape(error, 'r').body as { error: string }).error,
    )
    expect(new Set(texts).size).toBe(1)
  })

  it('passes on the text of errors of the gateway before it', () => {
    expect(shape(new MissingScopeError('orders:write'), 'r')).toMatchObject({
      status: 403,
      body: { error: 'this key lacks the scope orders:write' },
    })
    expect(shape(new UpstreamTimeoutError('the upstream did not answer'), 'r')).toMatchObject({
      status: 504,
      body: { error: 'the upstream did not answer' },
    })
  })
})

describe('toClobError', () => {
  it.each<[AppError, number, string]>([
    [new InvalidApiKeyError(), 401, 'Unauthorized/Invalid api key'],
    [new KeyRefusedError('expired'), 401, 'Unauthorized/Invalid api key'],
    [new InvalidL1HeadersError(), 401, 'Invalid L1 Request headers'],
    [new ApiKeyExistsError(), 400, 'Could not create api key'],
    [new NoBookError(), 404, 'No orderbook exists for the requested token id'],
    [new MalformedJsonError('not JSON'), 400, 'Invalid payload'],
    [refusedInput(clob.getBook, ''), 400, 'Invalid token id'],
    [refusedInput(clob.getBook, 'token_id=0x12'), 400, 'Invalid token id'],
    [refusedInput(clob.getBook, 'token_id=1&token_id=2'), 400, 'Invalid token id'],
  ])('answers %s with %i and its text alone', (error, status, text) => {
    const answer = toClobError(error, 'r')
    expect(answer.status).toBe(status)
    expect(answer.body).toEqual({ error: text })
  })

  it('carries the seconds to wait in the body, too', () => {
    expect(toClobError(new LimitedError('slow down', { retryAfterSeconds: 10 }), 'r').body).toEqual({
      error: 'Too Many Requests',
      retry_after_seconds: 10,
    })
  })
})

describe('toGammaError', () => {
  it.each(['limit', 'offset', 'tag_id', 'closed'])('answers a bad %s with 422 and its name', (name) => {
    expect(toGammaError(refusedInput(gamma.getMarkets, `${name}=x`), 'r')).toMatchObject({
      status: 422,
      body: { type: 'validation error', error: `${name} is invalid` },
    })
  })

  it('names the kind of error by its status', () => {
    expect(toGammaError(new GoneError('id not found'), 'r').body).toEqual({
      type: 'not found error',
      error: 'id not found',
    })
    expect(toGammaError(asAppError(new Error()), 'r').body).toMatchObject({ type: 'internal error' })
  })
})
