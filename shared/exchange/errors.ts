import { InvalidInputError, MalformedJsonError } from '../kernel/contract/parse.ts'
import { MethodNotAllowedError, UnknownRouteError } from '../kernel/contract/unknown-route.ts'
import type { AppError, ErrorShape } from '../kernel/errors.ts'
import { errorHeaders } from '../kernel/problem.ts'
import { InvalidApiKeyError, InvalidL1HeadersError } from './admission.ts'

/**
 * Errors of the order-book service: `{"error": text}`, with `retry_after_seconds` when trying again later can help.
 * Wrong input has the text that its schema states.
 */
export const toClobError: ErrorShape = (error) => {
  const { retryAfterSeconds } = error.details
  return {
    status: error.status,
    body: {
      error: clobText(error),
      ...(typeof retryAfterSeconds === 'number' && { retry_after_seconds: Math.ceil(retryAfterSeconds) }),
    },
    headers: errorHeaders(error),
  }
}

/** Errors of the metadata service: `{"type", "error"}`, wrong input as 422; unknown routes as in the other two services. */
export const toGammaError: ErrorShape = (error) => {
  const routing = routingText(error)
  if (routing) return { status: error.status, body: { error: routing }, headers: errorHeaders(error) }
  const isInput = error instanceof InvalidInputError
  return {
    status: isInput ? 422 : error.status,
    body: {
      type: gammaType(error.status),
      error: isInput ? `${error.errors[0]?.field} is invalid` : plainText(error),
    },
    headers: errorHeaders(error),
  }
}

/** Errors of the data service: `{"error": text}`. */
export const toDataError: ErrorShape = (error) => ({
  status: error.status,
  body: { error: routingText(error) ?? plainText(error) },
  headers: errorHeaders(error),
})

function clobText(error: AppError): string {
  const routing = routingText(error)
  if (routing) return routing
  if (error instanceof InvalidInputError) return error.errors[0]?.expected ?? error.message
  if (error instanceof MalformedJsonError) return 'Invalid payload'
  if (error.status === 401 && !(error instanceof InvalidL1HeadersError)) return new InvalidApiKeyError().message
  return plainText(error)
}

/** Texts that do not depend on which service answers. */
function plainText(error: AppError): string {
  if (error.code === 'platform.unexpected') return 'Internal server error'
  if (error.status === 401 && !(error instanceof InvalidL1HeadersError)) return 'Unauthorized'
  return error.status === 429 ? 'Too Many Requests' : error.message
}

function routingText(error: AppError): string | undefined {
  if (error instanceof UnknownRouteError) return 'Not found'
  return error instanceof MethodNotAllowedError ? 'Method not allowed' : undefined
}

const gammaType = (status: number): string => {
  if (status === 404) return 'not found error'
  return status < 500 ? 'validation error' : 'internal error'
}
