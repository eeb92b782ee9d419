import * as z from 'zod'
import { AppError, type FieldError } from '../errors.ts'
import type { Input, Operation } from './operation.ts'

export class MalformedJsonError extends AppError {
  override readonly name = 'MalformedJsonError'
  readonly code = 'request.malformed_json'
  readonly status = 400
}

export class InvalidInputError extends AppError {
  override readonly name = 'InvalidInputError'
  readonly code = 'request.invalid_input'
  readonly status = 400
  readonly place: Place
  override readonly errors: readonly FieldError[]
  /** The schema library's own codes of the same errors, in order (`unrecognized_keys`, `invalid_type`, …). */
  readonly issueCodes: readonly string[]

  constructor(place: Place, errors: readonly FieldError[], issueCodes: readonly string[]) {
    super(errors.map(sentence).join('; '), { place })
    this.place = place
    this.errors = errors
    this.issueCodes = issueCodes
  }
}

export type Place = 'path' | 'query' | 'body'

export type RawInput = {
  /** Path parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The body's text; undefined or empty = no body. */
  readonly body: string | undefined
}

/**
 * Reads a request as the operation's schemas say.
 *
 * @throws {MalformedJsonError} the body is not JSON
 * @throws {InvalidInputError} a member is missing or wrong; names it with what was expected and given
 */
export function parseInput<O extends Operation>(operation: O, raw: RawInput): Input<O> {
  const params = operation.params ? parse(operation.params, raw.params, 'path') : {}
  const query = operation.query ? parse(operation.query, queryObject(raw.query), 'query') : {}
  const body = operation.body ? parse(operation.body, parseJson(raw.body), 'body') : undefined
  return { params, query, body } as Input<O>
}

/** A query parameter that may be repeated (`slug=a&slug=b`) or a comma list (`slug=a,b`). */
export const listOf = <S extends z.ZodType<unknown, string>>(item: S) =>
  z
    .union([z.string(), z.array(z.string())])
    .transform((value) => [value].flat().flatMap((part) => part.split(',')))
    .pipe(z.array(item))

export function parse<S extends z.ZodType>(schema: S, value: unknown, place: Place): z.output<S> {
  const nul = place === 'path' ? undefined : pathOfNul(value)
  if (nul)
    throw new InvalidInputError(
      place,
      [{ field: pathText(nul) || place, expected: 'a text without U+0000', given: 'one with it' }],
      ['custom'],
    )
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  const { issues } = result.error
  throw new InvalidInputError(
    place,
    issues.flatMap((issue) => fieldErrors(issue, value)),
    issues.map((issue) => issue.code),
  )
}

function fieldErrors(issue: z.core.$ZodIssue, value: unknown): FieldError[] {
  const field = pathText(issue.path)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: field === '' ? key : `${field}.${key}`,
      expected: 'no such member',
      given: 'a member of that name',
    }))
  }
  return [
    {
      field: field || 'body',
      expected: expectedOf(issue.message),
      given: isSecret(field) ? hidden : describe(at(value, issue.path)),
    },
  ]
}

/** Where a text with U+0000 stands: no database takes it, and no name or path means anything with it. */
function pathOfNul(value: unknown): string[] | undefined {
  if (typeof value === 'string') return value.includes('\0') ? [] : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, inner] of Object.entries(value)) {
    const path = pathOfNul(inner)
    if (path) return [key, ...path]
  }
  return undefined
}

/** What the schema library's own messages say before and behind what was expected. */
const expectedOf = (message: string): string =>
  message.replace(/^(Invalid \w+|Too (small|big)): (expected )?/, '').replace(/, received \w+$/, '')

const pathText = (path: readonly PropertyKey[]): string => path.map(String).join('.')

const at = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[key], value)

/** A short description of a wrong value; long texts are cut. */
function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'string')
    return value.length > 64 ? `a text of ${value.length} characters` : JSON.stringify(value)
  return String(value)
}

/** Members that hold secrets: a wrong value of theirs is described, never shown. */
const isSecret = (field: string): boolean =>
  /(secret|password|passphrase|authorization|private_?key|api_?key|(^|[._])token)(_?key)?$/i.test(field)
const hidden = 'a value that is not shown'

const sentence = ({ field, expected, given }: FieldError): string =>
  `${field}: expected ${lowerFirst(expected)}, given ${given}`

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

function parseJson(text: string | undefined): unknown {
  if (text === undefined || text === '') return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new MalformedJsonError('the body is not valid JSON', { length: text.length }, { cause })
  }
}

function queryObject(query: URLSearchParams): Record<string, string | string[]> {
  const object: Record<string, string | string[]> = Object.create(null)
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name)
    object[name] = values.length === 1 ? (values[0] as string) : values
  }
  return object
}
