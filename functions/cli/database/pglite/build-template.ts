// Builds the template of an embedded database: `build-template.ts <file>`. Run by cluster.ts in a process of its own.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { embeddedName } from '../names.ts'

const [file] = process.argv.slice(2)
if (!file) throw new Error('usage: build-template.ts <file>')

// Connected to template1, since a database cannot be renamed from within.
const database = await PGlite.create({
  database: 'template1',
  initDbStartParams: ['-U', embeddedName, '--wal-segsize=4'], // small segments: 12 MB less to unpack
})
await database.exec(`alter database postgres rename to ${embeddedName}`)
await database.exec('checkpoint')
const dump = Buffer.from(await (await database.dumpDataDir('gzip')).arrayBuffer())

// Written beside and renamed: others see the whole file or none.
const part = `${file}.${process.pid}.part`
mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
try {
  writeFileSync(part, dump, { mode: 0o600 })
  renameSync(part, file)
} catch (error) {
  rmSync(part, { force: true })
  throw error
}
process.exit(0)
