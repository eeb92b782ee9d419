import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { InvalidInputError, listOf, MalformedJsonError, parseInput } from '../../../../shared/kernel/contract/parse.ts'
import { rows } from '../../../support/rows.ts'

const operation = {
  method: 'POST',
  path: '/things/{id}',
  auth: 'none',
  kind: 'create',
  summary: '',
  params: z.object({ id: z.string().regex(/^[a-z]+$/, 'lower-case letters') }),
  query: z.object({ limit: z.coerce.number().int().max(10).optional(), slug: listOf(z.string()).optional() }),
  body: z.strictObject({
    name: z.string().min(1),
    size: z.object({ width: z.int() }).optional(),
    password: z.string().min(8).optional(),
  }),
  response: { 200: null },
} as const

const read = (body: string | undefined, query = '', id = 'abc') =>
  parseInput(operation, { params: { id }, query: new URLSearchParams(query), body })

const faultsOf = (run: () => unknown) => {
  try {
    run()
  } catch (error) {
    if (error instanceof InvalidInputError)
      return { errors: error.errors, message: error.message, codes: error.issueCodes }
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('parseInput', () => {
  it('gives what the schemas make of path, query and body', () => {
    expect(read('{"name":"x","size":{"width":3}}', 'limit=5&slug=a&slug=b,c&unknown=1')).toEqual({
      params: { id: 'abc' },
      query: { limit: 5, slug: ['a', 'b', 'c'] },
      body: { name: 'x', size: { width: 3 } },
    })
  })

  it('names the wrong member with what was expected and what was given', () => {
    rows('card.stack.zod')
    expect(faultsOf(() => read('{"name":"","size":{"width":"3"}}')).errors).toEqual([
      { field: 'name', expected: 'string to have >=1 characters', given: '""' },
      { field: 'size.width', expected: 'number', given: '"3"' },
    ])
    expect(faultsOf(() => read('[1,2]')).errors).toEqual([
      { field: 'body', expected: 'object', given: 'an array of 2' },
    ])
    expect(faultsOf(() => read('{"name":"x"}', 'limit=11')).errors[0]).toMatchObject({ field: 'limit', given: '"11"' })
    expect(faultsOf(() => read('{"name":"x"}', '', 'ABC')).errors).toEqual([
      { field: 'id', expected: 'lower-case letters', given: '"ABC"' },
    ])
  })

  it('names every unknown member', () => {
    const { errors, codes } = faultsOf(() => read('{"name":"x","colour":1,"shape":2}'))
    expect(errors.map(({ field }) => field)).toEqual(['colour', 'shape'])
    expect(codes).toEqual(['unrecognized_keys'])
  })

  it('says that a body is missing', () => {
    expect(faultsOf(() => read(undefined)).errors[0]).toMatchObject({ field: 'body', given: 'nothing' })
    expect(faultsOf(() => read('')).errors[0]).toMatchObject({ field: 'body', given: 'nothing' })
  })

  it('refuses what is not JSON', () => {
    expect(() => read('{name}')).toThrow(MalformedJsonError)
  })

  it('never repeats a secret, nor a long text', () => {
    const { errors, message } = faultsOf(() => read('{"name":"x","password":"hunter2"}'))
    expect(JSON.stringify(errors) + message).not.toContain('hunter2')
    expect(faultsOf(() => read(JSON.stringify({ name: 'x', size: 'y'.repeat(500) }))).message.length).toBeLessThan(200)
  })

  it('refuses U+0000, which no database takes, and says where it stands', () => {
    expect(faultsOf(() => read('{"name":"a\\u0000b"}')).errors).toEqual([
      { field: 'name', expected: 'a text without U+0000', given: 'one with it' },
    ])
    expect(faultsOf(() => read('{"name":"x"}', 'slug=%00')).errors[0]?.field).toBe('slug')
  })

  it('takes a member named like a prototype for what it is: unknown', () => {
    expect(faultsOf(() => read('{"name":"x","__proto__":{"a":1}}')).errors[0]?.field).toBe('__proto__')
    expect(read('{"name":"x"}', '__proto__=1').query).toEqual({})
  })
})
