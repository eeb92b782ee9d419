import { type AnyValues, type FieldName, fieldByName, type Values } from './fields.ts'

export type NameStyle = 'snake' | 'camel'

/** `auto`: a number where that is exact, else decimal text. `string`: always text, the rule of proto3 JSON. */
export type Int64Form = 'auto' | 'string'

export type JsonForm = { readonly fields: readonly FieldName[]; readonly names: NameStyle; readonly int64: Int64Form }

/** A 64-bit integer in JSON. */
export function int64ToJson(value: number | bigint, form: Int64Form): number | string {
  const isExact = typeof value === 'number' && Number.isSafeInteger(value)
  return form === 'auto' && isExact ? value : String(value)
}

/** A float in JSON: what is not finite has the texts of proto3 JSON. */
export const floatToJson = (value: number): number | string => (Number.isFinite(value) ? value : String(value))

/**
 * The selected members of the last values (or of one frame) as JSON. Defaults are left out, except that market hours
 * are always told when a price is known: 0 is the hours before the market, not the absence of news.
 */
export function toJson(values: Values, { fields, names, int64 }: JsonForm): Record<string, string | number> {
  const json: Record<string, string | number> = {}
  for (const name of fields) {
    const value = (values as AnyValues)[name] ?? (name === 'market_hours' && values.price !== undefined ? 0 : undefined)
    if (value === undefined) continue
    const field = fieldByName.get(name)
    if (!field) continue
    json[names === 'camel' ? field.jsonName : name] = valueToJson(field.type, value, int64)
  }
  return json
}

function valueToJson(type: string, value: string | number | bigint, int64: Int64Form): string | number {
  if (type === 'sint64') return int64ToJson(value as number | bigint, int64)
  return typeof value === 'number' ? floatToJson(value) : (value as string)
}
