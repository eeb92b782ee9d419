/** One vector, ready to run: what it should give and what the product gives. */
export type VectorCase = {
  readonly id: string
  readonly title: string
  /** Family or kind, for running some only. */
  readonly family: string
  /** Rows of the seed matrix that it shows. */
  readonly rows: readonly string[]
  /** Runs it; `got` equals `expected` (by deep equality) when it passes. */
  readonly run: () => Promise<Outcome> | Outcome
}

export type Outcome = { readonly expected: unknown; readonly got: unknown }

/** Reads the cases of a file in one format; undefined when the file has another. */
export type VectorFormat = (file: unknown) => readonly VectorCase[] | undefined
