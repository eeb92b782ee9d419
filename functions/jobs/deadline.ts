/** A run has reached its limit. */
export class RunTimeoutError extends Error {
  override readonly name = 'RunTimeoutError'
}

/** Settles as the work does, or rejects after `limitMs`; the signal tells the work that nobody waits any more. */
export async function withDeadline<T>(limitMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new RunTimeoutError(`not done after ${limitMs} ms`))
      controller.abort()
    }, limitMs)
  })
  try {
    return await Promise.race([work(controller.signal), deadline])
  } finally {
    clearTimeout(timer)
  }
}
