import { AppError } from '../errors.ts'

export class UnknownRouteError extends AppError {
  override readonly name = 'UnknownRouteError'
  readonly code = 'route.not_found'
  readonly status = 404
}

export class MethodNotAllowedError extends AppError {
  override readonly name = 'MethodNotAllowedError'
  readonly code = 'route.method_not_allowed'
  readonly status = 405
}

/** The error of a request that no operation of a mount takes; `knownPath` when only the method is wrong. */
export const unknownRoute = (method: string, path: string, knownPath: boolean): AppError =>
  knownPath
    ? new MethodNotAllowedError(`${path} does not take ${method}`, { method })
    : new UnknownRouteError(`nothing is served at ${path}`)
