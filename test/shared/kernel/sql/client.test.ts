import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createSql, type Sql } from '../../../../shared/kernel/sql/client.ts'
import { backends, failure, type Started } from '../../../functions/cli/database/backends.ts'

describe.each(backends)('createSql on $kind', ({ start }) => {
  let started: Started
  let sql: Sql
  beforeAll(async () => {
    started = await start()
    sql = createSql(started.url)
    await sql.query('create table things (id int primary key, name text not null)')
  })
  afterAll(() => started?.stop())

  it('keeps int8 and numeric as text, times as dates, JSON as values', async () => {
    const at = new Date('2024-02-29T12:34:56.789Z')
    expect(
      await sql.query(
        `select $1::int8 as big, 1.10::numeric as n, $2::timestamptz as at, $3::jsonb as j, '\\x0aff'::bytea as b, $4::text[] as l`,
        ['9007199254740993', at, { a: [1, null] }, ['x', null]],
      ),
    ).toEqual([
      { big: '9007199254740993', n: '1.10', at, j: { a: [1, null] }, b: Buffer.from([10, 255]), l: ['x', null] },
    ])
  })

  it('gives the rows of each statement of a batch, all of one transaction', async () => {
    const [first, second, third] = await sql.batch(
      [
        { text: "insert into things values (1, 'a') returning id" },
        { text: 'select pg_current_xact_id() = pg_current_xact_id() as same' },
        { text: 'select name from things where id = $1', params: [1] },
      ],
      { isolation: 'Serializable' },
    )
    expect([first, second, third]).toEqual([[{ id: 1 }], [{ same: true }], [{ name: 'a' }]])
    expect(await sql.batch([])).toEqual([])
  })

  it('stores nothing of a batch that fails', async () => {
    const error = await failure(
      sql.batch([{ text: "insert into things values (2, 'b')" }, { text: "insert into things values (2, 'c')" }]),
    )
    expect(error).toMatchObject({ code: 'database.unique', status: 409, fault: 'caller' })
    expect(await sql.query('select * from things where id = 2')).toEqual([])
  })

  it('reads only when told to', async () => {
    expect(await failure(sql.batch([{ text: 'delete from things' }], { readOnly: true }))).toMatchObject({
      sqlstate: '25006',
    })
  })

  it.each<[string, string, object]>([
    ['a syntax error', 'selec 1', { code: 'database.statement', status: 400, sqlstate: '42601' }],
    ['a wrong value', "select 'x'::int", { code: 'database.value', status: 400, sqlstate: '22P02' }],
    [
      'a missing value',
      'insert into things values (3, null)',
      { code: 'database.not_null', status: 400, sqlstate: '23502' },
    ],
    ['a raised error', "do $$ begin raise exception 'no'; end $$", { code: 'database.raised', sqlstate: 'P0001' }],
    [
      'an internal error',
      "do $$ begin raise exception 'no' using errcode = 'XX000'; end $$",
      { code: 'database.failed', status: 500, fault: 'platform' },
    ],
  ])('throws %s with its SQLSTATE', async (_, text, expected) => {
    const error = await failure(sql.query(text))
    expect(error).toMatchObject({ name: 'DatabaseError', ...expected })
    expect(error.cause).toMatchObject({ name: 'NeonDbError' })
  })

  it('tells where an error is, but not the row that caused it', async () => {
    const error = await failure(sql.query("insert into things values (4, 'secret-word') returning nosuch"))
    expect(error.details).toMatchObject({ sqlstate: '42703', position: expect.any(String) })
    const refused = await failure(sql.query("insert into things (name) values ('secret-word')"))
    expect(refused.details).toMatchObject({ sqlstate: '23502', table: 'things', column: 'id' })
    expect(JSON.stringify(refused.details)).not.toContain('secret-word')
  })

  it('says that an answer is too large, and that a request is', async () => {
    expect(await failure(sql.query("select repeat('x', 1000000) from generate_series(1, 11)"))).toMatchObject({
      code: 'database.response_too_large',
      status: 507,
    })
    const outcome = await failure(sql.query('select $1', ['x'.repeat(11 << 20)]))
    // The connection may be cut while the request is still being sent.
    expect(outcome.code).toMatch(/^database\.(request_too_large|down)$/)
  })

  describe('interactive', () => {
    it('has one session for as long as the work takes', async () => {
      const got = await sql.interactive(async (client) => {
        await client.query('begin')
        await client.query("set local my.thing = 'x'")
        const { rows } = await client.query<{ thing: string }>("select current_setting('my.thing') as thing")
        await client.query('rollback')
        return rows[0]?.thing
      })
      expect(got).toBe('x')
    })

    it('rolls back what the work left open', async () => {
      const error = await failure(
        sql.interactive(async (client) => {
          await client.query("begin; insert into things values (9, 'z')")
          throw new TypeError('of the work itself')
        }),
      )
      expect(error).toBeInstanceOf(TypeError)
      await expect.poll(() => sql.query('select * from things where id = 9')).toEqual([])
    })

    it('throws errors of statements as the others do', async () => {
      expect(await failure(sql.interactive((client) => client.query('select nosuch')))).toMatchObject({
        name: 'DatabaseError',
        code: 'database.statement',
        sqlstate: '42703',
      })
    })

    it('tells of a wrong password without repeating it', async () => {
      const wrong = createSql(started.url.replace(/:[^:@]*@/, ':wrong-word@'))
      for (const outcome of [
        await failure(wrong.interactive((client) => client.query('select 1'))),
        await failure(wrong.query('select 1')),
      ]) {
        expect(outcome).toMatchObject({
          code: 'database.authentication',
          status: 500,
          fault: 'platform',
          sqlstate: '28P01',
        })
        expect(outcome.message).not.toContain('wrong-word')
      }
    })

    it('hears notices', async () => {
      const notices: unknown[] = []
      await sql.interactive(async (client) => {
        client.on('notice', ({ message }) => notices.push(message))
        await client.query("do $$ begin raise notice 'heard'; end $$")
      })
      expect(notices).toEqual(['heard'])
    })
  })
})

describe('createSql', () => {
  it.each([
    ['', /is not a URL/],
    ['secret-word', /is not a URL/],
    ['mysql://u:secret-word@h/d', /does not start with postgresql:\/\//],
    ['postgresql://u:secret-word@h', /has no database/],
    ['postgresql://:secret-word@h/d', /has no user/],
  ])('refuses the URL %j without repeating it', (url, message) => {
    const error = (() => {
      try {
        createSql(url)
        return undefined
      } catch (thrown) {
        return thrown as Error
      }
    })()
    expect(error).toMatchObject({ name: 'DatabaseUrlError', code: 'database.url' })
    expect(error?.message).toMatch(message)
    expect(JSON.stringify(error)).not.toContain('secret-word')
  })

  describe('in front of an endpoint that fails', () => {
    const servers: Server[] = []
    afterEach(async () => {
      for (const server of servers.splice(0)) {
        server.closeAllConnections()
        server.close()
        await once(server, 'close')
      }
    })
    /** Answers with these in turn, the last again and again. */
    const endpointOf = async (...answers: readonly { readonly status: number; readonly body: object | string }[]) => {
      let requests = 0
      const server = createServer((request, response) => {
        const { status, body } = answers[Math.min(requests++, answers.length - 1)] as (typeof answers)[number]
        request.resume().on('end', () => {
          if (status === 0) response.destroy()
          else response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
        })
      }).listen(0, '127.0.0.1')
      servers.push(server)
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      return {
        sql: createSql(`postgresql://u:secret-word@127.0.0.1:${port}/d?sslmode=disable`),
        requests: () => requests,
      }
    }
    const gone = { status: 400, body: { message: 'gone', code: '57P01' } }
    const broken = { status: 0, body: '' }
    const fine = {
      status: 200,
      body: { fields: [{ name: 'one', dataTypeID: 23 }], rows: [['1']], command: 'SELECT', rowCount: 1 },
    }

    it.each([
      ['an engine that was ended', gone],
      ['a connection that broke', broken],
      ['a fault of the proxy', { status: 500, body: 'oops' }],
    ])('sends a read again after %s', async (_, first) => {
      const { sql, requests } = await endpointOf(first, first, fine)
      expect(await sql.query('select 1 as one', [], { retry: true })).toEqual([{ one: 1 }])
      expect(requests()).toBe(3)
    })

    it('gives up after the third try', async () => {
      const { sql, requests } = await endpointOf(gone)
      const error = await failure(sql.query('select 1', [], { retry: true }))
      expect(error).toMatchObject({
        name: 'DatabaseDownError',
        code: 'database.down',
        status: 503,
        details: { sqlstate: '57P01' },
      })
      expect(requests()).toBe(3)
    })

    it('never sends again what may write', async () => {
      for (const first of [gone, broken]) {
        const { sql, requests } = await endpointOf(first, fine)
        expect(await failure(sql.query('insert into t values (1)'))).toMatchObject({ code: 'database.down' })
        expect(await failure(sql.batch([]).then(() => Promise.reject(new Error('empty'))))).toMatchObject({
          message: 'empty',
        })
        expect(requests()).toBe(1)
      }
    })

    it('does not send a refused read again', async () => {
      const { sql, requests } = await endpointOf({ status: 400, body: { message: 'no', code: '42601' } }, fine)
      expect(await failure(sql.query('selec', [], { retry: true }))).toMatchObject({ sqlstate: '42601' })
      expect(requests()).toBe(1)
    })

    it('says that nothing answers, without the password', async () => {
      const sql = createSql('postgresql://u:secret-word@127.0.0.1:1/d?sslmode=disable')
      const outcomes = [
        await failure(sql.query('select 1')),
        await failure(sql.interactive((client) => client.query('select 1'))),
      ]
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ name: 'DatabaseDownError', status: 503, fault: 'platform' })
        expect(`${outcome.message} ${JSON.stringify(outcome)}`).not.toContain('secret-word')
      }
    })
  })
})
