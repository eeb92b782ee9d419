import type { Method, Operation, Operations } from './operation.ts'

export type Match<T extends Operations> = {
  readonly name: keyof T & string
  readonly operation: Operation
  readonly params: Readonly<Record<string, string>>
}

/** `other-method`: the path is known, but not with this method. */
export type MatchResult<T extends Operations> = Match<T> | 'other-method' | undefined

type Node = {
  readonly literal: Map<string, Node>
  parameter?: { readonly name: string; readonly node: Node }
  readonly byMethod: Map<string, string>
}

const node = (): Node => ({ literal: new Map(), byMethod: new Map() })

/**
 * A matcher of request paths against a table of operations: `(method, path) => match`. Paths are matched as sent, without
 * decoding; a literal segment wins over a parameter; an empty segment matches no parameter. HEAD is matched as GET.
 */
export function operationMatcher<const T extends Operations>(
  operations: T,
): (method: string, path: string) => MatchResult<T> {
  const root = node()
  for (const [name, operation] of Object.entries(operations)) {
    let at = root
    for (const segment of segmentsOf(operation.path)) at = child(at, segment, operation.path)
    at.byMethod.set(operation.method, name)
  }
  return (method, path) => {
    const found = walk(root, segmentsOf(path), 0)
    if (!found) return undefined
    const name = found.node.byMethod.get(method === 'HEAD' ? ('GET' satisfies Method) : method)
    const operation = name === undefined ? undefined : operations[name]
    if (name === undefined || operation === undefined) return found.node.byMethod.size > 0 ? 'other-method' : undefined
    return { name, operation, params: found.params }
  }
}

const segmentsOf = (path: string): string[] => path.slice(1).split('/')

function child(at: Node, segment: string, path: string): Node {
  const parameter = /^\{(\w+)\}$/.exec(segment)?.[1]
  if (parameter === undefined) {
    const next = at.literal.get(segment) ?? node()
    at.literal.set(segment, next)
    return next
  }
  if (at.parameter && at.parameter.name !== parameter) {
    throw new TypeError(`${path}: the parameter {${parameter}} is called {${at.parameter.name}} in another path`)
  }
  at.parameter ??= { name: parameter, node: node() }
  return at.parameter.node
}

type Found = { readonly node: Node; readonly params: Record<string, string> }

function walk(at: Node, segments: readonly string[], index: number): Found | undefined {
  const segment = segments[index]
  if (segment === undefined) return at.byMethod.size > 0 ? { node: at, params: {} } : undefined
  const literal = at.literal.get(segment)
  const viaLiteral = literal && walk(literal, segments, index + 1)
  if (viaLiteral) return viaLiteral
  if (!at.parameter || segment === '') return undefined
  const found = walk(at.parameter.node, segments, index + 1)
  if (found) found.params[at.parameter.name] = segment
  return found
}
