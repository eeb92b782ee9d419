import { sha256, utf8 } from '../bytes.ts'
import { AppError } from '../errors.ts'
import { toHex } from '../ids.ts'
import type { Sql } from './client.ts'
import { DatabaseError } from './errors.ts'
import { splitStatements } from './split.ts'

/** A file of schema changes: `NNNN-name.sql`, numbered from 0001 without gaps, never changed once it has been applied. */
export type Migration = { readonly name: string; readonly text: string }

/** The files, or the database against the files, are not in order. The message names the file. */
export class MigrationOrderError extends AppError {
  override readonly name = 'MigrationOrderError'
  readonly code = 'migration.order'
  readonly status = 500
  override readonly fault = 'platform'
}

/** A file that was applied has another text now. */
export class MigrationChangedError extends AppError {
  override readonly name = 'MigrationChangedError'
  readonly code = 'migration.changed'
  readonly status = 500
  override readonly fault = 'platform'
}

/** The database refused a statement of a file; nothing of the file has been applied. */
export class MigrationFailedError extends AppError {
  override readonly name = 'MigrationFailedError'
  readonly code = 'migration.failed'
  readonly status = 500
  override readonly fault = 'platform'
}

type Numbered = Migration & { readonly id: number; readonly checksum: string }
type Applied = { readonly id: number; readonly name: string; readonly checksum: string }

/**
 * Applies the migrations that the database does not have yet, each in one transaction of its own, and notes them in
 * `tidegate.migrations`. May run in several places at once: the row is written first, so the second waits on its key.
 *
 * @returns the names newly applied by this call, in order
 * @throws {MigrationOrderError} {@link MigrationChangedError} {@link MigrationFailedError}
 */
export async function migrate(sql: Sql, migrations: readonly Migration[]): Promise<string[]> {
  const wanted = await inOrder(migrations)
  await ensureTable(sql)
  const applied = new Map((await readApplied(sql)).map((row) => [row.id, row]))
  const done: string[] = []
  for (const migration of wanted) {
    const row = applied.get(migration.id)
    if (row) refuseChange(migration, row)
    else if (await apply(sql, migration)) done.push(migration.name)
  }
  return done
}

async function inOrder(migrations: readonly Migration[]): Promise<Numbered[]> {
  const numbered: Numbered[] = []
  for (const { name, text } of migrations) {
    const id = Number(/^(\d{4})-[a-z0-9][a-z0-9_-]*\.sql$/.exec(name)?.[1] ?? 0)
    if (id === 0) throw new MigrationOrderError(`${name}: expected a name like 0001-keys.sql`, { name })
    numbered.push({ id, name, text, checksum: await checksumOf(text) })
  }
  numbered.sort((left, right) => left.id - right.id)
  for (const [index, { id, name }] of numbered.entries()) {
    const before = numbered[index - 1]
    if (before?.id === id) throw new MigrationOrderError(`${before.name} and ${name} have the same number`, { name })
    if (id !== index + 1) {
      const expected = String(index + 1).padStart(4, '0')
      throw new MigrationOrderError(`${name}: there is a gap before it, ${expected} is missing`, { name, expected })
    }
  }
  return numbered
}

const createTable = [
  { text: 'create schema if not exists tidegate' },
  {
    text: `create table if not exists tidegate.migrations (
             id         integer     primary key,
             name       text        not null,
             checksum   text        not null, -- SHA-256 of the file, hex
             applied_at timestamptz not null default now()
           )`,
  },
]

async function ensureTable(sql: Sql): Promise<void> {
  const [found] = await sql.query<{ found: boolean }>(
    `select to_regclass('tidegate.migrations') is not null as found`,
    [],
    { retry: true },
  )
  if (found?.found) return
  try {
    await sql.batch(createTable)
  } catch (error) {
    // "if not exists" still fails on the catalog's own key when another session creates it in the same moment.
    if (!(error instanceof DatabaseError && ['23505', '42P06', '42P07'].includes(error.sqlstate ?? ''))) throw error
    await sql.batch(createTable)
  }
}

const readApplied = (sql: Sql): Promise<Applied[]> =>
  sql.query<Applied>('select id, name, checksum from tidegate.migrations order by id', [], { retry: true })

/** False when another runner has applied it in the meantime. */
async function apply(sql: Sql, { id, name, text, checksum }: Numbered): Promise<boolean> {
  try {
    await sql.batch([
      {
        text: 'insert into tidegate.migrations (id, name, checksum) values ($1, $2, $3)',
        params: [id, name, checksum],
      },
      ...splitStatements(text).map((statement) => ({ text: statement })),
    ])
    return true
  } catch (error) {
    if (error instanceof DatabaseError && error.sqlstate === '23505') {
      const row = (await readApplied(sql)).find((other) => other.id === id)
      if (row) {
        refuseChange({ name, checksum }, row)
        return false
      }
    }
    if (!(error instanceof AppError)) throw error
    throw new MigrationFailedError(`${name}: ${error.message}`, { ...error.details, name }, { cause: error })
  }
}

function refuseChange({ name, checksum }: Pick<Numbered, 'name' | 'checksum'>, row: Applied): void {
  if (row.checksum === checksum) return
  throw new MigrationChangedError(
    `${name} was changed after it had been applied${row.name === name ? '' : ` as ${row.name}`}; restore it and put the change into a new file`,
    { name, expected: row.checksum, given: checksum },
  )
}

const checksumOf = async (text: string): Promise<string> => toHex(await sha256(utf8(text)))
