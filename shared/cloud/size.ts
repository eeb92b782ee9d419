import * as z from 'zod'
import { InvalidRequestError } from './errors.ts'

/** A size of its own, or a share of a machine. */
export type Size = 'shared' | { readonly cpuMillis: number; readonly memoryGbs: number }

const millisPerGb = 250

/** The cpu_millis of a service; each has 1 GB of memory per 250. Source: timescale/tiger-cli `internal/common/cpu_memory.go`, timescale/terraform-provider-timescale. */
export const serviceCpuMillis = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 48_000, 64_000] as const

const sizeForm = 'a positive whole number (or its digits as a text)'

/** A positive integer, or its decimal digits: the published clients send either. */
const Amount = z.union(
  [
    z.int().positive(),
    z
      .string()
      .regex(/^0*[1-9][0-9]{0,14}$/)
      .transform(Number),
  ],
  { error: sizeForm },
)

/** One half of a size in a create request. */
export const SizeHalf = z.union([z.literal('shared'), Amount], { error: `"shared", or ${sizeForm}` })
export type SizeHalf = z.output<typeof SizeHalf>

export type SizePair = {
  readonly cpu_millis?: SizeHalf | null | undefined
  readonly memory_gbs?: SizeHalf | null | undefined
}

/**
 * The size that a pair means; one half derives the other, undefined when both are absent.
 *
 * @throws {InvalidRequestError} `INVALID_SIZE`: not in the table, or the halves do not belong together
 */
export function resolveSize(pair: SizePair): Size | undefined {
  const cpu = pair.cpu_millis ?? undefined
  const memory = pair.memory_gbs ?? undefined
  if (cpu === undefined && memory === undefined) return undefined
  if (cpu === 'shared' || memory === 'shared') {
    if ((cpu ?? 'shared') === (memory ?? 'shared')) return 'shared'
    throw new InvalidRequestError(
      'INVALID_SIZE',
      `cpu_millis and memory_gbs: expected "shared" for both or for neither, given ${cpu} and ${memory}`,
    )
  }
  const cpuMillis = cpu ?? (memory ?? 0) * millisPerGb
  const memoryGbs = memory ?? cpuMillis / millisPerGb
  if (!(serviceCpuMillis as readonly number[]).includes(cpuMillis)) {
    throw cpu === undefined
      ? notInTable(
          'memory_gbs',
          serviceCpuMillis.map((millis) => millis / millisPerGb),
          memoryGbs,
        )
      : notInTable('cpu_millis', serviceCpuMillis, cpuMillis)
  }
  if (memoryGbs * millisPerGb !== cpuMillis) {
    throw new InvalidRequestError(
      'INVALID_SIZE',
      `memory_gbs: expected ${cpuMillis / millisPerGb} with cpu_millis ${cpuMillis}, given ${memoryGbs}`,
    )
  }
  return { cpuMillis, memoryGbs }
}

const notInTable = (field: string, allowed: readonly number[], given: number): InvalidRequestError =>
  new InvalidRequestError('INVALID_SIZE', `${field}: expected "shared" or one of ${allowed.join(', ')}, given ${given}`)
