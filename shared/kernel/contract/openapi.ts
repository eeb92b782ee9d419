import * as z from 'zod'
import type { AuthScheme, Operation, Operations } from './operation.ts'

export type OpenApiInfo = { readonly title: string; readonly version: string; readonly description: string }

/** Operations below one prefix of the documented origin. */
export type OpenApiMount = { readonly prefix: string; readonly tag: string; readonly operations: Operations }

const securitySchemes = {
  key: { type: 'http', scheme: 'bearer', description: 'A Tidegate key, tdg_…' },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: "The upstream's access and secret key, or a Tidegate key's id and secret",
  },
} as const

const security: Readonly<Record<AuthScheme, readonly Record<string, readonly string[]>[]>> = {
  none: [],
  basic: [{ key: [] }, { basic: [] }],
  token: [{ key: [] }],
  l1: [{ key: [] }],
  l2: [{ key: [] }],
  key: [{ key: [] }],
}

/**
 * The OpenAPI 3.1 document of some mounts, made from the same tables that route them. A schema with `.meta({ id })`
 * becomes a component.
 */
export function toOpenApi(info: OpenApiInfo, mounts: readonly OpenApiMount[]): Record<string, unknown> {
  const components: Record<string, unknown> = {}
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { prefix, tag, operations } of mounts) {
    for (const [operationId, operation] of Object.entries(operations)) {
      const path = operation.path === '/' && prefix !== '' ? prefix : prefix + operation.path
      paths[path] ??= {}
      paths[path][operation.method.toLowerCase()] = describe(operationId, operation, tag, components)
    }
  }
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    paths,
    components: { schemas: components, securitySchemes },
  }
}

function describe(operationId: string, operation: Operation, tag: string, components: Record<string, unknown>) {
  const schema = (type: z.ZodType, io: 'input' | 'output') => jsonSchema(type, io, components)
  return {
    operationId,
    tags: [tag],
    summary: operation.summary,
    security: security[operation.auth],
    parameters: [...parameters(operation.params, 'path', schema), ...parameters(operation.query, 'query', schema)],
    ...(operation.body && {
      requestBody: { required: true, content: { 'application/json': { schema: schema(operation.body, 'input') } } },
    }),
    responses: Object.fromEntries(
      Object.entries(operation.response).map(([status, body]) => [
        status,
        {
          description: Number(status) < 300 ? 'Success' : 'Not now',
          ...(body && { content: { 'application/json': { schema: schema(body, 'output') } } }),
        },
      ]),
    ),
    ...(operation.scope && { 'x-scope': operation.scope }),
  }
}

type ToSchema = (type: z.ZodType, io: 'input' | 'output') => unknown

const parameters = (object: z.ZodObject | undefined, place: 'path' | 'query', schema: ToSchema) =>
  Object.entries(object?.shape ?? {}).map(([name, type]) => ({
    name,
    in: place,
    required: place === 'path' || !(type as z.ZodType).safeParse(undefined).success,
    schema: schema(type as z.ZodType, 'input'),
  }))

function jsonSchema(type: z.ZodType, io: 'input' | 'output', components: Record<string, unknown>): unknown {
  const {
    $schema: _,
    $defs,
    ...schema
  } = z.toJSONSchema(type, { io, unrepresentable: 'any', reused: 'inline' }) as Record<string, unknown>
  const renamed = JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'))
  for (const [name, definition] of Object.entries(($defs as Record<string, unknown>) ?? {})) {
    components[name] = JSON.parse(JSON.stringify(definition).replaceAll('"#/$defs/', '"#/components/schemas/'))
  }
  return renamed
}
