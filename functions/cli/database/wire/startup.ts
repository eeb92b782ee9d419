import { timingSafeEqual } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { fatalError, SqlError } from '../sql-error.ts'
import {
  answer,
  authenticationFrame,
  cstring,
  errorFrame,
  type Frame,
  frame,
  headerBytes,
  int32,
  readCString,
  request,
} from './frames.ts'
import { hasBytes, readExactly } from './read-exactly.ts'
import { ScramExchange, type ScramVerifier, scramMechanism } from './scram.ts'

/** What a client asked for when it connected, its password checked. */
export type Startup = {
  readonly user: string
  readonly database: string
  /** Raw `options`, such as `-c search_path=a`. */
  readonly options: string
  /** Run-time parameters by name, as sent. */
  readonly settings: ReadonlyMap<string, string>
}

export type CancelKey = { readonly processId: number; readonly secretKey: number }

export type Greeting =
  | { readonly kind: 'session'; readonly startup: Startup }
  | { readonly kind: 'cancel'; readonly key: CancelKey }
  | { readonly kind: 'gone' }

/** Whom the endpoint lets in. */
export type Credentials = { readonly user: string; readonly password: string; readonly verifier: ScramVerifier }

// Codes that stand where the protocol version stands.
const cancelCode = 80877102
const sslCode = 80877103
const gssCode = 80877104
/** MAX_STARTUP_PACKET_LENGTH of the server. */
const mostStartupBytes = 10_000
const mostPasswordBytes = 64_000

/**
 * Reads the start of a wire connection and checks the password: by SCRAM-SHA-256, or in clear text when the client has
 * sent one unasked (the Neon driver's `pipelineConnect`; the connection never leaves this machine).
 *
 * AuthenticationOk is left to the caller, who may yet fail to open a session. The stream is left paused.
 *
 * @throws {SqlError} the reason to refuse, to be told to the client
 */
export async function greet(stream: Duplex, credentials: Credentials): Promise<Greeting> {
  for (;;) {
    const head = await readExactly(stream, 8)
    if (!head) return { kind: 'gone' }
    const length = head.readInt32BE(0)
    const code = head.readInt32BE(4)
    if (length < 8 || length > mostStartupBytes) throw protocolError('invalid length of startup packet')
    const body = await readExactly(stream, length - 8)
    if (!body) return { kind: 'gone' }
    if (code === sslCode || code === gssCode) {
      // Bytes sent before the answer would be read as if they had come encrypted (CVE-2021-23222).
      if (hasBytes(stream)) throw protocolError('received unencrypted data after an encryption request')
      stream.write('N')
      continue
    }
    if (code === cancelCode) {
      if (body.byteLength < 8) return { kind: 'gone' }
      return { kind: 'cancel', key: { processId: body.readInt32BE(0), secretKey: body.readInt32BE(4) } }
    }
    const [major, minor] = [code >>> 16, code & 0xffff]
    if (major !== 3)
      throw fatalError('0A000', `unsupported frontend protocol ${major}.${minor}: server supports 3.0 to 3.0`)
    const parameters = readParameters(body)
    const unknown = [...parameters.keys()].filter((name) => name.startsWith('_pq_.'))
    if (minor > 0 || unknown.length > 0) stream.write(negotiateFrame(unknown))
    const startup = toStartup(parameters)
    await checkPassword(stream, startup.user, credentials)
    return { kind: 'session', startup }
  }
}

function readParameters(body: Buffer): Map<string, string> {
  const parameters = new Map<string, string>()
  for (let at = 0; at < body.byteLength && body[at] !== 0; ) {
    const name = readCString(body, at)
    const value = readCString(body, name.next)
    parameters.set(name.text, value.text)
    at = value.next
  }
  return parameters
}

function toStartup(parameters: ReadonlyMap<string, string>): Startup {
  const user = parameters.get('user')
  if (!user) throw fatalError('28000', 'no PostgreSQL user name specified in startup packet')
  const replication = parameters.get('replication')
  if (replication !== undefined && !/^(off|false|no|0)$/i.test(replication))
    throw fatalError('0A000', 'replication connections are not supported')
  const own = new Set(['user', 'database', 'options', 'replication'])
  return {
    user,
    database: parameters.get('database') || user,
    options: parameters.get('options') ?? '',
    settings: new Map([...parameters].filter(([name]) => !own.has(name) && !name.startsWith('_pq_.'))),
  }
}

/** NegotiateProtocolVersion: 3.0 is the newest spoken here, and these options are not known. */
const negotiateFrame = (unknown: readonly string[]): Frame =>
  frame(0x76, int32(3 << 16), int32(unknown.length), ...unknown.map(cstring))

// Request codes of Authentication messages.
const ask = { cleartext: 3, sasl: 10, saslContinue: 11, saslFinal: 12 }

async function checkPassword(stream: Duplex, user: string, { user: expected, password, verifier }: Credentials) {
  const refused = fatalError('28P01', `password authentication failed for user "${user}"`)
  if (hasBytes(stream)) {
    stream.write(authenticationFrame(ask.cleartext))
    const given = readCString(await passwordMessage(stream), headerBytes).text
    if (!sameText(given, password) || user !== expected) throw refused
    return
  }
  stream.write(authenticationFrame(ask.sasl, cstring(scramMechanism), '\0'))
  const initial = await passwordMessage(stream)
  const { text: mechanism, next } = readCString(initial, headerBytes)
  if (mechanism !== scramMechanism || initial.byteLength < next + 4)
    throw protocolError('client selected an invalid SASL authentication mechanism')
  const exchange = new ScramExchange(verifier)
  const first = exchange.first(initial.toString('utf8', next + 4))
  if (first === undefined) throw protocolError('malformed SCRAM message')
  stream.write(authenticationFrame(ask.saslContinue, first))
  const final = exchange.final((await passwordMessage(stream)).toString('utf8', headerBytes))
  // The user is checked last, so that a wrong name takes as long as a wrong password.
  if (final === undefined || user !== expected) throw refused
  stream.write(authenticationFrame(ask.saslFinal, final))
}

async function passwordMessage(stream: Duplex): Promise<Frame> {
  const head = await readExactly(stream, headerBytes)
  const length = head?.readInt32BE(1) ?? 0
  if (head && head[0] !== request.password)
    throw protocolError(`expected password response, got message type ${head[0]}`)
  if (head && (length < 4 || length > mostPasswordBytes)) throw protocolError('invalid length of password response')
  const body = head && (await readExactly(stream, length - 4))
  if (!body) throw new GoneError()
  return Buffer.concat([head, body])
}

/** The client went away before it had answered; there is nobody to tell. */
export class GoneError extends Error {
  override readonly name = 'GoneError'
}

/** Whether two texts are equal, in a time that does not tell where they differ. */
export function sameText(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)]
  return left.byteLength === right.byteLength && timingSafeEqual(left, right)
}

const protocolError = (message: string): SqlError => fatalError('08P01', message)

/** Tells a client why its session ends, and ends it. */
export function refuse(stream: Duplex, error: unknown): void {
  if (error instanceof SqlError) stream.end(errorFrame({ ...error.fields, severity: 'FATAL' }))
  else stream.destroy()
}

/** What the server says once a session is open. */
export const welcomeFrames = (parameters: ReadonlyMap<string, string>, { processId, secretKey }: CancelKey): Frame =>
  Buffer.concat([
    authenticationFrame(0),
    ...[...parameters].map(([name, value]) => frame(answer.parameterStatus, cstring(name), cstring(value))),
    frame(answer.backendKeyData, int32(processId), int32(secretKey)),
    frame(answer.readyForQuery, 'I'),
  ])
