import { AppError } from '../../../shared/kernel/errors.ts'

export class BodyTooLargeError extends AppError {
  override readonly name = 'BodyTooLargeError'
  readonly code = 'request.body_too_large'
  readonly status = 413

  constructor(limitBytes: number) {
    super(`the body is larger than ${limitBytes} bytes`, { limitBytes })
  }
}

/**
 * The request with a body of at most `limitBytes`. A body whose length the caller states is judged by that (the runtime
 * holds it to it) and stays a stream; one of unknown length is read up to the limit.
 *
 * @throws {BodyTooLargeError}
 */
export async function limitBody(request: Request, limitBytes: number): Promise<Request> {
  if (!request.body) return request
  const stated = request.headers.get('content-length')
  if (stated !== null) {
    if (Number(stated) > limitBytes) throw new BodyTooLargeError(limitBytes)
    return request
  }
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  for await (const chunk of request.body as ReadableStream<Uint8Array<ArrayBuffer>>) {
    length += chunk.length
    if (length > limitBytes) throw new BodyTooLargeError(limitBytes)
    chunks.push(chunk)
  }
  return new Request(request, { body: await new Blob(chunks).arrayBuffer() })
}
