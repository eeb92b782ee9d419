import { describe, expect, it } from 'vitest'
import { type ClobAuthCase, runClobAuthCase, UnknownCaseKindError } from '../../../support/vectors/clob-auth.ts'
import vectors from '../../../vectors/clob-auth.json' with { type: 'json' }

const cases = vectors.cases as unknown as readonly ClobAuthCase[]

describe('known answers of the official client', () => {
  it.each(cases)('$id: $note', async (vector) => {
    const { expected, got } = await runClobAuthCase(vector)
    expect(got).toEqual(expected)
  })

  it('covers every kind', () => {
    expect(cases).toHaveLength(56)
    expect(new Set(cases.map(({ kind }) => kind))).toEqual(
      new Set(['l2_hmac', 'l2_headers', 'l2_verify', 'l1_clob_auth', 'l1_verify']),
    )
  })

  it('does not pass a kind that it does not know', async () => {
    const unknown = { id: 'x', kind: 'l3', note: '', input: {}, expected: {} } as unknown as ClobAuthCase
    await expect(runClobAuthCase(unknown)).rejects.toThrow(UnknownCaseKindError)
  })
})
