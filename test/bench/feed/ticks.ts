import type { Values } from '../../../shared/feed/fields.ts'

/** What the upstream sends ticks of. */
export const symbols: readonly string[] = Array.from({ length: 20 }, (_, at) => `BENCH${String(at).padStart(2, '0')}`)

/** Microseconds of the machine's monotonic clock, which all processes share. */
export const nowUs = (): number => Number(process.hrtime.bigint() / 1000n)

const newestMs = new Map<string, number>()

/**
 * The next tick of a symbol. Its time is later than that of the one before, so no tick is a repeat or late, and
 * `last_size` carries the microsecond at which it was sent, from which clients tell its latency.
 */
export function nextTick(symbol: string, sentUs: number): Values {
  const time = Math.max(Date.now(), (newestMs.get(symbol) ?? 0) + 1)
  newestMs.set(symbol, time)
  const cents = 10_000 + (time % 50)
  return {
    id: symbol,
    price: cents / 100,
    time,
    currency: 'USD',
    exchange: 'NMS',
    quote_type: 8,
    market_hours: 1,
    change_percent: 0.25,
    day_volume: 1_000_000 + (time % 1_000_000_000),
    change: 0.25,
    last_size: sentUs,
    price_hint: 2,
  }
}
