/** Who has to act. Decides the log level and whether trying again can help. */
export type Fault = 'caller' | 'upstream' | 'platform'

export type ErrorStatus =
  | 400
  | 401
  | 403
  | 404
  | 405
  | 408
  | 409
  | 413
  | 415
  | 422
  | 426
  | 429
  | 500
  | 502
  | 503
  | 504
  | 507

/** One wrong member of a request: where it stands, what was expected, what was given (never a secret). */
export type FieldError = { readonly field: string; readonly expected: string; readonly given: string }

/**
 * The base of every error that reaches a caller. A subclass stands in the file that throws it; each mount maps it to
 * its own wire shape in one `onError`.
 */
export abstract class AppError extends Error {
  /** Stable, `area.reason`; clients switch on this, never on the message. */
  abstract readonly code: string
  abstract readonly status: ErrorStatus
  readonly fault: Fault = 'caller'
  /** Wrong members of the request, when that is the cause. */
  readonly errors: readonly FieldError[] = []
  readonly details: Readonly<Record<string, unknown>>

  constructor(message: string, details: Readonly<Record<string, unknown>> = {}, options?: ErrorOptions) {
    super(message, options)
    this.details = details
  }
}

/** An error as the outside may see it: an AppError as it is, anything else as "internal error" without its text. */
export const asAppError = (error: unknown): AppError =>
  error instanceof AppError ? error : new UnexpectedError('internal error', {}, { cause: error })

export class UnexpectedError extends AppError {
  override readonly name = 'UnexpectedError'
  readonly code = 'platform.unexpected'
  readonly status = 500
  override readonly fault = 'platform'
}

/** An error answer as data: what a mount's error shape makes of an AppError. */
export type ErrorAnswer = {
  readonly status: number
  readonly body: unknown
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type ErrorShape = (error: AppError, requestId: string) => ErrorAnswer

export const toResponse = (answer: ErrorAnswer): Response =>
  new Response(JSON.stringify(answer.body), {
    status: answer.status,
    headers: { 'content-type': answer.contentType ?? 'application/json; charset=utf-8', ...answer.headers },
  })
