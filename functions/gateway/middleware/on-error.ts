import type { ErrorHandler } from 'hono'
import { asAppError, type ErrorShape, toResponse } from '../../../shared/kernel/errors.ts'
import { toProblem } from '../../../shared/kernel/problem.ts'
import type { GatewayEnv } from '../app-env.ts'

/** Answers any error in a mount's shape. What is not an AppError shows the caller nothing, and us its stack. */
export const answerErrors =
  (shape: ErrorShape): ErrorHandler<GatewayEnv> =>
  (thrown, c) => {
    const error = asAppError(thrown)
    c.set('errorCode', error.code)
    if (error.fault !== 'caller') {
      const cause = error.cause instanceof Error ? error.cause.stack : undefined
      console.error(
        JSON.stringify({
          level: 'error',
          request_id: c.var.requestId,
          error: error.code,
          message: error.message,
          cause,
        }),
      )
    }
    return toResponse(shape(error, c.var.requestId))
  }

export const answerProblems = answerErrors(toProblem)
