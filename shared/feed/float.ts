const known = new Map<number, number>()

/**
 * The number that the shortest decimal of a 32-bit float names: 48.37 for 48.369998931884766. That is the first of
 * `toPrecision(1..9)` that rounds back to the same 32 bits. What is not finite, and both zeros, stay as they are.
 *
 * @param value a 32-bit value widened to 64 bits
 */
export function shortestFloat(value: number): number {
  // Below 2^24 whole numbers are exact and short already.
  if (!Number.isFinite(value) || (Number.isInteger(value) && Math.abs(value) < 16_777_216)) return value
  const cached = known.get(value)
  if (cached !== undefined) return cached
  const shortest = search(value)
  // Prices repeat: one feed of a few hundred symbols stays within this.
  if (known.size >= 65_536) known.clear()
  known.set(value, shortest)
  return shortest
}

function search(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const candidate = Number(value.toPrecision(digits))
    if (Math.fround(candidate) === value) return candidate
  }
  return Number(value.toPrecision(9)) // nine digits tell any two 32-bit floats apart
}
