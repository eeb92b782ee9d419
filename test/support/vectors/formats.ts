import { type ClobAuthCase, runClobAuthCase } from './clob-auth.ts'
import { type CronCase, runCase as runCronCase } from './cron.ts'
import { type FeedCoreCase, runCase as runFeedCoreCase } from './feed-core.ts'
import type { VectorCase, VectorFormat } from './format.ts'
import { type PricingDataFile, cases as pricingDataCases, runCase as runPricingDataCase } from './pricing-data.ts'
import { runCase as runScheduleCase, type ScheduleCase } from './schedule.ts'

type Cases<T> = { readonly cases: readonly T[] }

const hasCases = (file: unknown): file is Cases<Record<string, unknown>> =>
  typeof file === 'object' && file !== null && Array.isArray((file as Cases<unknown>).cases)

/** Whether every case has one of these kinds. */
const allOf = (file: unknown, kinds: readonly string[]): boolean =>
  hasCases(file) && file.cases.every(({ kind }) => kinds.includes(String(kind)))

const pricingData: VectorFormat = (file) => {
  if (!hasCases(file) || !('malformed' in file)) return undefined
  return pricingDataCases(file as unknown as PricingDataFile).map(
    (vector): VectorCase => ({
      id: vector.name,
      title: vector.kind === 'malformed' ? vector.reason : vector.name,
      family: vector.kind,
      rows: [],
      run: () => runPricingDataCase(vector),
    }),
  )
}

const clobAuth: VectorFormat = (file) =>
  allOf(file, ['l2_hmac', 'l2_verify', 'l2_headers', 'l1_clob_auth', 'l1_verify'])
    ? (file as unknown as Cases<ClobAuthCase>).cases.map((vector) => ({
        id: vector.id,
        title: vector.note,
        family: vector.kind,
        rows: [],
        run: () => runClobAuthCase(vector),
      }))
    : undefined

const cron: VectorFormat = (file) =>
  hasCases(file) && file.cases.every((vector) => 'expression' in vector)
    ? (file as unknown as Cases<CronCase>).cases.map((vector) => ({
        id: vector.id,
        title: `${vector.expression} in ${vector.zone ?? 'UTC'}`,
        family: 'cron',
        rows: vector.rows,
        run: () => runCronCase(vector),
      }))
    : undefined

const schedule: VectorFormat = (file) =>
  allOf(file, ['run', 'slots'])
    ? (file as unknown as Cases<ScheduleCase>).cases.map((vector) => ({
        id: vector.id,
        title: vector.title,
        family: vector.kind,
        rows: vector.rows,
        run: () => runScheduleCase(vector),
      }))
    : undefined

const feedCoreKinds = 'symbol shard conflate delta recover slow options hub candle_merge float sint64'.split(' ')

const feedCore: VectorFormat = (file) =>
  allOf(file, feedCoreKinds)
    ? (file as unknown as Cases<FeedCoreCase>).cases.map((vector) => ({
        id: vector.id,
        title: vector.title,
        family: vector.kind,
        rows: vector.rows,
        run: () => runFeedCoreCase(vector),
      }))
    : undefined

/** Every format that this build runs; the first that knows a file takes it. */
export const formats: readonly VectorFormat[] = [pricingData, clobAuth, cron, schedule, feedCore]
