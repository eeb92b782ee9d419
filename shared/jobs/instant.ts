/** Microseconds since the Unix epoch: what Postgres keeps of a timestamptz. */
export type Micros = bigint

export const microsOf = (milliseconds: number): Micros => BigInt(Math.floor(milliseconds)) * 1_000n

/** Milliseconds, rounded down. */
export const millisecondsOf = (instant: Micros): number => Number(floorDiv(instant, 1_000n))

export const floorDiv = (value: bigint, by: bigint): bigint => (value - floorMod(value, by)) / by

export const floorMod = (value: bigint, by: bigint): bigint => ((value % by) + by) % by

const form = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|[+-]\d{2}:\d{2})$/

/** An RFC 3339 time as an instant, or undefined. A zone is required: a time without one means another instant elsewhere. */
export function parseInstant(text: string): Micros | undefined {
  const found = form.exec(text)
  if (!found) return undefined
  const [, year, month, day, hour, minute, second = '00', fraction = '', zone = 'Z'] = found
  const local = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  // Date.parse takes 30 February for 2 March.
  if (Number.isNaN(local) || new Date(local).getUTCDate() !== Number(day)) return undefined
  const offset = /([+-])(\d{2}):(\d{2})/.exec(zone)
  if (offset && (Number(offset[2]) > 23 || Number(offset[3]) > 59)) return undefined
  const offsetMinutes = offset ? (offset[1] === '-' ? -1 : 1) * (Number(offset[2]) * 60 + Number(offset[3])) : 0
  return BigInt(local - offsetMinutes * 60_000) * 1_000n + BigInt(fraction.padEnd(6, '0').slice(0, 6))
}

/** RFC 3339 in UTC with microseconds, for Postgres, which takes years after 9999 without the sign of ISO 8601. */
export function formatInstant(instant: Micros): string {
  const text = new Date(millisecondsOf(instant)).toISOString().replace(/^\+0*/, '')
  return text.replace(/\.\d{3}Z$/, `.${String(floorMod(instant, 1_000_000n)).padStart(6, '0')}Z`)
}
