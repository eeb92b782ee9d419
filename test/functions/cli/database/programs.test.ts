import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSql } from '../../../../shared/kernel/sql/client.ts'
import { findProgram } from '../../../support/postgres.ts'
import { backends, type Started, temporaryFolder } from './backends.ts'

/** Both back ends are of this version; pg_dump refuses servers that are newer than itself. */
const serverMajor = 18

const programs = {
  psql: findProgram('psql'),
  pg_dump: findProgram('pg_dump'),
  pg_restore: findProgram('pg_restore'),
  pgbench: findProgram('pgbench'),
}
type Program = keyof typeof programs

/** Why a program cannot be used here; undefined when it can. */
const missing = (name: Program, least = 0): string | undefined => {
  const program = programs[name]
  if (!program) return `${name} is not installed`
  return program.major < least ? `${name} ${program.major} is older than the server, ${least}` : undefined
}

/** A test that needs programs: where one is really missing its name says why it was skipped. */
const needs = (reason: string | undefined) => (name: string, body: () => Promise<void>) =>
  it.skipIf(reason !== undefined)(reason === undefined ? name : `${name} (skipped: ${reason})`, body)

const start = (name: Program, args: readonly string[]): ChildProcess =>
  spawn(programs[name]?.path as string, args, {
    env: { PATH: process.env.PATH, PSQLRC: '/dev/null', LC_ALL: 'C.UTF-8', PGTZ: 'UTC' },
  })

async function run(
  name: Program,
  args: readonly string[],
  input = '',
): Promise<{ out: string; err: string; code: number }> {
  const child = start(name, args)
  const output = { out: '', err: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.out += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.err += text
  })
  child.stdin?.end(input)
  const [code] = (await once(child, 'close')) as [number]
  return { ...output, code }
}

const schema = `
  create type mood as enum ('sad', 'happy');
  create domain positive as int check (value > 0);
  create table people (id int generated always as identity primary key, name text not null unique, mood mood default 'happy', age positive, at timestamptz not null, raw bytea, tags text[], extra jsonb);
  create table visits (person int not null references people on delete cascade, day date not null, primary key (person, day)) partition by range (day);
  create table visits_2020 partition of visits for values from ('2020-01-01') to ('2021-01-01');
  create index people_by_age on people (age) where age > 10;
  create view adults as select * from people where age >= 18;
  create materialized view ages as select age, count(*) from people group by age;
  create function greet(who text) returns text language sql immutable as $$ select 'hello; ' || who $$;
  create procedure note(n int) language plpgsql as $$ begin insert into people (name, at) values ('n' || n, now()); commit; end $$;
  create function touch() returns trigger language plpgsql as $$ begin new.at := '2020-01-01 00:00Z'; return new; end $$;
  create trigger touched before insert on people for each row execute function touch();
  create sequence counter start 5 increment 5;
  comment on table people is 'it''s "people"';
  insert into people (name, age, at, raw, tags, extra)
    select 'name ' || n || E'\\t\\\\"''', n, now(), decode(md5(n::text), 'hex'), array['a,b', null, '"'], jsonb_build_object('n', n, 'u', 'ü日本') from generate_series(1, 500) n;
  insert into visits select n, date '2020-01-01' + n from generate_series(1, 300) n;
  refresh materialized view ages;
  select nextval('counter');`

describe.each(backends)('client programs in front of $kind', ({ start: startBackend }) => {
  let started: Started
  const folder = temporaryFolder()
  beforeAll(async () => {
    started = await startBackend()
  })
  afterAll(async () => {
    await started?.stop()
    folder.remove()
  })

  describe('psql', () => {
    const psql = (args: readonly string[], input?: string) =>
      run('psql', ['-X', '-v', 'ON_ERROR_STOP=1', ...args, started.url], input)
    const test = needs(missing('psql'))

    test('runs commands and scripts, and prints tables', async () => {
      expect(await psql(['-At', '-c', "select 1, null, 'x'", '-c', 'select 2'])).toEqual({
        out: '1||x\n2\n',
        err: '',
        code: 0,
      })
      const script = join(folder.path, 'script.sql')
      writeFileSync(
        script,
        'create table scripted (n int);\n\\set n 5\ninsert into scripted values (:n);\nselect * from scripted;\n',
      )
      expect(await psql(['-Atq', '-f', script])).toMatchObject({ out: '5\n', code: 0 })
      expect((await psql(['-c', '\\d scripted'])).out).toContain('Table "public.scripted"')
    })

    test('shows errors with their place, and ends with 1', async () => {
      const { err, code } = await psql(['-c', 'select 1 +\n nosuch'])
      expect(code).toBe(1)
      expect(err).toMatch(/ERROR: {2}column "nosuch" does not exist\nLINE 2: {2}nosuch\n\s+\^/)
    })

    test('is refused with a wrong password', async () => {
      const { err, code } = await run('psql', ['-X', '-c', 'select 1', started.url.replace(/:[^:@]*@/, ':wrong@')])
      expect(code).toBe(2)
      expect(err).toContain('password authentication failed for user "tidegate"')
    })

    test('copies from and to files, as text and as CSV', async () => {
      const [text, csv, out] = ['in.txt', 'in.csv', 'out.csv'].map((name) => join(folder.path, name)) as [
        string,
        string,
        string,
      ]
      writeFileSync(text, '1\ta\n2\t\\N\n')
      writeFileSync(csv, 'n,t\n3,"x, ""y"""\n4,\n')
      const { out: said, code } = await psql(
        ['-q'],
        `create table copied (n int, t text);\n\\copy copied from '${text}'\n\\copy copied from '${csv}' csv header\n\\copy (select * from copied order by n) to '${out}' csv header\nselect count(*) from copied \\g (format=unaligned tuples_only)\n`,
      )
      expect({ said: said.trim(), code }).toEqual({ said: '4', code: 0 })
      expect(readFileSync(out, 'utf8')).toBe('n,t\n1,a\n2,\n3,"x, ""y"""\n4,\n')
    })

    test('copies data that stands in the script', async () => {
      expect(
        await psql(
          ['-Atq'],
          'create table inline_copied (n int);\ncopy inline_copied from stdin;\n1\n2\n\\.\nselect sum(n) from inline_copied;\n',
        ),
      ).toMatchObject({ out: '3\n', code: 0 })
    })

    test('ends a query at an interrupt', async () => {
      const child = start('psql', [
        '-X',
        '-c',
        `do $$ begin raise notice 'running'; loop end loop; end $$`,
        '-c',
        'select 5',
        started.url,
      ])
      let err = ''
      const noticed = new Promise<void>((resolve) => {
        child.stderr?.setEncoding('utf8').on('data', (text: string) => {
          err += text
          if (text.includes('running')) resolve()
        })
      })
      await noticed
      child.kill('SIGINT')
      await once(child, 'close')
      expect(err).toContain('canceling statement due to user request')
      expect(await createSql(started.url).query('select 1 as one', [], { retry: true })).toEqual([{ one: 1 }])
    })

    test('runs a transaction by hand, with savepoints', async () => {
      const script =
        'begin;\ncreate table saved (n int);\nsavepoint a;\ninsert into saved values (1);\nrollback to a;\ninsert into saved values (2);\ncommit;\nselect n from saved;\n'
      expect(await psql(['-Atq'], script)).toMatchObject({ out: '2\n', code: 0 })
    })
  })

  describe('pg_dump', () => {
    const dumpable = missing('pg_dump', serverMajor) ?? missing('psql')
    const dump = (url: string, ...args: string[]) => run('pg_dump', ['--schema', 'dumped', '--no-owner', ...args, url])
    const withoutToken = (text: string) => text.replace(/^\\(un)?restrict .*$/gm, '')
    beforeAll(async () => {
      if (dumpable === undefined)
        await run(
          'psql',
          ['-X', '-q', '-v', 'ON_ERROR_STOP=1', started.url],
          `create schema dumped; set search_path = dumped;${schema}`,
        )
    })

    needs(dumpable)('gives the same twice, and a restored copy gives it again', async () => {
      const first = await dump(started.url)
      expect(first).toMatchObject({ err: '', code: 0 })
      expect(first.out).toContain('COPY dumped.people')
      const second = await dump(started.url)
      expect(withoutToken(second.out)).toBe(withoutToken(first.out))
      const other = await (backends[0] as (typeof backends)[number]).start()
      try {
        const restored = await run('psql', ['-X', '-q', '-v', 'ON_ERROR_STOP=1', other.url], first.out)
        expect(restored).toMatchObject({ err: '', code: 0 })
        const again = await dump(other.url)
        expect(stripVersion(withoutToken(again.out))).toBe(stripVersion(withoutToken(first.out)))
      } finally {
        await other.stop()
      }
    })

    needs(dumpable ?? missing('pg_restore', serverMajor))('gives an archive that pg_restore takes', async () => {
      const file = join(folder.path, 'dump.custom')
      expect(await dump(started.url, '-Fc', '-f', file)).toMatchObject({ err: '', code: 0 })
      const other = await (backends[0] as (typeof backends)[number]).start()
      try {
        expect(await run('pg_restore', ['--no-owner', '--exit-on-error', '-d', other.url, file])).toMatchObject({
          err: '',
          code: 0,
        })
        expect(
          await createSql(other.url).query('select count(*)::int as n, dumped.greet(min(name)) from dumped.people'),
        ).toEqual([{ n: 500, greet: expect.stringMatching(/^hello; name 1/) }])
      } finally {
        await other.stop()
      }
    })

    needs(dumpable)('gives INSERTs, also while others write', async () => {
      const sql = createSql(started.url)
      await sql.query('create table if not exists written (n int)')
      let going = true
      const writer = (async () => {
        while (going) await sql.query('insert into written values (1)')
      })()
      const { err, code, out } = await dump(started.url, '--inserts')
      going = false
      await writer
      expect({ err, code }).toEqual({ err: '', code: 0 })
      expect(out.match(/^INSERT INTO dumped\.people /gm)?.length).toBe(500)
    })
  })

  describe('pgbench', () => {
    needs(missing('pgbench', serverMajor))(
      'fills its tables and runs with four clients, prepared and not',
      async () => {
        expect(await run('pgbench', ['-i', '-q', '-s', '1', started.url])).toMatchObject({ code: 0 })
        // A thread for each client: one that prepares waits for the transaction of another, which must not be its own thread's.
        for (const mode of ['simple', 'extended', 'prepared']) {
          const { out, code } = await run('pgbench', ['-n', '-c', '4', '-j', '4', '-t', '25', '-M', mode, started.url])
          expect({ code, done: /number of transactions actually processed: (\S+)/.exec(out)?.[1] }).toEqual({
            code: 0,
            done: '100/100',
          })
          expect(out).toContain('number of failed transactions: 0')
        }
        const [row] = await createSql(started.url).query(
          'select (select sum(abalance) from pgbench_accounts) = (select sum(bbalance) from pgbench_branches) as equal, (select count(*)::int from pgbench_history) as n',
        )
        expect(row).toEqual({ equal: true, n: 300 })
      },
    )
  })
})

/** The two back ends have different minor versions, which stand in a comment. */
const stripVersion = (text: string): string => text.replace(/^-- Dumped (from|by) .*$/gm, '')
