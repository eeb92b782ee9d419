/** One measured subject. `ratio` is Tidegate's figure over this one's, for peers: above 1 it is faster, or (in ms) slower. */
export type Row = {
  readonly bench: string
  readonly subject: string
  readonly figure: number
  readonly unit: string
  readonly ratio?: number
}

export function printTable(rows: readonly Row[]): void {
  const cells = rows.map(({ bench, subject, figure, unit, ratio }) => [
    bench,
    subject,
    `${figure.toLocaleString('en', { maximumFractionDigits: figure < 100 ? 1 : 0 })} ${unit}`,
    ratio === undefined ? '' : ratio.toFixed(2),
  ])
  const all = [['bench', 'subject', 'median', 'Tidegate / it'], ...cells]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  for (const row of all)
    console.log(
      row
        .map((cell, column) => (column === 2 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
        .join('  '),
    )
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
