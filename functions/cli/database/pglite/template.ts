import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Changes when templates are made in another way. */
const revision = 1

/**
 * Where the template of new databases is kept: in the cache folder of the installed packages, shared by all databases; if
 * that cannot be written, beside the database. Named by the engine's version, whose files no other version reads.
 */
export function templatePlace(folder: string): string {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite') // .../node_modules/@electric-sql/pglite/dist/index.cjs
  const packageFolder = dirname(dirname(entry))
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string }
  const name = `pglite-${version}-${revision}.tar.gz`
  const cache = join(dirname(dirname(packageFolder)), '.cache', 'tidegate')
  try {
    mkdirSync(cache, { recursive: true })
    accessSync(cache, constants.W_OK)
    return join(cache, name)
  } catch {
    return join(folder, name)
  }
}
