import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Reporter, TestCase, TestSpecification, Vitest } from 'vitest/node'

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url).href)
const idsOfMatrix = (): string[] =>
  (JSON.parse(readFileSync(file('../vectors/seed-matrix.json'), 'utf8')) as { rows: { id: string }[] }).rows.map(
    (row) => row.id,
  )
const pendingIds = (): string[] =>
  readFileSync(file('./pending-rows.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))

/**
 * Collects the rows of the seed matrix that tests of this run showed, writes them to `test/out/seed-rows.json`, and
 * fails a whole run that leaves a row unshown which `pending-rows.txt` does not list, or lists one that is shown.
 */
export default class SeedRowsReporter implements Reporter {
  readonly #shown = new Map<string, string[]>()
  #vitest: Vitest | undefined
  #isWholeRun = false

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestCaseResult(test: TestCase): void {
    if (test.result().state !== 'passed') return
    for (const id of test.meta().rows ?? []) this.#shown.set(id, [...(this.#shown.get(id) ?? []), test.fullName])
  }

  onTestRunEnd(): void {
    const ids = idsOfMatrix()
    const known = new Set(ids)
    const pending = new Set(pendingIds())
    const shown = ids.filter((id) => this.#shown.has(id))
    const missing = ids.filter((id) => !this.#shown.has(id))
    mkdirSync(file('../out/'), { recursive: true })
    writeFileSync(file('../out/seed-rows.json'), `${JSON.stringify({ shown, missing }, null, 2)}\n`)
    const faults = [
      ...[...this.#shown.keys()].filter((id) => !known.has(id)).map((id) => `${id}: no such row in the matrix`),
      ...[...pending].filter((id) => !known.has(id)).map((id) => `${id}: pending, but no such row in the matrix`),
      ...(this.#isWholeRun
        ? [
            ...missing.filter((id) => !pending.has(id)).map((id) => `${id}: no test that passed shows it`),
            ...shown
              .filter((id) => pending.has(id))
              .map((id) => `${id}: shown, so it must leave test/support/pending-rows.txt`),
          ]
        : []),
    ]
    console.log(
      `\nSeed rows: ${shown.length} shown, ${missing.length} missing of ${ids.length} (test/out/seed-rows.json)`,
    )
    if (faults.length > 0) {
      console.error(`Seed rows:\n  ${faults.join('\n  ')}`)
      process.exitCode = 1
    }
  }

  /** A run of some files, some tests or some projects proves nothing about the rows it left out. */
  async onTestRunStart(specifications: readonly TestSpecification[]): Promise<void> {
    const vitest = this.#vitest
    if (!vitest || vitest.config.testNamePattern) return
    this.#isWholeRun =
      specifications.length === (await vitest.globTestSpecifications()).length && vitest.projects.length === 3
  }
}
