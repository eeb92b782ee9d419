import { describe, expect, it } from 'vitest'
import { kinds, runCase } from '../../support/vectors/feed-core.ts'
import file from '../../vectors/feed-core.json' with { type: 'json' }

// Rows that these cases name are shown only with the sockets around them, so none is claimed here.
describe.each(Object.keys(kinds))('%s', (kind) => {
  const cases = file.cases.filter((vector) => vector.kind === kind)
  it.each(cases.map((vector) => [`${vector.id} ${vector.title.slice(0, 60)}`, vector] as const))('%s', (_, vector) => {
    const { expected, got } = runCase(vector)
    expect(got).toEqual(expected)
  })
})
