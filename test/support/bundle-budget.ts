// Fails when a bundle outgrows its budget: the platform takes 3 MB compressed on its smallest plan, and start-up time
// follows size.
import { bundleSizes, type ScriptName } from '../../functions/cli/build.ts'

const budgetKiB: Readonly<Record<ScriptName, number>> = { gateway: 400, relay: 150, sandbox: 400 }

let over = 0
for (const { name, gzipBytes } of bundleSizes()) {
  const kib = gzipBytes / 1024
  const fits = kib <= budgetKiB[name]
  if (!fits) over++
  console.log(
    `${name.padEnd(8)} ${kib.toFixed(1).padStart(7)} KiB gzip of ${budgetKiB[name]} KiB ${fits ? 'ok' : 'OVER'}`,
  )
}
process.exit(over > 0 ? 1 : 0)
