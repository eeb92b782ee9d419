import * as z from 'zod'
import { fromSymbol } from './symbol.ts'

const whole = (fallback: number, smallest: number, largest: number, unit: string) => {
  const error = `a whole number of ${unit} from ${smallest} to ${largest}`
  return z
    .string()
    .regex(/^\d{1,15}$/, { error })
    .default(String(fallback))
    .transform(Number)
    .refine((value) => value >= smallest && value <= largest, { error })
}

const milliseconds = (fallback: number, smallest: number, largest: number) =>
  whole(fallback, smallest, largest, 'milliseconds')

const commaList = z
  .string()
  .default('')
  .transform((text) => text.split(',').flatMap((part) => part.trim() || []))

const origins = commaList.refine((list) => list.every((origin) => URL.parse(origin)?.origin === origin), {
  error: 'a comma list of origins, such as https://charts.example.com',
})

const symbols = commaList.transform((list, context): ReadonlySet<string> => {
  const read = list.map(fromSymbol)
  if (read.includes(undefined)) {
    context.addIssue({ code: 'custom', message: 'a comma list of symbols, such as AAPL,BTC-USD' })
    return z.NEVER
  }
  return new Set(read as string[])
})

/** The settings of the price feed, by the variable that holds each; every one has a default. */
export const feedSettings = z.object({
  /** Form that the upstream is asked for; the reader takes any. */
  FEED_UPSTREAM_VERSION: z.enum(['1', '2'], { error: '1 or 2' }).default('2').transform(Number),
  /** Shards of the hub; another number is a new epoch for the symbols that move. */
  FEED_HUBS: whole(1, 1, 256, 'hubs'),
  FEED_RELAYS: whole(1, 1, 4096, 'relays'),
  /** Conflation of a subscriber that asks for none. */
  FEED_INTERVAL_MS: milliseconds(250, 0, 60_000),
  FEED_HB_MS: milliseconds(15_000, 100, 600_000),
  FEED_RING_TICKS: whole(256, 1, 4096, 'ticks'),
  FEED_RING_MS: milliseconds(120_000, 1000, 3_600_000),
  /** How late anonymous subscribers see a tick. */
  FEED_ANON_DELAY_MS: milliseconds(0, 0, 3_600_000),
  /** Long-lived tokens may stand in the URL, where logs see them. */
  FEED_ALLOW_QUERY_TOKEN: z
    .enum(['0', '1'], { error: '0 or 1' })
    .default('0')
    .transform((text) => text === '1'),
  /** Browser origins allowed beside our own. */
  FEED_ALLOWED_ORIGINS: origins,
  /** The only symbols served; empty = any. */
  FEED_SYMBOLS: symbols,
  /** What is kept in the database. */
  FEED_STORE: z
    .enum(['ticks', 'packs', 'candles', 'none'], { error: 'ticks, packs, candles or none' })
    .default('ticks'),
  /** Source of bars for gaps: the sandbox, or an address. */
  FEED_BACKFILL_URL: z
    .string()
    .default('sandbox')
    .refine((text) => text === 'sandbox' || /^https?:$/.test(URL.parse(text)?.protocol ?? ''), {
      error: 'sandbox, or an http or https URL',
    }),
})

export type FeedSettings = z.output<typeof feedSettings>
