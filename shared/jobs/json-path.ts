/** Where a value stands in a JSON document: member names and array indices from the root. */
export type JsonPath = readonly (string | number)[]

const step = /\.?([A-Za-z_][\w-]*)|\[(\d{1,6})\]|\["((?:[^"\\]|\\["\\])+)"\]|\['((?:[^'\\]|\\['\\])+)'\]/y

/**
 * Reads the part of RFC 9535 that names exactly one value: `$.market.id`, `$["end date"]`, `$.tokens[0].id`. The leading
 * `$` may be left out (`market.id`). Undefined when it is another text.
 */
export function parseJsonPath(text: string): JsonPath | undefined {
  const path: (string | number)[] = []
  let at = text.startsWith('$') ? 1 : 0
  while (at < text.length) {
    step.lastIndex = at
    const found = step.exec(text)
    if (!found || (at > 0 && /[A-Za-z_]/.test(text[at] ?? ''))) return undefined
    if (at === 0 && text[0] === '.') return undefined
    const [, name, index, double, single] = found
    path.push(index === undefined ? (name ?? unescapeName(double ?? single ?? '')) : Number(index))
    at = step.lastIndex
  }
  return path.length > 0 ? path : undefined
}

const unescapeName = (text: string): string => text.replaceAll(/\\(.)/g, '$1')

/** The value at a path; undefined when a step leads nowhere. */
export function valueAt(document: unknown, path: JsonPath): unknown {
  return path.reduce<unknown>((value, key) => {
    if (typeof key === 'number') return Array.isArray(value) ? value[key] : undefined
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
  }, document)
}
