import { describe, expect, it } from 'vitest'
import { canonicalJson, parseExact } from '../../../shared/jobs/exact-json.ts'
import { parseJsonPath, valueAt } from '../../../shared/jobs/json-path.ts'
import { firstUrl, itemsOf, readPage } from '../../../shared/jobs/poll.ts'

const answer = (body: unknown, url = 'https://x.example.com/items', link: string | null = null) => ({
  url,
  text: typeof body === 'string' ? body : JSON.stringify(body),
  link,
})
const whole = { documentKey: '/items', keyPath: undefined, pages: undefined }

describe('readPage', () => {
  it('takes a page without a key as one document', async () => {
    const { documents, next } = await readPage(answer([{ id: 1 }]), whole)
    expect(documents).toMatchObject([{ key: '/items', body: '[{"id":1}]' }])
    expect(next).toBeUndefined()
  })

  it('sees no change in another order of members, and one in another value', async () => {
    const hash = async (text: string) => (await readPage(answer(text), whole)).documents[0]?.contentHash
    expect(await hash('{"a":1, "b":[1,2]}')).toBe(await hash('{"b":[1,2],"a":1}'))
    expect(await hash('{"a":1}')).not.toBe(await hash('{"a":2}'))
    expect(await hash('[1,2]')).not.toBe(await hash('[2,1]'))
  })

  it('keeps all digits of numbers', async () => {
    const text = '{"id":71321045679252212594626385532706912750332728571942532289631379312455583992563,"p":0.10}'
    const { documents } = await readPage(answer(text), whole)
    expect(documents[0]?.body).toBe(text)
    const keyed = await readPage(answer(`[${text}]`), { ...whole, keyPath: '$.id' })
    expect(keyed.documents[0]?.key).toMatch(/^7132.*2563$/)
  })

  it('takes each item as a document by its key, the last of two with one key', async () => {
    const body = { data: [{ id: 'a', n: 1 }, { id: 'a', n: 2 }, { id: 7 }, { name: 'none' }, { id: null }] }
    const page = await readPage(answer(body), { ...whole, keyPath: 'id' })
    expect(page.documents.map(({ key, body }) => [key, body])).toEqual([
      ['a', '{"id":"a","n":2}'],
      ['7', '{"id":7}'],
    ])
    expect(page.withoutKey).toBe(2)
  })

  it('throws on a page that is not JSON', async () => {
    await expect(readPage(answer('<html>'), whole)).rejects.toThrow(SyntaxError)
  })
})

describe('pages', () => {
  const nextOf = async (page: ReturnType<typeof answer>, by: 'offset' | 'cursor' | 'link') =>
    (await readPage(page, { ...whole, pages: { by } })).next

  it('by offset go on while pages are full', async () => {
    const url = firstUrl('https://x.example.com/items?a=1', { by: 'offset', limit: 2 })
    expect(url).toBe('https://x.example.com/items?a=1&limit=2')
    const second = await nextOf(answer([1, 2], url), 'offset')
    expect(second).toBe('https://x.example.com/items?a=1&limit=2&offset=2')
    expect(await nextOf(answer([1], second), 'offset')).toBeUndefined()
    expect(await nextOf(answer([], second), 'offset')).toBeUndefined()
  })

  it('by cursor go on until there is none, or the mark of the end', async () => {
    expect(await nextOf(answer({ data: [], next_cursor: 'MTAw' }), 'cursor')).toBe(
      'https://x.example.com/items?next_cursor=MTAw',
    )
    for (const next_cursor of ['LTE=', '', null, undefined]) {
      expect(await nextOf(answer({ data: [], next_cursor }), 'cursor')).toBeUndefined()
    }
    const same = 'https://x.example.com/items?next_cursor=MTAw'
    expect(await nextOf(answer({ next_cursor: 'MTAw' }, same), 'cursor')).toBeUndefined()
  })

  it.each([
    ['<https://x.example.com/items?page=2>; rel="next"', 'https://x.example.com/items?page=2'],
    ['</items?page=1>; rel=prev, </items?page=3>; title="a, b"; rel="last next"', 'https://x.example.com/items?page=3'],
    ['</items?page=9>; rel="last"', undefined],
    ['', undefined],
  ])('by link follow rel="next" of %j', async (link, next) => {
    expect(await nextOf(answer([], undefined, link), 'link')).toBe(next)
  })
})

describe('itemsOf', () => {
  it.each([
    [
      [1, 2],
      [1, 2],
    ],
    [{ data: [1], other: [2] }, [1]],
    [{ events: [3], count: 1 }, [3]],
    [{ a: [1], b: [2] }, [{ a: [1], b: [2] }]],
    ['text', ['text']],
  ])('of %j', (json, items) => {
    expect(itemsOf(json)).toEqual(items)
  })
})

describe('canonicalJson', () => {
  it('is JSON of the same value', () => {
    const text = '{"b":{"d":[],"c":null},"a":[true,1.50,"\\u2028",1e400]}'
    expect(canonicalJson(parseExact(text))).toBe('{"a":[true,1.50,"\u2028",1e400],"b":{"c":null,"d":[]}}')
  })
})

describe('parseJsonPath', () => {
  it.each([
    ['$.market.id', ['market', 'id']],
    ['market.id', ['market', 'id']],
    ['$["end date"][0].x-y', ['end date', 0, 'x-y']],
    ["$['it\\'s']", ["it's"]],
  ])('reads %j', (text, path) => {
    expect(parseJsonPath(text)).toEqual(path)
  })

  it.each(['', '$', '$.', '.a', 'a..b', '$.a[*]', '$.a[-1]', '$a', 'a b', '$..id', '$.a[0]b'])('refuses %j', (text) => {
    expect(parseJsonPath(text)).toBeUndefined()
  })

  it('finds nothing where a step leads nowhere, nor what an object inherits', () => {
    expect(valueAt({ a: [{ b: 1 }] }, ['a', 0, 'b'])).toBe(1)
    expect(valueAt({ a: null }, ['a', 'b'])).toBeUndefined()
    expect(valueAt({}, ['constructor'])).toBeUndefined()
  })
})
