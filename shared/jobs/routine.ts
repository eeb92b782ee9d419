/** A function or procedure of the database by name. */
export type Routine = { readonly schema: string; readonly name: string }

const identifier = /(?:"((?:[^"\0]|"")+)"|([A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*))/y

/** Reads `schema.name` as Postgres does: names without quotes are folded to lower case. Undefined when it is not two names. */
export function parseRoutine(text: string): Routine | undefined {
  const schema = identifierAt(text, 0)
  if (!schema || text[schema.end] !== '.') return undefined
  const name = identifierAt(text, schema.end + 1)
  return name?.end === text.length ? { schema: schema.value, name: name.value } : undefined
}

function identifierAt(text: string, at: number): { value: string; end: number } | undefined {
  identifier.lastIndex = at
  const found = identifier.exec(text)
  if (!found) return undefined
  const [, quoted, plain] = found
  const value = quoted === undefined ? foldAscii(plain ?? '') : quoted.replaceAll('""', '"')
  // Postgres would cut a longer name (63 bytes) silently, and then mean another routine.
  return new TextEncoder().encode(value).length <= 63 ? { value, end: identifier.lastIndex } : undefined
}

/** Postgres folds A to Z only in a UTF-8 database. */
const foldAscii = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** A name as an identifier that is safe in any statement. */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** A text as a literal, the same whatever `standard_conforming_strings` says. */
export const quoteLiteral = (text: string): string => {
  const quoted = `'${text.replaceAll("'", "''")}'`
  return text.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted
}

export const quoteRoutine = ({ schema, name }: Routine): string => `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`

const plainName = /^[a-z_][a-z0-9_$]*$/

/** `schema.name`, quoted only where {@link parseRoutine} needs it. */
export const formatRoutine = ({ schema, name }: Routine): string =>
  [schema, name].map((part) => (plainName.test(part) ? part : quoteIdentifier(part))).join('.')
