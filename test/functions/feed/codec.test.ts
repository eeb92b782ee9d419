import { describe, expect, it } from 'vitest'
import { cases, runCase } from '../../support/vectors/pricing-data.ts'
import file from '../../vectors/pricing-data.json' with { type: 'json' }

describe('the vectors in the Workers runtime, where code cannot be made from text', () => {
  it.each(cases(file as never).map((vector) => [vector.name, vector] as const))('%s', (_, vector) => {
    const { expected, got } = runCase(vector)
    expect(got).toEqual(expected)
  })
})
