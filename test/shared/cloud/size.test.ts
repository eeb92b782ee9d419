import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidRequestError } from '../../../shared/cloud/errors.ts'
import { resolveSize, SizeHalf, type SizePair, serviceCpuMillis } from '../../../shared/cloud/size.ts'

const reasonOf = (pair: SizePair): string | undefined => {
  try {
    resolveSize(pair)
  } catch (thrown) {
    return thrown instanceof InvalidRequestError ? thrown.reason : String(thrown)
  }
  return undefined
}

describe('SizeHalf', () => {
  it.each([1, 500, '500', '0500', 'shared', 1e3])('takes %j', (given) => {
    expect(SizeHalf.parse(given)).toBe(given === 'shared' ? 'shared' : Number(given))
  })

  it.each([
    0,
    -500,
    0.5,
    true,
    '',
    '0',
    '000',
    '+500',
    '-500',
    '500.0',
    '5e2',
    ' 500',
    '٥٠٠',
    'Shared',
    '0x1f4',
    [],
    {},
  ])('refuses %j', (given) => {
    expect(SizeHalf.safeParse(given).success).toBe(false)
  })

  it('refuses digits past any size, however many, without delay', () => {
    for (const given of ['9'.repeat(60_000), '1'.repeat(60_000).concat('x'), '0'.repeat(60_000)]) {
      expect(SizeHalf.safeParse(given).success).toBe(false)
    }
  })
})

describe('resolveSize', () => {
  it.each(serviceCpuMillis)('derives either half of %i cpu_millis from the other', (cpuMillis) => {
    const size = { cpuMillis, memoryGbs: cpuMillis / 250 }
    expect(resolveSize({ cpu_millis: cpuMillis })).toEqual(size)
    expect(resolveSize({ memory_gbs: size.memoryGbs })).toEqual(size)
    expect(resolveSize({ cpu_millis: cpuMillis, memory_gbs: size.memoryGbs })).toEqual(size)
  })

  it('knows the shared size by either half', () => {
    expect(resolveSize({ cpu_millis: 'shared' })).toBe('shared')
    expect(resolveSize({ memory_gbs: 'shared' })).toBe('shared')
    expect(resolveSize({ cpu_millis: 'shared', memory_gbs: 'shared' })).toBe('shared')
  })

  it('is undefined when both halves are absent or null', () => {
    expect(resolveSize({})).toBeUndefined()
    expect(resolveSize({ cpu_millis: null, memory_gbs: null })).toBeUndefined()
  })

  it.each<SizePair>([
    { cpu_millis: 3000 },
    { cpu_millis: 250 },
    { memory_gbs: 1 },
    { memory_gbs: 3 },
    { cpu_millis: 1000, memory_gbs: 8 },
    { cpu_millis: 250, memory_gbs: 1 },
    { cpu_millis: 'shared', memory_gbs: 4 },
    { cpu_millis: 1000, memory_gbs: 'shared' },
  ])('refuses $cpu_millis with $memory_gbs', (pair) => {
    expect(reasonOf(pair)).toBe('INVALID_SIZE')
  })

  it('gives 1 GB of memory per 250 cpu_millis, or refuses', () => {
    const half = fc.option(fc.integer({ min: 1, max: 70_000 }), { nil: undefined })
    fc.assert(
      fc.property(half, half, (cpu_millis, memory_gbs) => {
        fc.pre(cpu_millis !== undefined || memory_gbs !== undefined)
        if (reasonOf({ cpu_millis, memory_gbs }) !== undefined) return
        const size = resolveSize({ cpu_millis, memory_gbs })
        if (size === undefined || size === 'shared') throw new Error('expected a size of its own')
        expect(size.cpuMillis).toBe(size.memoryGbs * 250)
        if (cpu_millis !== undefined) expect(size.cpuMillis).toBe(cpu_millis)
        if (memory_gbs !== undefined) expect(size.memoryGbs).toBe(memory_gbs)
      }),
    )
  })
})
