import { sha256, utf8 } from '../kernel/bytes.ts'
import { toHex } from '../kernel/ids.ts'
import { canonicalJson, parseExact, scalarText } from './exact-json.ts'
import { parseJsonPath, valueAt } from './json-path.ts'
import type { Pages } from './task.ts'

/** One document to store: the latest under its key, and one row of history per change. */
export type Document = {
  readonly key: string
  /** SHA-256 in hex of the canonical form, so that the order of members is no change. */
  readonly contentHash: string
  /** JSON text, numbers with all their digits. */
  readonly body: string
}

/** A page as it came. */
export type PageAnswer = {
  readonly url: string
  readonly text: string
  /** The `Link` header. */
  readonly link: string | null
}

export type Page = {
  readonly documents: readonly Document[]
  /** Items of the page that carry no key and so cannot be stored. */
  readonly withoutKey: number
  /** The URL of the page after this one; undefined: this was the last. */
  readonly next: string | undefined
}

/** Pages that are read when the task names no number. */
export const defaultMaxPages = 10

/** The URL of the first page. */
export function firstUrl(url: string, pages: Pages | undefined): string {
  const first = new URL(url)
  if (pages?.limit !== undefined && !first.searchParams.has('limit'))
    first.searchParams.set('limit', String(pages.limit))
  return first.href
}

/**
 * Turns a page into documents and finds the next one.
 *
 * @param documentKey the key of a page that is stored as one document
 * @param keyPath where the key stands in each item; undefined: the page is one document
 * @throws {SyntaxError} the page is not JSON
 */
export async function readPage(
  answer: PageAnswer,
  { documentKey, keyPath, pages }: { documentKey: string; keyPath: string | undefined; pages: Pages | undefined },
): Promise<Page> {
  const json = parseExact(answer.text)
  const items = itemsOf(json)
  const next = pages && nextUrl(answer, json, items.length, pages)
  if (keyPath === undefined) return { documents: [await document(documentKey, json)], withoutKey: 0, next }
  const path = parseJsonPath(keyPath) ?? []
  const byKey = new Map<string, unknown>()
  let withoutKey = 0
  for (const item of items) {
    const key = scalarText(valueAt(item, path))
    if (key === undefined) withoutKey += 1
    else byKey.set(key, item) // the last of two items with one key counts
  }
  const documents = await Promise.all(Array.from(byKey, ([key, item]) => document(key, item)))
  return { documents, withoutKey, next }
}

async function document(key: string, value: unknown): Promise<Document> {
  const body = canonicalJson(value)
  return { key, contentHash: toHex(await sha256(utf8(body))), body }
}

/** The items of a list answer: the array itself, its member `data`, its only array; anything else is one item. */
export function itemsOf(json: unknown): readonly unknown[] {
  if (Array.isArray(json)) return json
  if (typeof json !== 'object' || json === null) return [json]
  const { data } = json as { data?: unknown }
  if (Array.isArray(data)) return data
  const arrays = Object.values(json).filter((member) => Array.isArray(member))
  return arrays.length === 1 ? (arrays[0] as unknown[]) : [json]
}

function nextUrl(answer: PageAnswer, json: unknown, count: number, pages: Pages): string | undefined {
  const url = new URL(answer.url)
  if (pages.by === 'link') return linkNext(answer.link, url)
  if (pages.by === 'offset') {
    const limit = Number(url.searchParams.get('limit') ?? 0)
    // A page that is shorter than its limit is the last; without a limit, an empty one is.
    if (count === 0 || count < limit) return undefined
    url.searchParams.set('offset', String(Number(url.searchParams.get('offset') ?? 0) + count))
    return url.href
  }
  const cursor = nextCursor(json)
  if (cursor === undefined) return undefined
  // Services that page with `next_cursor` in the answer take it under the same name; ours take `cursor`.
  const name = ['cursor', 'after_cursor', 'next_cursor'].find((each) => url.searchParams.has(each)) ?? 'next_cursor'
  if (url.searchParams.get(name) === cursor) return undefined
  url.searchParams.set(name, cursor)
  return url.href
}

/** `LTE=` is -1 in base64: the order-book service's mark of the last page. */
function nextCursor(json: unknown): string | undefined {
  const cursor = valueAt(json, ['next_cursor'])
  return typeof cursor === 'string' && cursor !== '' && cursor !== 'LTE=' ? cursor : undefined
}

/** The target of `rel="next"` (RFC 8288). */
function linkNext(header: string | null, base: URL): string | undefined {
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(
    /<([^>]*)>((?:\s*;\s*[^,;"=]+(?:=(?:"[^"]*"|[^",;]*))?)*)/g,
  )) {
    const [, quoted, plain] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,]+))/i.exec(parameters) ?? []
    if ((quoted ?? plain ?? '').toLowerCase().split(/\s+/).includes('next') && URL.canParse(target, base.href)) {
      return new URL(target, base).href
    }
  }
  return undefined
}
