import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../../../../shared/kernel/errors.ts'
import type { DatabaseBackend } from '../backend.ts'
import { type ErrorField, errorFieldTypes, fatalError, SqlError } from '../sql-error.ts'
import { type Credentials, type Startup, sameText } from '../wire/startup.ts'
import { ResponseTooLargeError, type Result, runStatements, type Statement } from './run-statements.ts'
import { parseJson, toJson, toParameter } from './values.ts'

// POST /sql as neondatabase/serverless calls it and neondatabase/neon answers it (proxy/src/serverless/sql_over_http.rs).

/** Of a request's body, and of the rows of an answer. */
export const mostBodyBytes = 10 << 20

/** The request is not one that can be run. Told as a 400 without SQLSTATE. */
class InvalidRequestError extends Error {
  override readonly name = 'InvalidRequestError'
}

/** The body is larger than is read. */
class RequestTooLargeError extends Error {
  override readonly name = 'RequestTooLargeError'
}

const isolationLevels: Readonly<Record<string, string>> = {
  Serializable: 'SERIALIZABLE',
  ReadUncommitted: 'READ UNCOMMITTED',
  ReadCommitted: 'READ COMMITTED',
  RepeatableRead: 'REPEATABLE READ',
}

type Query = Statement & { readonly arrayMode: boolean }

/** What the headers say of the form of the answer. */
type Form = { readonly rawText: boolean; readonly arrayMode: boolean }

/** Answers one request for `/sql`; all failures become answers. */
export async function answerSql(
  request: IncomingMessage,
  response: ServerResponse,
  backend: DatabaseBackend,
  credentials: Credentials,
): Promise<void> {
  try {
    const { body, headers } = await run(request, response, backend, credentials)
    send(response, 200, body, headers)
  } catch (error) {
    const { status, body } = failure(error)
    // What is left of a body that was refused is not read: the connection ends.
    send(response, status, body, error instanceof RequestTooLargeError ? { connection: 'close' } : {})
  }
}

async function run(
  request: IncomingMessage,
  response: ServerResponse,
  backend: DatabaseBackend,
  credentials: Credentials,
): Promise<{ body: unknown; headers: Record<string, string> }> {
  const startup = authenticate(header(request, 'neon-connection-string'), credentials)
  const form: Form = {
    rawText: header(request, 'neon-raw-text-output') === 'true',
    arrayMode: header(request, 'neon-array-mode') === 'true',
  }
  const batch = batchOptions(request)
  const body = parseBody(await readBody(request))
  const queries = body.queries === undefined ? [toQuery(body, '', form)] : toQueries(body.queries, form)
  const begin = body.queries === undefined ? undefined : batch.begin
  if (response.destroyed) throw new InvalidRequestError('the client has left')
  const loan = await backend.lend(startup)
  // Nobody waits any more for what a client that has left had asked.
  const leave = () => loan.cancel()
  response.once('close', leave)
  try {
    const results = await runStatements(loan, queries, begin, mostBodyBytes)
    const answers = results.map((result, index) => toAnswer(result, queries[index] as Query, form))
    return begin === undefined ? { body: answers[0], headers: {} } : { body: { results: answers }, headers: batch.echo }
  } finally {
    response.off('close', leave)
  }
}

/** @throws {SqlError} code 28P01, or 08001 for what is no connection string */
function authenticate(text: string | undefined, { user, password }: Credentials): Startup {
  if (text === undefined) throw fatalError('28P01', 'the header Neon-Connection-String is missing')
  let url: URL
  let given: { user: string; password: string; database: string }
  try {
    url = new URL(text)
    if (!/^postgres(ql)?:$/.test(url.protocol)) throw new Error('not a PostgreSQL URL')
    given = {
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      database: decodeURIComponent(url.pathname.slice(1)),
    }
  } catch {
    throw fatalError('08001', 'the header Neon-Connection-String is not postgresql://user:password@host/database')
  }
  // Both are compared, so that a wrong name takes as long as a wrong password.
  const rightPassword = sameText(given.password, password)
  if (!sameText(given.user, user) || !rightPassword)
    throw fatalError('28P01', `password authentication failed for user "${given.user}"`)
  const settings = new Map<string, string>()
  const name = url.searchParams.get('application_name')
  if (name) settings.set('application_name', name)
  return {
    user: given.user,
    database: given.database || given.user,
    options: url.searchParams.get('options') ?? '',
    settings,
  }
}

/** @throws {InvalidRequestError} */
function batchOptions(request: IncomingMessage): { begin: string; echo: Record<string, string> } {
  const isolation = header(request, 'neon-batch-isolation-level')
  const level = isolation === undefined ? undefined : isolationLevels[isolation]
  if (isolation !== undefined && level === undefined) {
    throw new InvalidRequestError(
      `invalid isolation level: expected ${Object.keys(isolationLevels).join(', ')}, given ${isolation.slice(0, 100)}`,
    )
  }
  const readOnly = header(request, 'neon-batch-read-only') === 'true'
  const deferrable = header(request, 'neon-batch-deferrable') === 'true'
  const begin = ['START TRANSACTION']
  if (level !== undefined) begin.push('ISOLATION LEVEL', level)
  if (readOnly) begin.push('READ ONLY')
  if (deferrable) begin.push('DEFERRABLE')
  return {
    begin: begin.join(' '),
    echo: {
      ...(isolation !== undefined && { 'neon-batch-isolation-level': isolation }),
      ...(readOnly && { 'neon-batch-read-only': 'true' }),
      ...(deferrable && { 'neon-batch-deferrable': 'true' }),
    },
  }
}

const header = (request: IncomingMessage, name: string): string | undefined => {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** @throws {RequestTooLargeError} as soon as it is known */
async function readBody(request: IncomingMessage): Promise<string> {
  if (Number(request.headers['content-length']) > mostBodyBytes) throw new RequestTooLargeError()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.byteLength
    if (size > mostBodyBytes) throw new RequestTooLargeError()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

type Body = { readonly [name: string]: unknown }

function parseBody(text: string): Body {
  let body: unknown
  try {
    body = parseJson(text)
  } catch (error) {
    throw new InvalidRequestError(`the body is not JSON: ${(error as Error).message}`)
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new InvalidRequestError(`the body: expected {"query", "params"} or {"queries"}, given ${typeName(body)}`)
  return body as Body
}

function toQueries(queries: unknown, form: Form): Query[] {
  if (!Array.isArray(queries)) throw new InvalidRequestError(`queries: expected an array, given ${typeName(queries)}`)
  return queries.map((query: unknown, index) => {
    if (typeof query !== 'object' || query === null || Array.isArray(query))
      throw new InvalidRequestError(`queries[${index}]: expected {"query", "params"}, given ${typeName(query)}`)
    return toQuery(query as Body, `queries[${index}].`, form)
  })
}

function toQuery({ query, params = [], arrayMode }: Body, at: string, form: Form): Query {
  if (typeof query !== 'string') throw new InvalidRequestError(`${at}query: expected a text, given ${typeName(query)}`)
  if (query.includes('\0')) throw new InvalidRequestError(`${at}query: a zero character is no part of SQL`)
  if (!Array.isArray(params)) throw new InvalidRequestError(`${at}params: expected an array, given ${typeName(params)}`)
  if (params.length > 65_535)
    throw new InvalidRequestError(`${at}params: expected at most 65535 values, given ${params.length}`)
  if (arrayMode !== undefined && arrayMode !== null && typeof arrayMode !== 'boolean')
    throw new InvalidRequestError(`${at}arrayMode: expected true or false, given ${typeName(arrayMode)}`)
  return {
    query,
    params: params.map(toParameter),
    arrayMode: typeof arrayMode === 'boolean' ? arrayMode : form.arrayMode,
  }
}

const typeName = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'an array' : value === undefined ? 'nothing' : `a ${typeof value}`

function toAnswer({ fields, rows, tag }: Result, { arrayMode }: Query, { rawText }: Form) {
  const words = tag.split(' ')
  const last = words.at(-1) ?? ''
  const cells: unknown[][] = rawText
    ? rows
    : rows.map((row) => row.map((cell, index) => toJson(cell, fields[index]?.dataTypeID ?? 0)))
  return {
    fields,
    rows: arrayMode
      ? cells
      : cells.map((row) => Object.fromEntries(row.map((cell, index) => [fields[index]?.name, cell]))),
    command: words[0],
    rowCount: words.length > 1 && /^\d+$/.test(last) ? Number(last) : null,
    rowAsArray: arrayMode,
  }
}

const errorFields = ['message', ...Object.keys(errorFieldTypes).filter((name) => name !== 'message')] as ErrorField[]

const errorBody = (fields: { readonly [name in ErrorField]?: string }) =>
  Object.fromEntries(errorFields.map((name) => [name, fields[name] ?? null]))

function failure(error: unknown): { status: number; body: unknown } {
  if (error instanceof SqlError) return { status: 400, body: errorBody(error.fields) }
  if (error instanceof InvalidRequestError) return { status: 400, body: errorBody({ message: error.message }) }
  if (error instanceof RequestTooLargeError)
    return { status: 413, body: { message: `the request is larger than ${mostBodyBytes} bytes` } }
  if (error instanceof ResponseTooLargeError)
    return { status: 507, body: { message: `response is too large (max is ${mostBodyBytes} bytes)` } }
  return { status: 500, body: { message: error instanceof AppError ? error.message : 'internal error' } }
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string>): void {
  if (response.destroyed) return
  const bytes = Buffer.from(JSON.stringify(body))
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': bytes.byteLength,
    ...headers,
  })
  response.end(bytes)
}
