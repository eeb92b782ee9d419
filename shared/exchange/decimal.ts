/** A price as an integer number of 1e-4 dollars: 0 to 10 000. */
export type Ticks = number

/** Shares or dollars as an integer number of 1e-6. */
export type Units = bigint

/** The price of a certain outcome; a price p on one token is 1 - p on the other. */
export const oneDollarTicks: Ticks = 10_000

const unitsPerOne = 1_000_000n

/** The shortest plain decimal of a price, such as `0.5`: no exponent, no trailing zeros. */
export const ticksText = (ticks: Ticks): string => unitsText(BigInt(ticks) * 100n)

/** The shortest plain decimal of an amount, such as `75.5`. */
export function unitsText(units: Units): string {
  const magnitude = units < 0n ? -units : units
  const fraction = (magnitude % unitsPerOne).toString().padStart(6, '0').replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${magnitude / unitsPerOne}${fraction === '' ? '' : `.${fraction}`}`
}
