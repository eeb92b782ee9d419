import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSql, type Sql } from '../../../../shared/kernel/sql/client.ts'
import { type Migration, migrate } from '../../../../shared/kernel/sql/migrate.ts'
import { backends, failure, type Started } from '../../../functions/cli/database/backends.ts'

const things: Migration = {
  name: '0001-things.sql',
  text: 'create table things (id int);\n-- and a row; in it\ninsert into things values (1);',
}
const routines: Migration = {
  name: '0002-routines.sql',
  text: `create function twice(n int) returns int language sql immutable begin atomic select n * 2; end;
         create function loud(t text) returns text language plpgsql as $body$ begin return upper(t) || ';'; end $body$;
         create table made as select twice(4) as n, loud('a') as t;`,
}

describe.each(backends)('migrate on $kind', ({ start }) => {
  let started: Started
  let sql: Sql
  beforeAll(async () => {
    started = await start()
    sql = createSql(started.url)
  })
  afterAll(() => started?.stop())
  beforeEach(async () => {
    await sql.batch([
      { text: 'drop schema if exists tidegate cascade' },
      { text: 'drop schema public cascade' },
      { text: 'create schema public' },
    ])
  })
  const applied = () =>
    sql.query(
      'select id, name, length(checksum) as digits, applied_at <= now() as past from tidegate.migrations order by id',
    )

  it('applies what is new, in order, and gives the names', async () => {
    expect(await migrate(sql, [routines, things])).toEqual(['0001-things.sql', '0002-routines.sql'])
    expect(await sql.query('select * from made')).toEqual([{ n: 8, t: 'A;' }])
    expect(await applied()).toEqual([
      { id: 1, name: '0001-things.sql', digits: 64, past: true },
      { id: 2, name: '0002-routines.sql', digits: 64, past: true },
    ])
  })

  it('applies nothing twice', async () => {
    expect(await migrate(sql, [things])).toEqual(['0001-things.sql'])
    expect(await migrate(sql, [things, routines])).toEqual(['0002-routines.sql'])
    expect(await migrate(sql, [things, routines])).toEqual([])
    expect(await sql.query('select * from things')).toEqual([{ id: 1 }])
  })

  it('applies each file once when several run at the same time', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, () => migrate(createSql(started.url), [things, routines])),
    )
    expect(outcomes.flat().sort()).toEqual(['0001-things.sql', '0002-routines.sql'])
    expect(await sql.query('select * from things')).toEqual([{ id: 1 }])
  })

  it('keeps nothing of a file that fails, and names it', async () => {
    const wrong: Migration = {
      name: '0002-wrong.sql',
      text: 'create table half (id int); select nosuch; create table other (id int)',
    }
    const error = await failure(migrate(sql, [things, wrong]))
    expect(error).toMatchObject({
      name: 'MigrationFailedError',
      code: 'migration.failed',
      details: { name: '0002-wrong.sql', sqlstate: '42703' },
    })
    expect(error.message).toBe('0002-wrong.sql: column "nosuch" does not exist')
    expect(await sql.query("select to_regclass('half') as half")).toEqual([{ half: null }])
    expect(await applied()).toHaveLength(1)
    expect(await migrate(sql, [things, routines])).toEqual(['0002-routines.sql'])
  })

  it('names a file that does not end', async () => {
    const error = await failure(migrate(sql, [{ name: '0001-open.sql', text: "select 1;\nselect 'abc" }]))
    expect(error.message).toBe('0001-open.sql: the SQL text ends inside a string that begins on line 2')
  })

  it('refuses a file that was changed after it had been applied', async () => {
    await migrate(sql, [things])
    const error = await failure(migrate(sql, [{ ...things, text: `${things.text} ` }]))
    expect(error).toMatchObject({ name: 'MigrationChangedError', code: 'migration.changed' })
    expect(error.message).toMatch(/^0001-things\.sql was changed after it had been applied; restore it/)
  })

  it('takes a file under another name for the same when its text is', async () => {
    await migrate(sql, [things])
    expect(await migrate(sql, [{ ...things, name: '0001-renamed.sql' }])).toEqual([])
  })

  it('leaves files alone that a newer version has applied', async () => {
    await migrate(sql, [things, routines])
    expect(await migrate(sql, [things])).toEqual([])
  })

  it.each<[string, string[], RegExp]>([
    ['a gap', ['0001-a.sql', '0003-c.sql'], /^0003-c\.sql: there is a gap before it, 0002 is missing$/],
    ['a missing first', ['0002-b.sql'], /^0002-b\.sql: there is a gap before it, 0001 is missing$/],
    ['a number used twice', ['0001-a.sql', '0001-b.sql'], /^0001-a\.sql and 0001-b\.sql have the same number$/],
    ['a name without a number', ['first.sql'], /^first\.sql: expected a name like 0001-keys\.sql$/],
    ['the number zero', ['0000-a.sql'], /^0000-a\.sql: expected a name/],
  ])('refuses %s before it touches anything', async (_, names, message) => {
    const error = await failure(
      migrate(
        sql,
        names.map((name) => ({ name, text: 'select 1' })),
      ),
    )
    expect(error).toMatchObject({ name: 'MigrationOrderError', code: 'migration.order' })
    expect(error.message).toMatch(message)
    expect(await sql.query("select to_regclass('tidegate.migrations') as found")).toEqual([{ found: null }])
  })
})
