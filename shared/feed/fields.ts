/** How a field travels on the wire. */
export type FieldType = 'string' | 'float' | 'double' | 'int32' | 'sint64'

type FieldRow = readonly [number: number, name: string, type: FieldType]

const table = [
  [1, 'id', 'string'],
  [2, 'price', 'float'],
  [3, 'time', 'sint64'],
  [4, 'currency', 'string'],
  [5, 'exchange', 'string'],
  [6, 'quote_type', 'int32'],
  [7, 'market_hours', 'int32'],
  [8, 'change_percent', 'float'],
  [9, 'day_volume', 'sint64'],
  [10, 'day_high', 'float'],
  [11, 'day_low', 'float'],
  [12, 'change', 'float'],
  [13, 'short_name', 'string'],
  [14, 'expire_date', 'sint64'],
  [15, 'open_price', 'float'],
  [16, 'previous_close', 'float'],
  [17, 'strike_price', 'float'],
  [18, 'underlying_symbol', 'string'],
  [19, 'open_interest', 'sint64'],
  [20, 'options_type', 'sint64'],
  [21, 'mini_option', 'sint64'],
  [22, 'last_size', 'sint64'],
  [23, 'bid', 'float'],
  [24, 'bid_size', 'sint64'],
  [25, 'ask', 'float'],
  [26, 'ask_size', 'sint64'],
  [27, 'price_hint', 'sint64'],
  [28, 'vol_24hr', 'sint64'],
  [29, 'vol_all_currencies', 'sint64'],
  [30, 'from_currency', 'string'],
  [31, 'last_market', 'string'],
  [32, 'circulating_supply', 'double'],
  [33, 'market_cap', 'double'],
] as const satisfies readonly FieldRow[]

type Row = (typeof table)[number]

export type FieldName = Row[1]
type NamesOf<T extends FieldType> = Extract<Row, readonly [number, string, T]>[1]
export type Int64Field = NamesOf<'sint64'>

export type Field = {
  readonly number: number
  readonly name: FieldName
  /** The proto3 JSON name: lowerCamelCase, where an underscore before a digit only disappears. */
  readonly jsonName: string
  readonly type: FieldType
}

/** The fields of PricingData in the order of their numbers. */
export const fields: readonly Field[] = table.map(([number, name, type]) => ({
  number,
  name,
  jsonName: name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
  type,
}))

export const fieldByName: ReadonlyMap<string, Field> = new Map(fields.map((field) => [field.name, field]))

/**
 * A message; a member that is absent is at its proto3 default (empty or 0). Floats are 32-bit values widened to 64
 * bits, `sint64` is exact.
 */
export type PricingData = Fields<bigint>

/**
 * A message as everything outside the codec sees it: a float is the number that its shortest decimal names, `sint64` a
 * `number` where that is exact.
 */
export type Values = Fields<number | bigint>

type Fields<Int64> = {
  [Name in FieldName]?: Name extends NamesOf<'string'> ? string : Name extends Int64Field ? Int64 : number
}

/** Members of a message by a name that is only known when running. */
export type AnyValues = Partial<Record<FieldName, string | number | bigint>>

/** All that can be asked for: `id` always goes as the symbol of an item. */
export const selectableFields: readonly FieldName[] = fields.flatMap(({ name }) => (name === 'id' ? [] : name))

const minimum: readonly FieldName[] = ['price', 'time', 'change', 'change_percent', 'market_hours']
const quote: readonly FieldName[] = [
  ...minimum,
  'bid',
  'bid_size',
  'ask',
  'ask_size',
  'day_high',
  'day_low',
  'day_volume',
  'open_price',
  'previous_close',
  'currency',
  'price_hint',
]

const inNumberOrder = (names: readonly FieldName[]): readonly FieldName[] =>
  selectableFields.filter((name) => names.includes(name))

const presets: ReadonlyMap<string, readonly FieldName[]> = new Map([
  ['min', inNumberOrder(minimum)],
  ['quote', inNumberOrder(quote)],
  ['all', selectableFields],
])

/** The fields that a preset or a comma list names, each once; undefined when it is empty or one is unknown. */
export function readFields(text: string): readonly FieldName[] | undefined {
  const preset = presets.get(text)
  if (preset) return preset
  const names = new Set(text.split(','))
  for (const name of names) if (!selectableFields.includes(name as FieldName)) return undefined
  return [...names] as FieldName[]
}
