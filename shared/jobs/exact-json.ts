// JSON whose numbers keep all their digits: token ids of 77 digits and prices of 20 go through, where JSON.parse alone
// would round them. Uses the source text of JSON.parse and JSON.rawJSON (ECMAScript proposal "JSON.parse source text
// access", in V8 since 11.4), which the type library does not know yet.

type RawJson = { readonly rawJSON: string }

const exact = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  rawJSON(text: string): RawJson
  isRawJSON(value: unknown): value is RawJson
}

/** @throws {SyntaxError} the text is not JSON */
export const parseExact = (text: string): unknown =>
  exact.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? exact.rawJSON(source) : value,
  )

/** JSON with sorted member names and without blanks: equal documents give equal texts. */
export function canonicalJson(value: unknown): string {
  if (exact.isRawJSON(value)) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/** A scalar as text, a number with all its digits; undefined for anything else. */
export function scalarText(value: unknown): string | undefined {
  if (exact.isRawJSON(value)) return value.rawJSON
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}
