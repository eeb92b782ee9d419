import { splitStatements } from '../../../../shared/kernel/sql/split.ts'
import { type Frame, headerBytes, readCString } from '../wire/frames.ts'
import type { ListenStep, SessionMemory } from './session-memory.ts'

// What the endpoint reads in statements. It never decides by that what a statement does: the engine is asked afterwards.
// What is read here only says that asking is worth it, so that most statements cost nothing.

/** Words of statements that leave something behind, or that depend on what was left. */
const telling =
  /set_config|statement_timeout|session\s+authorization|idle_in_transaction|listen|execute|deallocate|prepare|temp|cursor|\breset\b|discard|\bset\b[^;=]*\./i

export const isTelling = (text: string): boolean => telling.test(text)

export type Observation = {
  /** A timeout may be another afterwards. */
  readonly limits: boolean
  /** Prepared statements are called by name in SQL. */
  readonly names: boolean
  /** Parameters that are reset; `all`: all. */
  readonly resets: readonly string[]
  /** The session's user goes back to that of the start-up. */
  readonly resetsIdentity: boolean
}

const nothing: Observation = { limits: false, names: false, resets: [], resetsIdentity: false }

/** Notes what a statement that is about to run may leave; `values` are its parameters. */
export function observe(text: string, values: readonly (string | null)[], memory: SessionMemory): Observation {
  if (!isTelling(text)) return nothing
  const limits = [text, ...values].some((part) => part !== null && /statement_timeout|idle_in_transaction/i.test(part))
  if (/\bset\b|set_config/i.test(text)) {
    memory.settingsTouched = true
    noteCustomNames(text, values, memory)
  }
  if (/\bcursor\b/i.test(text)) memory.objectsTouched = true
  if (/\b(pg_)?temp(orary)?\b/i.test(text)) memory.temporaryTouched = true
  if (/\b(un)?listen\b/i.test(text)) memory.listenSteps.push(...listenSteps(text))
  return {
    limits: limits || /\breset\b|discard/i.test(text),
    names: /\b(execute|deallocate|prepare|pg_prepared_statements)\b/i.test(text),
    resets: memory.startSettings.size > 0 ? resetNames(text) : [],
    resetsIdentity: /\b(reset\s+session\s+authorization|session\s+authorization\s+default|discard\s+all)\b/i.test(text),
  }
}

const resetNames = (text: string): string[] =>
  [...text.matchAll(/\b(?:reset|discard)\s+"?([\w$.]+)/gi)].map(([, name]) => (name as string).toLowerCase())

/** A session with more custom parameters than this is not one of a person. */
const mostCustomNames = 200

function noteCustomNames(text: string, values: readonly (string | null)[], { customNames }: SessionMemory): void {
  const dotted = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*(?:\.[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)+/g
  for (const part of [text, ...values]) {
    if (part === null || part.length > 100_000) continue
    for (const [name] of part.matchAll(dotted))
      if (customNames.size < mostCustomNames) customNames.add(name.toLowerCase())
  }
}

function listenSteps(text: string): ListenStep[] {
  const found = text.matchAll(/\b(un)?listen\s+(?:(\*)|"((?:[^"]|"")+)"|([A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*))/gi)
  return [...found].map(([, un, all, quoted, plain]) => ({
    listen: un === undefined,
    channel: all ? undefined : (quoted?.replaceAll('""', '"') ?? plain?.toLowerCase()),
  }))
}

/**
 * The timeout in milliseconds that a single statement is about to set by a literal or a parameter; undefined: none, or
 * not to be told from its text.
 */
export function announcedTimeoutMs(statement: string, values: readonly (string | null)[] = []): number | undefined {
  const found = /\bstatement_timeout["']?\s*(?:=|,|\bto\b)\s*(?:'([^']*)'|(\d+)|\$(\d+))/i.exec(statement)
  if (found) {
    const [, quoted, bare, parameter] = found
    return parseDurationMs(quoted ?? bare ?? values[Number(parameter) - 1] ?? '')
  }
  // set_config($1, $2, ...) with the name as a parameter
  const at = values.findIndex((value) => value?.toLowerCase() === 'statement_timeout')
  return at >= 0 && /set_config/i.test(statement) ? parseDurationMs(values[at + 1] ?? '') : undefined
}

/**
 * The statements of a script whose statements have to be timed one by one: there are several, and a timeout is in force
 * or is set by one of them. Undefined: no such script, or one that copies data in, which only a Query can do amid others.
 */
export function timedStatements(script: string, hasLimit: boolean): string[] | undefined {
  if (!script.includes(';') || !(hasLimit || /statement_timeout/i.test(script)) || /\bstdin\b/i.test(script))
    return undefined
  try {
    const statements = splitStatements(script)
    return statements.length > 1 ? statements : undefined
  } catch {
    return undefined // the engine will refuse it
  }
}

const unitMs: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Milliseconds of a time parameter as Postgres takes and shows it: `5000`, `10s`, `1min`; undefined: it would be refused. */
export function parseDurationMs(text: string): number | undefined {
  const found = /^\s*(\d+(?:\.\d+)?)\s*(us|ms|s|min|h|d)?\s*$/.exec(text)
  return found ? Math.round(Number(found[1]) * (unitMs[found[2] ?? 'ms'] as number)) : undefined
}

/** Longer values are no names or times. */
const mostValueBytes = 300

/** Text parameters of a Bind message; null for NULL, binary and long ones. */
export function readBind(frame: Frame): {
  readonly portal: string
  readonly statement: string
  readonly values: (string | null)[]
} {
  const portal = readCString(frame, headerBytes)
  const statement = readCString(frame, portal.next)
  let at = statement.next
  const formats = Array.from({ length: frame.readUInt16BE(at) }, (_, index) => frame.readUInt16BE(at + 2 + 2 * index))
  at += 2 + 2 * formats.length
  const values = new Array<string | null>(frame.readUInt16BE(at))
  at += 2
  for (let index = 0; index < values.length; index++) {
    const length = frame.readInt32BE(at)
    at += 4
    const format = formats.length === 1 ? formats[0] : (formats[index] ?? 0)
    values[index] =
      length < 0 || length > mostValueBytes || format !== 0 ? null : frame.toString('utf8', at, at + length)
    if (length > 0) at += length
  }
  return { portal: portal.text, statement: statement.text, values }
}
