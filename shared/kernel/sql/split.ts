import { AppError } from '../errors.ts'

/** A script ends inside a string, a quoted name, a comment, parentheses or a routine's body. */
export class UnterminatedSqlError extends AppError {
  override readonly name = 'UnterminatedSqlError'
  readonly code = 'sql.unterminated'
  readonly status = 400
}

// Sticky, so that a token is tried at one place. Sources: PostgreSQL, "Lexical Structure"; psqlscan.l for what makes a
// semicolon the end of a statement.
const blank = /\s+/y
const lineComment = /--[^\n]*/y
const word = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y
const dollarTag = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y
const number = /\d[\w.]*/y
const escapeString = /[eE]'[^'\\]*(?:(?:\\[\s\S]|'')[^'\\]*)*'/y
const plainString = /'[^']*(?:''[^']*)*'/y
const quotedName = /"[^"]*(?:""[^"]*)*"/y

/**
 * Splits a script into its statements, without the semicolons, as psql does: not inside strings, quoted names, comments
 * (which nest), dollar quotes, parentheses, or the BEGIN ATOMIC ... END body of a routine. What has comments only is
 * left out. Assumes `standard_conforming_strings = on`, the default.
 *
 * @throws {UnterminatedSqlError} names what is open and the line where it began
 */
export function splitStatements(script: string): string[] {
  const statements: string[] = []
  let start = 0
  let at = 0
  let words: string[] = []
  let hasToken = false
  const open: { what: string; at: number }[] = []

  const take = (token: RegExp): string | undefined => {
    token.lastIndex = at
    const found = token.exec(script)?.[0]
    if (found !== undefined) at += found.length
    return found
  }
  const unterminated = (what: string, from: number): UnterminatedSqlError => {
    const line = script.slice(0, from).split('\n').length
    return new UnterminatedSqlError(`the SQL text ends inside ${what} that begins on line ${line}`, { line })
  }
  const finish = (end: number) => {
    if (hasToken) statements.push(script.slice(start, end).trim())
    words = []
    hasToken = false
  }

  while (at < script.length) {
    const from = at
    if (take(blank) !== undefined || take(lineComment) !== undefined) continue
    if (script.startsWith('/*', at)) {
      at = endOfComment(script, at)
      if (at < 0) throw unterminated('a comment', from)
      continue
    }
    if (script[at] === ';' && open.length === 0) {
      finish(at)
      at += 1
      start = at
      continue
    }
    hasToken = true
    if (take(escapeString) !== undefined || take(plainString) !== undefined || take(quotedName) !== undefined) continue
    const name = take(word)
    if (name !== undefined) {
      // An opening quote right after E belongs to a string that did not end.
      if (/^e$/i.test(name) && script[at] === "'") throw unterminated('a string', from)
      trackBody(name.toLowerCase(), from)
      continue
    }
    if (take(number) !== undefined) continue
    const tag = take(dollarTag)
    if (tag !== undefined) {
      const end = script.indexOf(tag, at)
      if (end < 0) throw unterminated(`the ${tag} string`, from)
      at = end + tag.length
      continue
    }
    const character = script[at]
    if (character === "'") throw unterminated('a string', from)
    if (character === '"') throw unterminated('a quoted name', from)
    if (character === '(') open.push({ what: 'a parenthesis', at: from })
    // A closing one too many is the server's to refuse.
    if (character === ')' && open.at(-1)?.what === 'a parenthesis') open.pop()
    at += 1
  }
  const left = open.at(-1)
  if (left) throw unterminated(left.what, left.at)
  finish(script.length)
  return statements

  /** BEGIN opens a body only in CREATE [OR REPLACE] FUNCTION | PROCEDURE, where CASE ... END nests too. */
  function trackBody(name: string, from: number): void {
    if (words.length < 4) words.push(name)
    if (
      open.some(({ what }) => what === 'a parenthesis') ||
      !/^create (or replace )?(function|procedure)\b/.test(words.join(' '))
    )
      return
    if (name === 'begin' || (name === 'case' && open.length > 0)) open.push({ what: 'a routine body', at: from })
    if (name === 'end' && open.length > 0) open.pop()
  }
}

/** The place after a comment, which may hold comments; -1 when it does not end. */
function endOfComment(script: string, from: number): number {
  let depth = 0
  const mark = /\/\*|\*\//g
  mark.lastIndex = from
  for (let found = mark.exec(script); found; found = mark.exec(script)) {
    depth += found[0] === '/*' ? 1 : -1
    if (depth === 0) return mark.lastIndex
  }
  return -1
}
