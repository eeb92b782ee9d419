import type * as z from 'zod'
import type { Scope } from '../auth/scope.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** How a caller proves itself to the upstream: nothing, HTTP Basic, a token, a wallet signature (L1), an API key HMAC (L2), a Tidegate key. */
export type AuthScheme = 'none' | 'basic' | 'token' | 'l1' | 'l2' | 'key'

/**
 * What an operation does to the upstream's state; cache, retry and idempotency follow from it.
 * read: nothing. set: the same request leads to the same state. toggle: a second call conflicts. delete: a second call
 * finds nothing. create: a second call makes a second one. forget: the answer does not matter.
 */
export type OperationKind = 'read' | 'set' | 'toggle' | 'delete' | 'create' | 'forget'

export type Operation = {
  readonly method: Method
  /** Below the mount, with `{name}` for path parameters: `/projects/{project_id}/services`. */
  readonly path: `/${string}`
  readonly auth: AuthScheme
  readonly kind: OperationKind
  readonly summary: string
  /** What a Tidegate key needs to call it. */
  readonly scope?: Scope
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** Success answers by status; null = no body. */
  readonly response: Readonly<Record<number, z.ZodType | null>>
}

export type Operations = Readonly<Record<string, Operation>>

/** One table per upstream or mount, keyed by operationId; everything that walks the operations reads this table. */
export const defineOperations = <const T extends Operations>(operations: T): T => operations

type Out<S> = S extends z.ZodType ? z.output<S> : Record<never, never>

export type Input<O extends Operation> = {
  readonly params: Out<O['params']>
  readonly query: Out<O['query']>
  readonly body: O['body'] extends z.ZodType ? z.output<O['body']> : undefined
}

export type Reply<O extends Operation> = {
  [S in keyof O['response'] & number]: {
    readonly status: S
    readonly headers?: Readonly<Record<string, string>>
  } & (O['response'][S] extends z.ZodType
    ? { readonly body: z.input<O['response'][S]> }
    : { readonly body?: undefined })
}[keyof O['response'] & number]

/** One handler per operation of a table: a missing one does not compile. */
export type Handlers<T extends Operations, Context> = {
  readonly [Name in keyof T]: (input: Input<T[Name]>, context: Context) => Reply<T[Name]> | Promise<Reply<T[Name]>>
}
