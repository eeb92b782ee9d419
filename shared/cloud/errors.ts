import { MissingScopeError, type Scope } from '../kernel/auth/scope.ts'
import { InvalidInputError, MalformedJsonError } from '../kernel/contract/parse.ts'
import { AppError, type ErrorAnswer, type ErrorShape } from '../kernel/errors.ts'
import { errorHeaders } from '../kernel/problem.ts'

export type InvalidRequestReason =
  | 'MALFORMED_JSON'
  | 'MISSING_FIELD'
  | 'INVALID_FIELD'
  | 'UNKNOWN_FIELD'
  | 'INVALID_ID'
  | 'INVALID_ADDON'
  | 'ADDON_TYPE_MISMATCH'
  | 'INVALID_SIZE'
  | 'SHARED_NO_HA'
  | 'INVALID_REGION'
export type ForbiddenReason = 'WRONG_PROJECT' | 'READ_ONLY_KEY' | 'INSUFFICIENT_ROLE' | 'PLAN_LIMIT'
export type ConflictReason = 'INVALID_STATE'
export type Reason = InvalidRequestReason | ForbiddenReason | ConflictReason

/**
 * An error of the management API: one sentence for people, a `reason` for programs, and perhaps `more` context, which
 * the official client prints behind the sentence.
 */
export abstract class CloudError extends AppError {
  abstract readonly reason: Reason | undefined
  readonly more: string | undefined

  constructor(message: string, more?: string) {
    super(message)
    this.more = more
  }
}

export class InvalidRequestError extends CloudError {
  override readonly name = 'InvalidRequestError'
  readonly code = 'cloud.invalid_request'
  readonly status = 400
  readonly reason: InvalidRequestReason | undefined

  constructor(reason: InvalidRequestReason | undefined, message: string, more?: string) {
    super(message, more)
    this.reason = reason
  }
}

/** Credentials are missing or refused. It takes no argument, so that no cause can be told from another. */
export class UnauthorizedError extends CloudError {
  override readonly name = 'UnauthorizedError'
  readonly code = 'cloud.unauthorized'
  readonly status = 401
  readonly reason = undefined

  constructor() {
    super(unauthorizedMessage)
  }
}

export class ForbiddenError extends CloudError {
  override readonly name = 'ForbiddenError'
  readonly code = 'cloud.forbidden'
  readonly status = 403
  readonly reason: ForbiddenReason

  constructor(reason: ForbiddenReason, message: string, more?: string) {
    super(message, more)
    this.reason = reason
  }
}

/** The resource does not exist, was deleted, or is another project's. */
export class NotFoundError extends CloudError {
  override readonly name = 'NotFoundError'
  readonly code = 'cloud.not_found'
  readonly status = 404
  readonly reason = undefined
}

export const notFound = (resource: string, id: string): NotFoundError =>
  new NotFoundError(`this project has no ${resource} ${shown(id)}`)

export class ConflictError extends CloudError {
  override readonly name = 'ConflictError'
  readonly code = 'cloud.conflict'
  readonly status = 409
  readonly reason: ConflictReason

  constructor(reason: ConflictReason, message: string, more?: string) {
    super(message, more)
    this.reason = reason
  }
}

const unauthorizedMessage = 'The request needs a valid access key and secret key, sent as HTTP Basic authentication'
const longestIdShown = 64

/** An identifier of the caller's as an error may repeat it. */
const shown = (id: string): string => (id.length > longestIdShown ? `of ${id.length} characters` : JSON.stringify(id))

/** The error body of the management API; `code` is of a closed set, except on 429, for which the set has no word. */
export type CloudErrorBody = {
  readonly code: string
  readonly message: string
  readonly details?: string
  readonly reason?: string
}

/**
 * Any error as the management API answers it. The seed knows 400, 401, 403, 404, 409 and 500; the official client keeps
 * polling on 500 but gives up on 502 to 504, so whatever is not the caller's fault is a 500 that names its kind.
 * 429, the gateway's own, stays.
 */
export const toCloudError: ErrorShape = (error): ErrorAnswer => {
  const answer = (status: number, body: CloudErrorBody, headers: Record<string, string> = {}): ErrorAnswer => ({
    status,
    body,
    headers: { ...errorHeaders(error), ...headers },
  })
  if (error.status === 429) return answer(429, { code: 'TOO_MANY_REQUESTS', message: error.message })
  if (error.fault !== 'caller' || error.status >= 500) {
    return answer(500, { code: 'INTERNAL_ERROR', message: internalMessage(error), details: kindOf(error) })
  }
  if (error.status === 401) {
    // One and the same body for every cause, whatever the error says.
    return answer(
      401,
      { code: 'UNAUTHORIZED', message: unauthorizedMessage },
      { 'www-authenticate': 'Basic realm="management"' },
    )
  }
  const { status, code } = codes[error.status] ?? invalidRequest
  const reason = reasonOf(error)
  const more = error instanceof CloudError ? error.more : undefined
  return answer(status, {
    code,
    message: error.message,
    ...(more !== undefined && { details: more }),
    ...(reason !== undefined && { reason }),
  })
}

const invalidRequest = { status: 400, code: 'INVALID_REQUEST' }
/** Status and code by the status of the error. The API has no 405: an unknown method is an unknown route. */
const codes: Readonly<Record<number, { readonly status: number; readonly code: string }>> = {
  403: { status: 403, code: 'FORBIDDEN' },
  404: { status: 404, code: 'NOT_FOUND' },
  405: { status: 404, code: 'NOT_FOUND' },
  409: { status: 409, code: 'CONFLICT' },
}

/** The kind of a failure that is not the caller's: the word behind the area (`timeout`, `unreachable`, `unexpected`). */
const kindOf = (error: AppError): string => error.code.slice(error.code.indexOf('.') + 1)

/** Messages about the platform may name its insides; those about an upstream are written for callers. */
const internalMessage = (error: AppError): string =>
  error.fault === 'upstream' ? error.message : 'The request failed inside the service; try again later'

function reasonOf(error: AppError): string | undefined {
  if (error instanceof CloudError) return error.reason
  if (error instanceof MalformedJsonError) return 'MALFORMED_JSON' satisfies Reason
  if (error instanceof InvalidInputError) return reasonOfInput(error)
  if (error instanceof MissingScopeError) return reasonOfScope(error)
  return undefined
}

/** A Tidegate key is refused for its scopes as a key of the API is for its role. */
const reasonOfScope = ({ details }: MissingScopeError): ForbiddenReason =>
  details.needed === ('cloud:write' satisfies Scope) ? 'READ_ONLY_KEY' : 'INSUFFICIENT_ROLE'

/** The reason of the first wrong member: an answer has room for one. */
function reasonOfInput({ place, errors, issueCodes }: InvalidInputError): InvalidRequestReason {
  if (place === 'path') return 'INVALID_ID'
  if (issueCodes[0] === 'unrecognized_keys') return 'UNKNOWN_FIELD'
  const [first] = errors
  // The body as a whole is wrong: JSON, but not an object, or no body at all.
  if (place === 'body' && first?.field === 'body') return 'MALFORMED_JSON'
  return first?.given === 'nothing' || first?.given === 'null' ? 'MISSING_FIELD' : 'INVALID_FIELD'
}
