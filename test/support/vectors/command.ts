// npm run vectors -- [--family NAME] [--database-url URL] [--via sandbox|gateway|both] FILE…
// Runs vector files against the built product, prints each failing case, and ends with the counts.
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { Command, Option } from 'commander'
import type { VectorCase } from './format.ts'
import { formats } from './formats.ts'

const command = new Command('vectors')
  .description('Runs vector files against the built product.')
  .argument('<file...>', 'files in the formats of test/vectors/README.md')
  .option('--family <name>', 'only cases of this family or kind')
  .option('--database-url <url>', 'the database for SQL cases (default: the embedded one)')
  .addOption(
    new Option('--via <path>', 'how scenario files reach an upstream')
      .choices(['sandbox', 'gateway', 'both'])
      .default('both'),
  )
  .parse()

let passed = 0
let failed = 0
for (const path of command.args) {
  for (const vector of casesOf(path)) {
    if (command.opts<{ family?: string }>().family && vector.family !== command.opts<{ family?: string }>().family)
      continue
    const failure = await failureOf(vector)
    if (failure === undefined) passed++
    else {
      failed++
      console.log(`FAIL ${vector.id}: ${vector.title}\n${failure}`)
    }
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed > 0 || passed === 0 ? 1 : 0)

function casesOf(path: string): readonly VectorCase[] {
  let file: unknown
  try {
    file = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    return command.error(`${path} cannot be read: ${(error as Error).message}`)
  }
  for (const format of formats) {
    const cases = format(file)
    if (cases) return cases
  }
  return command.error(`${path} is in no format that this build runs yet; see test/vectors/README.md`)
}

async function failureOf(vector: VectorCase): Promise<string | undefined> {
  try {
    const { expected, got } = await vector.run()
    if (isDeepStrictEqual(got, expected)) return undefined
    return `  expected ${show(expected)}\n  got      ${show(got)}`
  } catch (error) {
    return `  threw ${error instanceof Error ? error.stack : String(error)}`
  }
}

const show = (value: unknown): string =>
  JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? `${inner}n` : inner)) ?? String(value)
