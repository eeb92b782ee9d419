import { neon, neonConfig } from '@neondatabase/serverless'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { backends, failure, type Started } from './backends.ts'

type Answer = {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[]
  readonly rows: readonly unknown[]
  readonly command: string
  readonly rowCount: number | null
  readonly rowAsArray: boolean
}

describe.each(backends)('POST /sql in front of $kind', ({ start }) => {
  let started: Started
  beforeAll(async () => {
    started = await start()
    await answer('create table things (id int primary key, name text not null, check (id > 0))')
  })
  afterAll(() => started?.stop())

  const url = () => `http://127.0.0.1:${started.endpoint.port}/sql`
  const raw = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(url(), {
      method: 'POST',
      headers: {
        'neon-connection-string': started.url,
        'neon-raw-text-output': 'true',
        'neon-array-mode': 'true',
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const answer = async (query: string, params?: unknown[], headers?: Record<string, string>) => {
    const response = await raw({ query, params }, headers)
    const body = await response.json()
    expect(body, JSON.stringify(body)).toHaveProperty('rows')
    return body as Answer
  }

  describe('a single statement', () => {
    it('answers rows as text in arrays, with the fields node-postgres knows', async () => {
      expect(await answer('select $1::int as x, null as n', ['7'])).toEqual({
        fields: [
          {
            name: 'x',
            dataTypeID: 23,
            tableID: 0,
            columnID: 0,
            dataTypeSize: 4,
            dataTypeModifier: -1,
            format: 'text',
          },
          expect.objectContaining({ name: 'n', dataTypeID: 25 }),
        ],
        rows: [['7', null]],
        command: 'SELECT',
        rowCount: 1,
        rowAsArray: true,
      })
    })

    it.each([
      ['insert into things values (1, $1), (2, $1)', ['a'], 'INSERT', 2],
      ["update things set name = 'b'", [], 'UPDATE', 2],
      ['delete from things', [], 'DELETE', 2],
      ['create table made ()', [], 'CREATE', null],
      ['', [], '', null],
    ])('says what was done: %s', async (query, params, command, rowCount) => {
      expect(await answer(query, params)).toMatchObject({ command, rowCount, rows: [] })
    })

    it('answers rows as objects when asked to, by header or by body', async () => {
      const { rows, rowAsArray } = await answer('select 1 as a, 2 as b', [], { 'neon-array-mode': 'false' })
      expect({ rows, rowAsArray }).toEqual({ rows: [{ a: '1', b: '2' }], rowAsArray: false })
      const response = await raw({ query: 'select 1 as a', arrayMode: false })
      expect(await response.json()).toMatchObject({ rows: [{ a: '1' }], rowAsArray: false })
    })

    it('answers JSON values when raw text was not asked for', async () => {
      const query = `select true as b, 1::int2 as i, 1::int8 as big, 1.5::float8 as f, 'NaN'::float8 as nan, 1.50::numeric as n,
                            '{"a":[1]}'::jsonb as j, array[1,null,3] as ints, array['x','a "q" \\'] as texts, '{{1,2},{3,4}}'::int[] as deep`
      const { rows } = await answer(query, [], { 'neon-raw-text-output': 'false', 'neon-array-mode': 'false' })
      expect(rows).toEqual([
        {
          b: true,
          i: 1,
          big: '1',
          f: 1.5,
          nan: 'NaN',
          n: '1.50',
          j: { a: [1] },
          ints: [1, null, 3],
          texts: ['x', 'a "q" \\'],
          deep: [
            [1, 2],
            [3, 4],
          ],
        },
      ])
    })

    it.each<[string, unknown, string, string | null]>([
      ['null', null, 'text', null],
      ['a text', 'it\'s "q"', 'text', 'it\'s "q"'],
      ['a number', 1.5, 'float8', '1.5'],
      ['a number as text', 7, 'text', '7'],
      ['true', true, 'bool', 't'],
      ['an object', { a: 'b"c' }, 'jsonb', '{"a": "b\\"c"}'],
      ['an array', [1, null, 3], 'int[]', '{1,NULL,3}'],
      ['an array of texts', ['a,b', '"', '\\', '', 'NULL'], 'text[]', '{"a,b","\\"","\\\\","","NULL"}'],
      ['an array of arrays', [[1], [2]], 'int[]', '{{1},{2}}'],
      ['an array of objects', [{ a: 1 }], 'jsonb[]', '{"{\\"a\\": 1}"}'],
      ['a text beyond ASCII', '日本 🚀', 'text', '日本 🚀'],
    ])('takes %s as a parameter', async (_, value, type, text) => {
      expect((await answer(`select $1::${type}::text as v`, [value])).rows).toEqual([[text === 't' ? 'true' : text]])
    })

    it('keeps all digits of an integer that is larger than a double can hold', async () => {
      const response = await raw('{"query": "select $1::int8", "params": [9007199254740993]}')
      expect(await response.json()).toMatchObject({ rows: [['9007199254740993']] })
    })

    it('refuses two statements in one text', async () => {
      const response = await raw({ query: 'select 1; select 2' })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ code: '42601' })
    })

    it('refuses COPY FROM STDIN, and is fine afterwards', async () => {
      const response = await raw({ query: 'copy things from stdin' })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ code: '0A000' })
      expect((await answer('select 1')).rows).toEqual([['1']])
    })

    it('takes COPY TO STDOUT without giving its lines', async () => {
      expect(await answer('copy (select 1) to stdout')).toMatchObject({ command: 'COPY', rowCount: 1, rows: [] })
    })

    it('leaves nothing of one request to the next: parameters, roles, tables, statements, transactions', async () => {
      await answer("set search_path = 'elsewhere'")
      await answer("select set_config('app.user', 'ann', false)")
      await answer('create temp table temporary_thing (a int)')
      await answer('prepare kept as select 1')
      await answer('begin')
      await answer('create role somebody')
      await answer('set role somebody')
      expect(
        (
          await answer(
            `select current_setting('search_path'), current_setting('app.user', true), to_regclass('temporary_thing'),
                    (select count(*) from pg_prepared_statements where from_sql), current_user = session_user`,
          )
        ).rows,
      ).toEqual([['"$user", public', expect.toSatisfy((value) => !value), null, '0', 't']])
      await answer('drop role somebody')
    })
  })

  describe('an error', () => {
    it('tells all that the server says, null where it says nothing', async () => {
      const response = await raw({ query: 'insert into things values ($1, $2)', params: [-1, 'x'] })
      expect(response.status).toBe(400)
      expect(await response.json()).toEqual({
        message: 'new row for relation "things" violates check constraint "things_id_check"',
        code: '23514',
        detail: 'Failing row contains (-1, x).',
        hint: null,
        position: null,
        internalPosition: null,
        internalQuery: null,
        severity: 'ERROR',
        where: null,
        table: 'things',
        column: null,
        schema: 'public',
        dataType: null,
        constraint: 'things_id_check',
        file: 'execMain.c',
        line: expect.stringMatching(/^\d+$/),
        routine: 'ExecConstraints',
      })
    })

    it('has its place in the text', async () => {
      const response = await raw({ query: 'select nosuch' })
      expect(await response.json()).toMatchObject({ code: '42703', position: '8' })
    })

    it.each<[string, string | object, RegExp]>([
      ['no JSON', '{"query": ', /^the body is not JSON/],
      ['a list', '[1]', /expected \{"query", "params"\} or \{"queries"\}, given an array/],
      ['no query', {}, /^query: expected a text, given nothing/],
      ['a query that is no text', { query: 7 }, /^query: expected a text, given a number/],
      ['params that are no list', { query: 'select 1', params: {} }, /^params: expected an array, given a object/],
      ['queries that are no list', { queries: 'select 1' }, /^queries: expected an array, given a string/],
      ['a wrong query among others', { queries: [{ query: 'select 1' }, { query: null }] }, /^queries\[1\]\.query: /],
    ])('says in a sentence what is wrong with %s', async (_, body, message) => {
      const response = await raw(body)
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ message: expect.stringMatching(message), code: null })
    })

    it.each([
      ['wrong', () => started.url.replace(/:[^:@]*@/, ':wrong@'), '28P01'],
      ['of another user', () => started.url.replace('//tidegate', '//postgres'), '28P01'],
      ['no URL', () => 'not a url', '08001'],
    ])('refuses a connection string that is %s', async (_, text, code) => {
      const response = await raw({ query: 'select 1' }, { 'neon-connection-string': text() })
      expect(response.status).toBe(400)
      const body = (await response.json()) as { message: string }
      expect(body).toMatchObject({ code })
      expect(body.message).not.toContain('wrong@')
    })

    it('refuses a request without a connection string', async () => {
      const response = await fetch(url(), { method: 'POST', body: '{"query":"select 1"}' })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ code: '28P01' })
    })

    it('refuses a database that is not there', async () => {
      const response = await raw(
        { query: 'select 1' },
        { 'neon-connection-string': started.url.replace('/tidegate?', '/nosuch?') },
      )
      expect(await response.json()).toMatchObject({ code: '3D000' })
    })
  })

  describe('a batch', () => {
    const batch = async (queries: object[], headers?: Record<string, string>) => raw({ queries }, headers)

    it('runs all statements in one transaction and answers each', async () => {
      const response = await batch([
        { query: 'select pg_current_xact_id()::text as x' },
        { query: 'select pg_current_xact_id()::text as x, $1::text as y', params: ['q'], arrayMode: false },
        { query: "insert into things values (10, 'batch')" },
      ])
      const { results } = (await response.json()) as { results: Answer[] }
      const [first, second, third] = results as [Answer, Answer, Answer]
      expect(second.rows).toEqual([{ x: (first.rows as [[string]])[0][0], y: 'q' }])
      expect(third).toMatchObject({ command: 'INSERT', rowCount: 1, rows: [] })
    })

    it('undoes everything at the first error, and runs nothing after it', async () => {
      const response = await batch([
        { query: "insert into things values (20, 'x')" },
        { query: 'select 1/0' },
        { query: 'rollback' },
        { query: "insert into things values (21, 'y')" },
      ])
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ code: '22012' })
      expect((await answer('select id from things where id in (20, 21)')).rows).toEqual([])
    })

    it('reports what fails at the commit', async () => {
      await answer(
        'create table deferred (id int primary key, other int references deferred deferrable initially deferred)',
      )
      const response = await batch([{ query: 'insert into deferred values (1, 2)' }])
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ code: '23503' })
    })

    it('answers an empty batch', async () => {
      expect(await (await batch([])).json()).toEqual({ results: [] })
    })

    it.each([
      ['Serializable', 'serializable'],
      ['RepeatableRead', 'repeatable read'],
      ['ReadCommitted', 'read committed'],
      ['ReadUncommitted', 'read uncommitted'],
    ])('runs at the isolation level %s', async (name, level) => {
      const response = await batch([{ query: "select current_setting('transaction_isolation') as level" }], {
        'neon-batch-isolation-level': name,
        'neon-batch-read-only': 'true',
        'neon-batch-deferrable': 'true',
      })
      expect(await response.json()).toMatchObject({ results: [{ rows: [[level]] }] })
      expect(response.headers.get('neon-batch-isolation-level')).toBe(name)
      expect(response.headers.get('neon-batch-read-only')).toBe('true')
      expect(response.headers.get('neon-batch-deferrable')).toBe('true')
    })

    it('refuses to write when it is to read only', async () => {
      const response = await batch([{ query: 'delete from things' }], { 'neon-batch-read-only': 'true' })
      expect(await response.json()).toMatchObject({ code: '25006' })
    })

    it('refuses another isolation level', async () => {
      const response = await batch([{ query: 'select 1' }], { 'neon-batch-isolation-level': 'Chaos' })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ message: expect.stringMatching(/^invalid isolation level/) })
    })
  })

  describe('sizes', () => {
    it('takes a request just below 10 MiB', async () => {
      const text = 'x'.repeat(10 * 1024 * 1024 - 1_000)
      expect((await answer('select length($1::text)', [text])).rows).toEqual([[String(text.length)]])
    })

    it('refuses a request above 10 MiB, announced or not', async () => {
      const body = JSON.stringify({ query: 'select length($1)', params: ['x'.repeat(10 * 1024 * 1024)] })
      const announced = await raw(body).catch((error: unknown) => error)
      // The connection may be cut while the body is still being sent, which fetch reports as a failure.
      if (announced instanceof Response) expect(announced.status).toBe(413)
      const stream = new Blob([body]).stream()
      const chunked = await fetch(url(), {
        method: 'POST',
        headers: { 'neon-connection-string': started.url },
        body: stream,
        duplex: 'half',
      } as RequestInit).catch((error: unknown) => error)
      if (chunked instanceof Response) expect(chunked.status).toBe(413)
      expect((await answer('select 1')).rows).toEqual([['1']])
    })

    it('answers up to 10 MiB, and 507 above', async () => {
      const { rows } = await answer("select repeat('x', 1000000) from generate_series(1, 10)")
      expect(rows.length).toBe(10)
      const response = await raw({ query: "select repeat('x', 1000000) from generate_series(1, 11)" })
      expect(response.status).toBe(507)
      expect(await response.json()).toEqual({ message: expect.stringContaining('too large') })
    })

    it('gives up an answer without an end, and is fine afterwards', async () => {
      const response = await raw({ query: "select repeat('x', 100000), generate_series(1, 1000000000)" })
      expect(response.status).toBe(507)
      expect((await answer('select 1')).rows).toEqual([['1']])
    })
  })

  describe('who is answered', () => {
    it('refuses pages of browsers, and answers nothing about other origins', async () => {
      const response = await raw({ query: 'select 1' }, { origin: 'https://example.com' })
      expect(response.status).toBe(403)
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
      const plain = await raw({ query: 'select 1' })
      expect([...plain.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    })

    it.each([
      ['GET', '/sql', 405],
      ['OPTIONS', '/sql', 405],
      ['POST', '/other', 404],
      ['GET', '/', 404],
    ])('answers %s %s with %i', async (method, path, status) => {
      const response = await fetch(`http://127.0.0.1:${started.endpoint.port}${path}`, { method })
      expect(response.status).toBe(status)
      expect(await response.json()).toHaveProperty('message')
    })
  })

  describe('the Neon driver', () => {
    const driver = () => {
      neonConfig.fetchEndpoint = (host, port) => `http://${host}:${port}/sql`
      return neon(started.url, { disableWarningInBrowsers: true })
    }

    it('reads what it knows', async () => {
      const [row] = await driver().query(
        `select 1::int8 as big, 1.50::numeric as n, timestamptz '2020-01-02 03:04:05.678Z' as t, '{"a":1}'::jsonb as j, '\\x0102'::bytea as b, array['a', null] as l`,
      )
      expect(row).toEqual({
        big: '1',
        n: '1.50',
        t: new Date('2020-01-02T03:04:05.678Z'),
        j: { a: 1 },
        b: Buffer.from([1, 2]),
        l: ['a', null],
      })
    })

    it('writes what it knows', async () => {
      const at = new Date('2020-01-02T03:04:05.678Z')
      const [row] = await driver().query(
        `select $1::timestamptz = '2020-01-02 03:04:05.678Z' as t, $2::bytea = '\\x0102'::bytea as b, $3::jsonb->>'a' as j, $4::int[] as l, $5::int8 as n`,
        [at, Buffer.from([1, 2]), { a: 'x' }, [1, 2], 2n ** 53n + 1n],
      )
      expect(row).toEqual({ t: true, b: true, j: 'x', l: [1, 2], n: '9007199254740993' })
    })

    it('throws errors with their fields', async () => {
      const error = await failure(driver().query('insert into things values (1, null)'))
      expect(error).toMatchObject({ name: 'NeonDbError', code: '23502', table: 'things', column: 'name' })
    })

    it('runs transactions', async () => {
      const sql = driver()
      const results = await sql.transaction([sql`select 1 as a`, sql`select ${'x'}::text as b`], {
        isolationLevel: 'Serializable',
        readOnly: true,
      })
      expect(results).toEqual([[{ a: 1 }], [{ b: 'x' }]])
    })
  })

  it('answers many requests at once, each its own', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => (await answer('select $1::int', [index])).rows),
    )
    expect(answers).toEqual(Array.from({ length: 100 }, (_, index) => [[String(index)]]))
  })
})
