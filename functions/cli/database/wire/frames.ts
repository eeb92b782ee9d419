import { type ErrorField, type ErrorFields, errorFieldTypes } from '../sql-error.ts'

// Messages of the frontend/backend protocol 3.0: a type byte, the length as int32 (without the type byte), the body.
// https://www.postgresql.org/docs/current/protocol-message-formats.html

/** A whole message with its type byte and length. */
export type Frame = Buffer

export const headerBytes = 5

/** Type bytes of what clients send. */
export const request = {
  query: 0x51, // Q
  parse: 0x50, // P
  bind: 0x42, // B
  describe: 0x44, // D
  execute: 0x45, // E
  close: 0x43, // C
  sync: 0x53, // S
  flush: 0x48, // H
  functionCall: 0x46, // F
  copyData: 0x64, // d
  copyDone: 0x63, // c
  copyFail: 0x66, // f
  password: 0x70, // p
  terminate: 0x58, // X
} as const

/** Type bytes of what servers answer. */
export const answer = {
  authentication: 0x52, // R
  parameterStatus: 0x53, // S
  backendKeyData: 0x4b, // K
  readyForQuery: 0x5a, // Z
  commandComplete: 0x43, // C
  emptyQuery: 0x49, // I
  portalSuspended: 0x73, // s
  error: 0x45, // E
  notice: 0x4e, // N
  notification: 0x41, // A
  rowDescription: 0x54, // T
  noData: 0x6e, // n
  dataRow: 0x44, // D
  parseComplete: 0x31, // 1
  bindComplete: 0x32, // 2
  closeComplete: 0x33, // 3
  copyIn: 0x47, // G
  copyData: 0x64, // d
  copyBoth: 0x57, // W
} as const

/** What ReadyForQuery says: idle, in a transaction, in a failed transaction. */
export type TransactionStatus = 'I' | 'T' | 'E'

/** A message of `type` from parts of its body; texts are written as UTF-8 without a terminator. */
export function frame(type: number, ...parts: readonly (Uint8Array | string)[]): Frame {
  const body = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))
  const size = body.reduce((sum, part) => sum + part.byteLength, 0)
  const out = Buffer.allocUnsafe(headerBytes + size)
  out.writeUInt8(type, 0)
  out.writeInt32BE(4 + size, 1)
  let at = headerBytes
  for (const part of body) {
    out.set(part, at)
    at += part.byteLength
  }
  return out
}

export const int16 = (value: number): Buffer => {
  const out = Buffer.allocUnsafe(2)
  out.writeUInt16BE(value)
  return out
}

export const int32 = (value: number): Buffer => {
  const out = Buffer.allocUnsafe(4)
  out.writeInt32BE(value)
  return out
}

/** A text with the terminating zero byte; `value` must not hold one. */
export const cstring = (value: string): Buffer => Buffer.from(`${value}\0`)

// --- what clients send

export const queryFrame = (text: string): Frame => frame(request.query, cstring(text))
export const parseFrame = (name: string, text: string): Frame =>
  frame(request.parse, cstring(name), cstring(text), int16(0))
export const executeFrame = (portal = ''): Frame => frame(request.execute, cstring(portal), int32(0))
export const describePortalFrame = (portal = ''): Frame => frame(request.describe, 'P', cstring(portal))
export const closeStatementFrame = (name: string): Frame => frame(request.close, 'S', cstring(name))
export const syncFrame: Frame = frame(request.sync)
export const flushFrame: Frame = frame(request.flush)
export const copyFailFrame = (reason: string): Frame => frame(request.copyFail, cstring(reason))

/** Binds text parameters (null: NULL) to the unnamed portal, all results as text. */
export function bindFrame(statement: string, values: readonly (string | null)[]): Frame {
  const parts: (Uint8Array | string)[] = [cstring(''), cstring(statement), int16(0), int16(values.length)]
  for (const value of values) {
    if (value === null) {
      parts.push(int32(-1))
      continue
    }
    const bytes = Buffer.from(value)
    parts.push(int32(bytes.byteLength), bytes)
  }
  return frame(request.bind, ...parts, int16(0))
}

// --- what servers answer

export const authenticationFrame = (kind: number, ...data: readonly (Uint8Array | string)[]): Frame =>
  frame(answer.authentication, int32(kind), ...data)
export const parameterStatusFrame = (name: string, value: string): Frame =>
  frame(answer.parameterStatus, cstring(name), cstring(value))
export const backendKeyDataFrame = (processId: number, secretKey: number): Frame =>
  frame(answer.backendKeyData, int32(processId), int32(secretKey))
export const readyFrame = (status: TransactionStatus): Frame => frame(answer.readyForQuery, status)

export function errorFrame(fields: ErrorFields): Frame {
  const parts: Buffer[] = [cstring(`S${fields.severity}`), cstring(`V${fields.severity}`)]
  for (const [name, type] of Object.entries(errorFieldTypes)) {
    const value = fields[name as ErrorField]
    // A zero byte would end the field early; Postgres itself never sends one.
    if (name !== 'severity' && value !== undefined) parts.push(cstring(type + value.replaceAll('\0', '')))
  }
  return frame(answer.error, ...parts, '\0')
}

// --- reading

/** The text that starts at `at`, and the place after its terminating zero byte. */
export function readCString(frame: Uint8Array, at: number): { readonly text: string; readonly next: number } {
  const end = frame.indexOf(0, at)
  const stop = end < 0 ? frame.byteLength : end
  return { text: Buffer.from(frame.buffer, frame.byteOffset + at, stop - at).toString('utf8'), next: stop + 1 }
}

/** Fields of an ErrorResponse or NoticeResponse. */
export function readError(frame: Frame): ErrorFields {
  const fields: Record<string, string> = {}
  for (let at = headerBytes; at < frame.byteLength && frame[at] !== 0; ) {
    const type = String.fromCharCode(frame[at] as number)
    const { text, next } = readCString(frame, at + 1)
    const name = fieldNames.get(type)
    if (name !== undefined) fields[name] = text
    at = next
  }
  return { severity: 'ERROR', code: 'XX000', message: '', ...fields }
}

const fieldNames = new Map<string, string>(Object.entries(errorFieldTypes).map(([name, type]) => [type, name]))

export const readStatus = (ready: Frame): TransactionStatus =>
  String.fromCharCode(ready[headerBytes] as number) as TransactionStatus

/** The tag of a CommandComplete, such as `INSERT 0 1`. */
export const readTag = (complete: Frame): string => readCString(complete, headerBytes).text

/** Cells of a DataRow as text, null for NULL. */
export function readRow(row: Frame): (string | null)[] {
  const cells = new Array<string | null>(row.readUInt16BE(headerBytes))
  let at = headerBytes + 2
  for (let index = 0; index < cells.length; index++) {
    const length = row.readInt32BE(at)
    at += 4
    cells[index] = length < 0 ? null : row.toString('utf8', at, at + length)
    if (length > 0) at += length
  }
  return cells
}

/** A column of a RowDescription, named as node-postgres and the Neon endpoint name it. */
export type Field = {
  readonly name: string
  readonly dataTypeID: number
  readonly tableID: number
  readonly columnID: number
  readonly dataTypeSize: number
  readonly dataTypeModifier: number
  readonly format: 'text' | 'binary'
}

export function readFields(description: Frame): Field[] {
  const fields: Field[] = []
  let at = headerBytes + 2
  for (let left = description.readUInt16BE(headerBytes); left > 0; left--) {
    const { text: name, next } = readCString(description, at)
    fields.push({
      name,
      dataTypeID: description.readUInt32BE(next + 6),
      tableID: description.readUInt32BE(next),
      columnID: description.readInt16BE(next + 4),
      dataTypeSize: description.readInt16BE(next + 10),
      dataTypeModifier: description.readInt32BE(next + 12),
      format: description.readInt16BE(next + 16) === 0 ? 'text' : 'binary',
    })
    at = next + 18
  }
  return fields
}
