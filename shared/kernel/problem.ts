import { InvalidInputError } from './contract/parse.ts'
import type { AppError, ErrorAnswer } from './errors.ts'

/** The problem document of RFC 9457 that Tidegate's own routes answer. */
export const toProblem = (error: AppError, requestId: string): ErrorAnswer => ({
  status: error.status,
  contentType: 'application/problem+json',
  body: {
    type: `urn:tidegate:error:${error.code}`,
    title: titles[error.status] ?? 'Error',
    status: error.status,
    detail: error.message,
    code: problemCode(error),
    ...(error.errors.length > 0 && { errors: error.errors }),
    request_id: requestId,
  },
  headers: errorHeaders(error),
})

/** The area before the dot tells our logs where an error came from; callers switch on the word after it. */
const problemCode = (error: AppError): string =>
  error instanceof InvalidInputError && error.place === 'body' && error.issueCodes.includes('unrecognized_keys')
    ? 'unknown_field'
    : error.code.slice(error.code.indexOf('.') + 1)

/** Headers that go with an error in every shape: `Retry-After` when trying again later can help. */
export const errorHeaders = (error: AppError): Record<string, string> => {
  const seconds = error.details.retryAfterSeconds
  return typeof seconds === 'number' ? { 'retry-after': String(Math.ceil(seconds)) } : {}
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  426: 'Upgrade Required',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  507: 'Insufficient Storage',
}
