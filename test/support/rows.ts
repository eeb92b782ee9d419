import { TestRunner } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    rows?: string[]
  }
}

/**
 * Says that the running test shows these rows of `test/vectors/seed-matrix.json`. Only a test that ran and passed
 * counts; the reporter collects the ids.
 */
export function rows(...ids: readonly string[]): void {
  const test = TestRunner.getCurrentTest()
  if (!test) throw new Error('rows() stands inside a test')
  test.meta.rows = [...(test.meta.rows ?? []), ...ids]
}
