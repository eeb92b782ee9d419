import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ticksText, unitsText } from '../../../shared/exchange/decimal.ts'

describe('ticksText', () => {
  it.each([
    [0, '0'],
    [1, '0.0001'],
    [5, '0.0005'],
    [100, '0.01'],
    [5000, '0.5'],
    [5700, '0.57'],
    [9999, '0.9999'],
    [10_000, '1'],
  ])('writes %i ticks as %s', (ticks, text) => {
    expect(ticksText(ticks)).toBe(text)
  })
})

describe('unitsText', () => {
  it.each([
    [0n, '0'],
    [1n, '0.000001'],
    [75_500_000n, '75.5'],
    [120_000_000n, '120'],
    [-1_500_000n, '-1.5'],
    [-1n, '-0.000001'],
    [2n ** 80n, '1208925819614629174.706176'],
  ])('writes %s as %s', (units, text) => {
    expect(unitsText(units)).toBe(text)
  })

  it('is the shortest plain decimal that says the amount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), (units) => {
        const text = unitsText(units)
        expect(text).toMatch(/^(-(?!0$))?(0|[1-9]\d*)(\.\d{0,5}[1-9])?$/)
        const [whole = '', fraction = ''] = text.replace('-', '').split('.')
        const magnitude = BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
        expect(text.startsWith('-') ? -magnitude : magnitude).toBe(units)
      }),
    )
  })
})
