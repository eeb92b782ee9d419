import type { Loan } from '../backend.ts'
import { fatalError, SqlError, sqlError } from '../sql-error.ts'
import { FrameReader } from '../wire/frame-reader.ts'
import {
  answer,
  bindFrame,
  describePortalFrame,
  executeFrame,
  type Field,
  type Frame,
  headerBytes,
  parseFrame,
  readError,
  readFields,
  readRow,
  readStatus,
  readTag,
  syncFrame,
  type TransactionStatus,
} from '../wire/frames.ts'

export type Statement = { readonly query: string; readonly params: readonly (string | null)[] }

export type Result = {
  readonly fields: readonly Field[]
  readonly rows: (string | null)[][]
  /** The command's tag, such as `INSERT 0 1`. */
  readonly tag: string
}

/** The rows are more than an answer may hold. */
export class ResponseTooLargeError extends Error {
  override readonly name = 'ResponseTooLargeError'
}

const mostMessageBytes = 256 << 20
/** A result that is too large is read on, unseen, up to this many bytes; then the query is cancelled. */
const mostDroppedBytes = 64 << 20

/**
 * Runs statements by the extended protocol, all sent at once: one by itself, or several as one transaction, of which the
 * first error undoes all.
 *
 * @param begin the statement that starts the transaction; undefined: no transaction, exactly one statement
 * @param mostBytes of all rows together
 * @throws {SqlError} {@link ResponseTooLargeError}
 */
export async function runStatements(
  loan: Loan,
  statements: readonly Statement[],
  begin: string | undefined,
  mostBytes: number,
): Promise<Result[]> {
  const collected = new Collector(mostBytes)
  let status: TransactionStatus | undefined
  try {
    loan.send(messages(statements, begin))
    const reader = new FrameReader(mostMessageBytes)
    status = await new Promise<TransactionStatus>((resolve, reject) => {
      const { answers } = loan
      answers.on('data', (chunk: Buffer) => {
        try {
          for (const frame of reader.read(chunk)) {
            if (frame[0] === answer.readyForQuery) resolve(readStatus(frame))
            else collected.take(frame)
          }
          if (collected.droppedBytes > mostDroppedBytes) loan.cancel()
        } catch (error) {
          reject(error)
        }
      })
      const lost = () => reject(collected.error ?? fatalError('08006', 'the connection with the database was lost'))
      answers.once('end', lost)
      answers.once('close', lost)
      answers.once('error', lost)
    })
  } catch (error) {
    throw collected.droppedBytes > 0 ? new ResponseTooLargeError() : error
  } finally {
    loan.giveBack(status)
  }
  if (collected.droppedBytes > 0) throw new ResponseTooLargeError()
  if (collected.error) throw collected.error
  // A transaction that was already failed "commits" by rolling back, without an error.
  return begin === undefined ? collected.results : collected.results.slice(1, -1)
}

function messages(statements: readonly Statement[], begin: string | undefined): Buffer {
  const frames: Frame[] = []
  const add = ({ query, params }: Statement, describe: boolean) => {
    frames.push(parseFrame('', query), bindFrame('', params))
    if (describe) frames.push(describePortalFrame())
    frames.push(executeFrame())
  }
  if (begin !== undefined) add({ query: begin, params: [] }, false)
  for (const statement of statements) add(statement, true)
  if (begin !== undefined) add({ query: 'COMMIT', params: [] }, false)
  frames.push(syncFrame)
  return Buffer.concat(frames)
}

class Collector {
  readonly results: Result[] = []
  /** The first error; what comes after it is not run. */
  error: SqlError | undefined
  /** Of rows beyond the limit. */
  droppedBytes = 0
  readonly #mostBytes: number
  #bytes = 0
  #fields: Field[] = []
  #rows: (string | null)[][] = []

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** @throws {SqlError} the statement wants more from the client than a request can give */
  take(frame: Frame): void {
    switch (frame[0]) {
      case answer.rowDescription:
        this.#fields = readFields(frame)
        return
      case answer.dataRow:
        this.#row(frame)
        return
      case answer.commandComplete:
        this.#done(readTag(frame))
        return
      case answer.emptyQuery:
        this.#done('')
        return
      case answer.error:
        this.error ??= new SqlError(readError(frame))
        return
      case answer.copyIn:
        throw sqlError('0A000', 'COPY FROM STDIN is not possible over HTTP; use a connection')
    }
  }

  #row(frame: Frame): void {
    this.#bytes += frame.byteLength - headerBytes
    if (this.#bytes <= this.#mostBytes) this.#rows.push(readRow(frame))
    else {
      this.droppedBytes += frame.byteLength
      this.#rows = []
    }
  }

  #done(tag: string): void {
    this.results.push({ fields: this.#fields, rows: this.#rows, tag })
    this.#fields = []
    this.#rows = []
  }
}
