import { AppError, type ErrorAnswer, type ErrorShape } from '../kernel/errors.ts'
import { errorHeaders } from '../kernel/problem.ts'

/** The token is missing or refused. It takes no argument, so that no cause can be told from another. */
export class InvalidTokenError extends AppError {
  override readonly name = 'InvalidTokenError'
  readonly code = 'managed_service.invalid_token'
  readonly status = 401

  constructor() {
    super(invalidTokenMessage)
  }
}

/** The token is good, but its user or the caller's address is not allowed in. */
export class AccessDeniedError extends AppError {
  override readonly name = 'AccessDeniedError'
  readonly code = 'managed_service.access_denied'
  readonly status = 403
}

const invalidTokenMessage = 'The request needs a valid access token in the Authorization header'

/** The error body of the managed service (aiven/aiven-client `aiven/client/client.py`). A good answer has no `error` member. */
export type ManagedServiceErrorBody = {
  readonly message: string
  readonly errors: readonly [{ readonly message: string; readonly status: number; readonly error_code: string }]
}

/**
 * Any error as the managed service answers it: the statuses of the seed (400, 401, 403, 404, 409, 500) and 429. What is
 * not the caller's fault is a 500 whose error_code names its kind and whose text names nothing inside.
 */
export const toManagedServiceError: ErrorShape = (error): ErrorAnswer => {
  const { status, message, errorCode } = outcome(error)
  const body: ManagedServiceErrorBody = { message, errors: [{ message, status, error_code: errorCode }] }
  return {
    status,
    body,
    headers: { ...errorHeaders(error), ...(status === 401 && { 'www-authenticate': 'svcv1 realm="managed-service"' }) },
  }
}

function outcome(error: AppError): { status: number; message: string; errorCode: string } {
  const kind = error.code.slice(error.code.indexOf('.') + 1)
  if (error.status === 429) return { status: 429, message: error.message, errorCode: kind }
  if (error.fault !== 'caller' || error.status >= 500) {
    const message =
      error.fault === 'upstream' ? error.message : 'The request failed inside the service; try again later'
    return { status: 500, message, errorCode: kind }
  }
  // One text for every cause of a 401, whatever the error says.
  if (error.status === 401) return { status: 401, message: invalidTokenMessage, errorCode: 'invalid_token' }
  return { status: statuses[error.status] ?? 400, message: error.message, errorCode: kind }
}

/** There is no 405: a path with another method is an unknown path. */
const statuses: Readonly<Record<number, number>> = { 403: 403, 404: 404, 405: 404, 409: 409 }
