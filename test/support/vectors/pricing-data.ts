import { decode, encode, fromBase64Strict } from '../../../shared/feed/codec.ts'
import { type AnyValues, type FieldName, fieldByName, type PricingData } from '../../../shared/feed/fields.ts'
import { toBase64 } from '../../../shared/kernel/bytes.ts'

type Message = Readonly<Record<string, string | number>>

/** The file `test/vectors/pricing-data.json`. */
export type PricingDataFile = {
  readonly title: string
  readonly cases: readonly {
    readonly name: string
    readonly message: Message
    readonly base64: string
    readonly canonical: boolean
    readonly input?: Message
  }[]
  readonly malformed: readonly { readonly name: string; readonly base64: string; readonly reason: string }[]
}

export type PricingDataCase =
  | ({ readonly kind: 'valid' } & PricingDataFile['cases'][number])
  | ({ readonly kind: 'malformed' } & PricingDataFile['malformed'][number])

export const cases = (file: PricingDataFile): readonly PricingDataCase[] => [
  ...file.cases.map((vector) => ({ kind: 'valid' as const, ...vector })),
  ...file.malformed.map((vector) => ({ kind: 'malformed' as const, ...vector })),
]

/** What a case should give and what the codec gives, in the file's own notation. */
export function runCase(vector: PricingDataCase): { expected: unknown; got: unknown } {
  if (vector.kind === 'malformed') return { expected: { refused: true }, got: refused(vector.base64) }
  const { message, base64, canonical, input } = vector
  const decoded = written(decode(fromBase64Strict(base64)))
  if (!canonical) return { expected: { message: withoutNegativeZero(message) }, got: { message: decoded } }
  const encoded = [message, ...(input ? [input] : [])].map((given) => toBase64(encode(read(given))))
  return {
    expected: { message: withoutNegativeZero(message), encoded: encoded.map(() => base64) },
    got: { message: decoded, encoded },
  }
}

function refused(base64: string): unknown {
  try {
    return { decoded: written(decode(fromBase64Strict(base64))) }
  } catch (error) {
    // An error of ours names the refusal; any other is a fault of the codec.
    return /^(BadMessage|BadBase64)Error$/.test((error as Error).name) ? { refused: true } : { threw: String(error) }
  }
}

/** The encoder's argument from the file's notation. */
function read(message: Message): PricingData {
  const values: AnyValues = {}
  for (const [name, value] of Object.entries(message)) {
    const type = fieldByName.get(name)?.type
    if (type === 'sint64') values[name as FieldName] = BigInt(value)
    else values[name as FieldName] = type === 'string' ? value : Number(value)
  }
  return values as PricingData
}

/** A decoded message in the file's notation; minus zero is told apart by its text. */
function written(message: PricingData): unknown {
  return Object.fromEntries(
    Object.entries(message).map(([name, value]) => [name, typeof value === 'number' ? numberOf(value) : String(value)]),
  )
}

const numberOf = (value: number): number | string => {
  if (Object.is(value, -0)) return '-0'
  return Number.isFinite(value) ? value : String(value)
}

const withoutNegativeZero = (message: Message): unknown =>
  Object.fromEntries(Object.entries(message).map(([name, value]) => [name, Object.is(value, -0) ? '-0' : value]))
