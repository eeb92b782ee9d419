import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { toOpenApi } from '../../../../shared/kernel/contract/openapi.ts'
import { defineOperations } from '../../../../shared/kernel/contract/operation.ts'

const Thing = z.object({ id: z.string(), size: z.number().optional() }).meta({ id: 'Thing' })
const operations = defineOperations({
  getThing: {
    method: 'GET',
    path: '/things/{id}',
    auth: 'key',
    kind: 'read',
    scope: 'ops:read',
    summary: 'One thing',
    params: z.object({ id: z.string() }),
    query: z.object({ limit: z.coerce.number().optional(), q: z.string() }),
    response: { 200: Thing },
  },
  makeThing: {
    method: 'POST',
    path: '/things',
    auth: 'none',
    kind: 'create',
    summary: 'Makes one',
    body: z.strictObject({ size: z.string().transform(Number) }),
    response: { 201: Thing, 204: null },
  },
})
const document = toOpenApi({ title: 'T', version: '1', description: 'd' }, [
  { prefix: '/m', tag: 'M', operations },
]) as {
  paths: Record<string, Record<string, Record<string, unknown>>>
  components: { schemas: Record<string, unknown> }
}

describe('toOpenApi', () => {
  it('has every operation of the table below its mount, and no other', () => {
    expect(Object.entries(document.paths).map(([path, methods]) => [path, Object.keys(methods)])).toEqual([
      ['/m/things/{id}', ['get']],
      ['/m/things', ['post']],
    ])
  })

  it('describes path and query parameters, required or not', () => {
    expect(document.paths['/m/things/{id}']?.get?.parameters).toMatchObject([
      { name: 'id', in: 'path', required: true },
      { name: 'limit', in: 'query', required: false },
      { name: 'q', in: 'query', required: true, schema: { type: 'string' } },
    ])
  })

  it('makes a component of a named schema, and refers to it', () => {
    expect(document.components.schemas.Thing).toMatchObject({ type: 'object', required: ['id'] })
    expect(document.paths['/m/things/{id}']?.get?.responses).toMatchObject({
      200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
    })
  })

  it('shows the wire form of a body, and an answer without one', () => {
    const post = document.paths['/m/things']?.post
    expect(post?.requestBody).toMatchObject({
      content: { 'application/json': { schema: { properties: { size: { type: 'string' } } } } },
    })
    expect(post?.responses).toHaveProperty(['204', 'description'])
    expect(post?.responses).not.toHaveProperty(['204', 'content'])
  })
})
