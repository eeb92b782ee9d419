import {
  ConflictError,
  type ConflictReason,
  ForbiddenError,
  type ForbiddenReason,
  InvalidRequestError,
  type InvalidRequestReason,
  NotFoundError,
} from './errors.ts'

/** An error of the API as plain data. */
export type Refusal = { readonly message: string; readonly more: string | undefined } & (
  | { readonly status: 400; readonly reason: InvalidRequestReason | undefined }
  | { readonly status: 403; readonly reason: ForbiddenReason }
  | { readonly status: 404; readonly reason: undefined }
  | { readonly status: 409; readonly reason: ConflictReason }
)

/** What became of a piece of work in another object: error classes do not survive the call, data does. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal }

/** Does the work, and gives an error of the API back as data. Any other error is thrown on. */
export function outcomeOf<T>(work: () => T): Outcome<T> {
  try {
    return { ok: true, value: work() }
  } catch (error) {
    if (
      error instanceof InvalidRequestError ||
      error instanceof ForbiddenError ||
      error instanceof NotFoundError ||
      error instanceof ConflictError
    ) {
      const { status, reason, message, more } = error
      return { ok: false, refusal: { status, reason, message, more } as Refusal }
    }
    throw error
  }
}

/**
 * The value of an outcome.
 *
 * @throws {CloudError} the refusal, as the error it was
 */
export function unwrap<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value
  const { refusal } = outcome
  switch (refusal.status) {
    case 400:
      throw new InvalidRequestError(refusal.reason, refusal.message, refusal.more)
    case 403:
      throw new ForbiddenError(refusal.reason, refusal.message, refusal.more)
    case 404:
      throw new NotFoundError(refusal.message, refusal.more)
    case 409:
      throw new ConflictError(refusal.reason, refusal.message, refusal.more)
  }
}
