/**
 * A parameter as the text that Postgres reads: null stays NULL, a text is taken as it is, an array becomes `{...}`, all
 * else its JSON (proxy/src/serverless/json.rs of neondatabase/neon).
 */
export function toParameter(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  return Array.isArray(value) ? toArray(value) : JSON.stringify(value)
}

const toArray = (items: readonly unknown[]): string => `{${items.map(toElement).join(',')}}`

function toElement(item: unknown): string {
  if (item === null || item === undefined) return 'NULL'
  if (Array.isArray(item)) return toArray(item)
  // An object is JSON in a text: quoted once more.
  return JSON.stringify(typeof item === 'object' ? JSON.stringify(item) : item)
}

/**
 * JSON whose integers beyond 2^53 are texts with all their digits, so that a bigint parameter is not rounded.
 *
 * @throws {SyntaxError}
 */
export function parseJson(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text)
  return JSON.parse(text, ((_: string, value: unknown, context?: { readonly source?: string }) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
    return context?.source !== undefined && /^-?\d+$/.test(context.source) ? context.source : value
  }) as (key: string, value: unknown) => unknown)
}

// Type oids of pg_type.dat.
const bool = 16
const integers = new Set([21, 23])
const floats = new Set([700, 701])
const json = new Set([114, 3802])
/** Array types by the type of their elements. */
const elementTypes = new Map([
  [1000, 16],
  [1005, 21],
  [1007, 23],
  [1016, 20],
  [1021, 700],
  [1022, 701],
  [199, 114],
  [3807, 3802],
  [1009, 25],
  [1015, 1043],
  [1014, 1042],
  [1003, 19],
  [1231, 1700],
  [2951, 2950],
  [1182, 1082],
  [1183, 1083],
  [1115, 1114],
  [1185, 1184],
])

/** A cell as a JSON value, for requests without `Neon-Raw-Text-Output`: what JSON cannot hold exactly stays a text. */
export function toJson(cell: string | null, type: number): unknown {
  if (cell === null) return null
  if (type === bool) return cell === 't'
  if (integers.has(type)) return Number(cell)
  if (floats.has(type)) return Number.isFinite(Number(cell)) ? Number(cell) : cell // NaN and Infinity are no JSON
  if (json.has(type)) return JSON.parse(cell)
  const element = elementTypes.get(type)
  return element === undefined ? cell : parseArray(cell, element)
}

/** An array literal, such as `{1,NULL,"a\"b"}` or `[2:3]={1,2}`. */
function parseArray(text: string, element: number): unknown[] {
  let at = text.indexOf('{')
  const array = (): unknown[] => {
    const items: unknown[] = []
    at++ // {
    while (text[at] !== '}') {
      if (text[at] === ',') at++
      else if (text[at] === '{') items.push(array())
      else if (text[at] === '"') items.push(toJson(quoted(), element))
      else {
        const end = text.slice(at).search(/[,}]/) + at
        const plain = text.slice(at, end)
        items.push(plain === 'NULL' ? null : toJson(plain, element))
        at = end
      }
    }
    at++ // }
    return items
  }
  const quoted = (): string => {
    const found = /"((?:[^"\\]|\\[\s\S])*)"/y
    found.lastIndex = at
    const [whole = '""', inner = ''] = found.exec(text) ?? []
    at += whole.length
    return inner.replace(/\\([\s\S])/g, '$1')
  }
  return array()
}
