import { Client, neon } from '@neondatabase/serverless'
import { parseDatabaseUrl } from './endpoint.ts'
import { DatabaseDownError, toDatabaseError } from './errors.ts'

export { DatabaseDownError, DatabaseError, DatabaseUrlError } from './errors.ts'

/** A statement with `$1`, `$2` placeholders and their values. Exactly one statement: the extended protocol takes no more. */
export type Statement = { readonly text: string; readonly params?: readonly unknown[] | undefined }

export type Isolation = 'ReadUncommitted' | 'ReadCommitted' | 'RepeatableRead' | 'Serializable'

export type QueryOptions = {
  /** The statement only reads, so it is sent again when the database was away. */
  readonly retry?: boolean
  /** How long the answer may take, in milliseconds; 15 s without it. A database that hangs must not hang its callers. */
  readonly timeoutMs?: number
}

export type BatchOptions = QueryOptions & {
  readonly isolation?: Isolation
  readonly readOnly?: boolean
  /** Only with `readOnly` and `Serializable`: waits for a moment without conflicts. */
  readonly deferrable?: boolean
}

/**
 * A database. Cells arrive as: int8, numeric, money: text; timestamptz: Date; json, jsonb: value; bytea: Buffer; arrays:
 * arrays; the rest as node-postgres has it.
 *
 * All methods throw {@link DatabaseError} (a statement was refused) or {@link DatabaseDownError} (try again later).
 */
export type Sql = {
  /** One statement, one HTTP request, committed on its own. */
  readonly query: <Row = Record<string, unknown>>(
    text: string,
    params?: readonly unknown[],
    options?: QueryOptions,
  ) => Promise<Row[]>
  /** Statements of one transaction in one HTTP request: all or nothing. */
  readonly batch: (statements: readonly Statement[], options?: BatchOptions) => Promise<Record<string, unknown>[][]>
  /**
   * A session of its own, opened for `work` and ended after it, for what a single request cannot do: transactions with
   * a decision in between, `SET ROLE`, procedures that commit. Nothing is begun or committed on the caller's behalf.
   */
  readonly interactive: <T>(work: (client: Client) => Promise<T>) => Promise<T>
}

/** Waits before the second and third try of a read: long enough for an embedded engine to be opened again (0.2 to 0.5 s). */
const retryWaitsMs = [150, 600]
const defaultTimeoutMs = 15_000
/** A goodbye that takes longer than this is not waited for. */
const endWaitMs = 1_000

/**
 * A client for a database URL; see {@link parseDatabaseUrl}. Cheap, holds no connection, may be made per request.
 *
 * @throws {DatabaseUrlError} the URL cannot be used
 */
export function createSql(databaseUrl: string): Sql {
  const address = parseDatabaseUrl(databaseUrl)
  // The warning is about secrets in browsers; this code runs in Workers and Node only.
  const http = neon(address.url, { disableWarningInBrowsers: true })

  return {
    query: <Row>(text: string, params: readonly unknown[] = [], options: QueryOptions = {}) =>
      attempt((signal) => http.query(text, [...params], { fetchOptions: { signal } }) as Promise<Row[]>, options),

    batch: (statements, { isolation, readOnly, deferrable, ...options } = {}) => {
      if (statements.length === 0) return Promise.resolve([])
      return attempt(
        (signal) =>
          http.transaction(
            statements.map(({ text, params = [] }) => http.query(text, [...params])),
            {
              fetchOptions: { signal },
              ...(isolation !== undefined && { isolationLevel: isolation }),
              ...(readOnly !== undefined && { readOnly }),
              ...(deferrable !== undefined && { deferrable }),
            },
          ) as Promise<Record<string, unknown>[][]>,
        options,
      )
    },

    interactive: async (work) => {
      const client = new Client(address.url)
      if (address.plain !== undefined) {
        const { neonConfig } = client
        neonConfig.wsProxy = `${address.plain}/v2`
        neonConfig.useSecureWebSocket = false
        neonConfig.pipelineConnect = false
      }
      // A lost connection rejects the query that is under way; without a listener it would end the process as well.
      let lost: unknown
      client.on('error', (error) => {
        lost ??= error
      })
      try {
        await client.connect()
        return await work(client)
      } catch (error) {
        throw toDatabaseError(lost !== undefined && !isSqlError(error) ? lost : error)
      } finally {
        await settledWithin(client.end(), endWaitMs)
      }
    },
  }
}

async function attempt<T>(
  send: (signal: AbortSignal) => Promise<T>,
  { retry = false, timeoutMs = defaultTimeoutMs }: QueryOptions,
): Promise<T> {
  for (const waitMs of [...(retry ? retryWaitsMs : []), undefined]) {
    try {
      return await send(AbortSignal.timeout(timeoutMs))
    } catch (cause) {
      const error = toDatabaseError(cause)
      if (waitMs === undefined || !(error instanceof DatabaseDownError)) throw error
      await sleep(waitMs)
    }
  }
  throw new DatabaseDownError('the database cannot be reached') // not reached: the last try returns or throws
}

const isSqlError = (error: unknown): boolean => typeof (error as { code?: unknown } | undefined)?.code === 'string'

async function settledWithin(work: Promise<unknown>, limitMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs)
  })
  await Promise.race([work.catch(() => undefined), limit])
  clearTimeout(timer)
}

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))
