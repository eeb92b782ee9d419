import { AppError, type FieldError } from '../kernel/errors.ts'

export class UnknownJobError extends AppError {
  override readonly name = 'UnknownJobError'
  readonly code = 'jobs.not_found'
  readonly status = 404
}

export class UnknownRunError extends AppError {
  override readonly name = 'UnknownRunError'
  readonly code = 'jobs.run_not_found'
  readonly status = 404
}

export class JobBusyError extends AppError {
  override readonly name = 'JobBusyError'
  readonly code = 'jobs.busy'
  readonly status = 409
}

/** A member of a job that this version does not carry out yet. */
export class NotSupportedError extends AppError {
  override readonly name = 'NotSupportedError'
  readonly code = 'jobs.not_supported'
  readonly status = 400
  override readonly errors: readonly FieldError[]

  constructor(error: FieldError) {
    super(`${error.field}: ${error.expected}, given ${error.given}`)
    this.errors = [error]
  }
}
