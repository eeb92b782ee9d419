import { cronFault, nextFires } from '../../../shared/jobs/cron.ts'

/** A case of `test/vectors/cron.json`: the five times after `from`, or the field that is wrong. */
export type CronCase = {
  readonly id: string
  readonly rows: readonly string[]
  readonly expression: string
  readonly zone?: string
  readonly from?: string
  readonly next?: readonly string[]
  readonly invalid?: string
}

const wholeSeconds = (milliseconds: number): string => new Date(milliseconds).toISOString().replace('.000Z', 'Z')

export function runCase(vector: CronCase): { expected: unknown; got: unknown } {
  const { expression, zone = null, from = '', next = [], invalid } = vector
  const fault = cronFault(expression, zone)
  if (invalid !== undefined) return { expected: { invalid }, got: fault ? { invalid: fault.field } : 'valid' }
  if (fault) return { expected: next, got: { invalid: fault.field } }
  return { expected: next, got: nextFires(expression, zone, Date.parse(from), next.length).map(wholeSeconds) }
}
