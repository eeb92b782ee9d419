import { type AnyValues, type FieldName, fields, type Values } from './fields.ts'

/** Number of OPTION among the quote types. */
const optionType = 13

/** Cleared when a new trading day begins. */
const resetByDay: readonly FieldName[] = ['day_high', 'day_low', 'open_price', 'day_volume']

/** Fields whose absence in a frame with a price means 0; every other field keeps its last value. */
const zeroIsReal: readonly FieldName[] = ['change', 'change_percent', 'market_hours']

const names = fields.map(({ name }) => name)

/** What a day volume says about the day, judged against the one before. */
export type VolumeStep = 'same-day' | 'new-day' | 'correction'

/** Under half of the one before is a new day, a smaller fall a correction. */
export function volumeStep(before: number | bigint | undefined, now: number | bigint | undefined): VolumeStep {
  if (before === undefined || now === undefined || now >= before) return 'same-day'
  return 2n * BigInt(now) < BigInt(before) ? 'new-day' : 'correction'
}

/** Whether a frame begins a new trading day for a symbol: its market hours go back to 0, or its volume under half. */
export function beginsDay(last: Values, frame: Values): boolean {
  const opens = frame.price !== undefined && (last.market_hours ?? 0) !== 0 && (frame.market_hours ?? 0) === 0
  return opens || volumeStep(last.day_volume, frame.day_volume) === 'new-day'
}

/**
 * The last values of a symbol after a frame in order; the arguments are not changed. The upstream sends only what
 * matters for the tick and proto3 has no presence, so absence means "as before" for most fields and 0 for those where
 * 0 is ordinary. A frame without a price is no tick: it gives its fields, but not its time, and nothing becomes 0.
 */
export function merge(last: Values, frame: Values): Values {
  const merged: AnyValues = { ...last }
  if (beginsDay(last, frame)) for (const name of resetByDay) delete merged[name]
  const isTick = frame.price !== undefined
  if (isTick) {
    for (const name of zeroIsReal) delete merged[name]
    delete merged.time
  }
  for (const name of names) {
    const value = (frame as AnyValues)[name]
    if (value !== undefined && (isTick || name !== 'time')) merged[name] = value
  }
  if (isTick && frame.options_type === undefined && merged.quote_type === optionType) delete merged.options_type
  return merged as Values
}
