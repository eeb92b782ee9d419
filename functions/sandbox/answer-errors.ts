import type { ErrorHandler } from 'hono'
import { asAppError, type ErrorShape, toResponse } from '../../shared/kernel/errors.ts'
import type { SandboxEnv } from './env.ts'

/** Answers any error in an upstream's shape. What is not an AppError shows the caller nothing, and the log its stack. */
export const answerErrors =
  (shape: ErrorShape): ErrorHandler<SandboxEnv> =>
  (thrown, c) => {
    const error = asAppError(thrown)
    if (error.fault !== 'caller') {
      const cause = error.cause instanceof Error ? error.cause.stack : undefined
      console.error(
        JSON.stringify({ level: 'error', error: error.code, message: error.message, at: c.req.path, cause }),
      )
    }
    return toResponse(shape(error, c.req.header('x-request-id') ?? ''))
  }
