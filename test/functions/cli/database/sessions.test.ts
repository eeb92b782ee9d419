import { Client as NeonClient, Pool as NeonPool, neon, neonConfig } from '@neondatabase/serverless'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  bindFrame,
  closeStatementFrame,
  describePortalFrame,
  executeFrame,
  frame,
  parseFrame,
  queryFrame,
  request,
  syncFrame,
} from '../../../../functions/cli/database/wire/frames.ts'
import { backends, clients, failure, type Started } from './backends.ts'
import { flush, WireClient } from './wire-client.ts'

describe.each(backends)('sessions in front of $kind', ({ start }) => {
  let started: Started
  const { connect, end } = clients(() => started.url)
  beforeAll(async () => {
    started = await start()
  })
  afterEach(end)
  afterAll(() => started?.stop())

  const two = async () => [await connect(), await connect()] as const
  const value = async (client: pg.Client, text: string, params: unknown[] = []) =>
    Object.values((await client.query(text, params)).rows[0] ?? {})[0]

  describe('prepared statements', () => {
    it('are each client’s own, also under one name', async () => {
      const [a, b] = await two()
      const ask = (client: pg.Client, text: string) => client.query({ name: 'same', text, rowMode: 'array' })
      for (let round = 0; round < 3; round++) {
        expect((await ask(a, 'select 1 as x')).rows).toEqual([[1]])
        expect((await ask(b, "select 'b' as y, 2 as z")).rows).toEqual([['b', 2]])
      }
    })

    it('are shared by clients that prepare the same, without one taking it from the other', async () => {
      const pool = new pg.Pool({ connectionString: started.url, max: 5 })
      const ask = (n: number) =>
        pool.query<{ n: number }>({ name: 'double', text: 'select $1::int * 2 as n', values: [n] })
      const got = await Promise.all(Array.from({ length: 100 }, (_, n) => ask(n)))
      expect(got.map(({ rows }) => rows[0]?.n)).toEqual(Array.from({ length: 100 }, (_, n) => n * 2))
      await pool.end()
    })

    it('are not there for a client that did not make them', async () => {
      const [a, b] = [await WireClient.connect(started.url), await WireClient.connect(started.url)]
      a.send(parseFrame('mine', 'select 1'), syncFrame)
      expect(await a.ready()).toEqual(['1', 'Z I'])
      b.send(bindFrame('mine', []), executeFrame(), syncFrame)
      expect(await b.ready()).toEqual(['E 26000', 'Z I'])
      a.send(bindFrame('mine', []), executeFrame(), syncFrame)
      expect(await a.ready()).toEqual(['2', 'D 1', 'C SELECT 1', 'Z I'])
      a.send(parseFrame('mine', 'select 2'), syncFrame)
      expect(await a.ready()).toEqual(['E 42P05', 'Z I'])
      a.send(closeStatementFrame('mine'), bindFrame('mine', []), syncFrame)
      expect(await a.ready()).toEqual(['3', 'E 26000', 'Z I'])
      await Promise.all([a.end(), b.end()])
    })

    it('survive the DEALLOCATE ALL and DISCARD ALL of others', async () => {
      const [a, b] = await two()
      const ask = () => a.query({ name: 'kept', text: 'select 7 as x' })
      await ask()
      await b.query('deallocate all')
      expect((await ask()).rows).toEqual([{ x: 7 }])
      await b.query('discard all')
      expect((await ask()).rows).toEqual([{ x: 7 }])
    })

    it('can be run and removed by SQL under their own names', async () => {
      const [a, b] = await two()
      await b.query({ name: 'byname', text: "select 'wrong'" })
      await a.query({ name: 'byname', text: "select 'right' as x" })
      await b.query({ name: 'byname', text: "select 'wrong'" })
      expect((await a.query('execute byname')).rows).toEqual([{ x: 'right' }])
      await a.query('deallocate byname')
      expect(await failure(a.query('execute byname'))).toMatchObject({ code: '26000' })
      expect((await b.query({ name: 'byname', text: "select 'wrong'" })).rows).toHaveLength(1)
    })

    it('made by SQL are each client’s own', async () => {
      const [a, b] = await two()
      await a.query("prepare plan as select 'a' as x")
      await b.query("prepare plan (int) as select $1 as x; prepare other as select 'o' as x")
      expect((await a.query('execute plan')).rows).toEqual([{ x: 'a' }])
      expect((await b.query('execute plan (3)')).rows).toEqual([{ x: 3 }])
      expect((await b.query('execute other')).rows).toEqual([{ x: 'o' }])
      expect(await failure(a.query('execute other'))).toMatchObject({ code: '26000' })
      await a.query('deallocate plan')
      expect((await b.query('execute plan (4)')).rows).toEqual([{ x: 4 }])
    })

    it('without a name last until the client’s next, whatever others do in between', async () => {
      const [a, b] = [await WireClient.connect(started.url), await WireClient.connect(started.url)]
      a.send(parseFrame('', 'select 1'), frame(request.describe, 'S', '\0'), syncFrame)
      expect(await a.ready()).toEqual(['1', 't', 'T', 'Z I'])
      b.send(parseFrame('', "select 'other'"), bindFrame('', []), executeFrame(), syncFrame)
      await b.ready()
      a.send(bindFrame('', []), executeFrame(), syncFrame)
      expect(await a.ready()).toEqual(['2', 'D 1', 'C SELECT 1', 'Z I'])
      await b.query('select 1')
      b.send(bindFrame('', []), executeFrame(), syncFrame)
      expect(await b.ready()).toEqual(['E 26000', 'Z I'])
      await Promise.all([a.end(), b.end()])
    })

    it('are answered in order when many messages come at once', async () => {
      const client = await WireClient.connect(started.url)
      client.send(
        parseFrame('p1', 'select 1'),
        parseFrame('', 'select 2'),
        bindFrame('p1', []),
        describePortalFrame(),
        executeFrame(),
        bindFrame('', []),
        executeFrame(),
        closeStatementFrame('p1'),
        syncFrame,
        parseFrame('p1', "select 'x'"),
        bindFrame('p1', []),
        executeFrame(),
        syncFrame,
        queryFrame('select 3'),
      )
      expect(await client.ready()).toEqual([
        '1',
        '1',
        '2',
        'T',
        'D 1',
        'C SELECT 1',
        '2',
        'D 2',
        'C SELECT 1',
        '3',
        'Z I',
      ])
      expect(await client.ready()).toEqual(['1', '2', 'D x', 'C SELECT 1', 'Z I'])
      expect(await client.ready()).toEqual(['T', 'D 3', 'C SELECT 1', 'Z I'])
      await client.end()
    })

    it('that fail are not there afterwards', async () => {
      const client = await WireClient.connect(started.url)
      client.send(parseFrame('bad', 'select nosuch'), parseFrame('never', 'select 1'), syncFrame)
      expect(await client.ready()).toEqual(['E 42703', 'Z I'])
      client.send(bindFrame('never', []), syncFrame)
      expect(await client.ready()).toEqual(['E 26000', 'Z I'])
      client.send(parseFrame('bad', 'select 1'), bindFrame('bad', []), executeFrame(), syncFrame)
      expect(await client.ready()).toEqual(['1', '2', 'D 1', 'C SELECT 1', 'Z I'])
      await client.end()
    })

    it('give their rows in parts', async () => {
      const client = await WireClient.connect(started.url)
      await client.query('begin')
      const executeTwo = frame(request.execute, '\0', Buffer.from([0, 0, 0, 2]))
      client.send(parseFrame('', 'select generate_series(1, 3)'), bindFrame('', []), executeTwo, flush)
      expect(await client.until(0x73)).toEqual(['1', '2', 'D 1', 'D 2', 's'])
      client.send(executeTwo, syncFrame)
      expect(await client.ready()).toEqual(['D 3', 'C SELECT 1', 'Z T'])
      await client.end()
    })
  })

  describe('parameters', () => {
    it.each([
      ['SET', "set search_path = 'elsewhere', public"],
      ['set_config', "select set_config('search_path', 'elsewhere, public', false)"],
      ['a DO block', `do $$ begin perform set_config('search_path', 'elsewhere, public', false); end $$`],
    ])('set by %s stay with the client', async (_, text) => {
      const [a, b] = await two()
      await a.query(text)
      expect(await value(b, 'show search_path')).toBe('"$user", public')
      expect(await value(a, 'show search_path')).toMatch(/elsewhere/)
    })

    it('of many kinds come back after another client’s turn', async () => {
      const [a, b] = await two()
      await a.query(`set timezone = 'Asia/Tokyo'; set datestyle = 'German'; set application_name = 'it''s a "test"';
                     set session characteristics as transaction isolation level serializable; set work_mem = '8MB';
                     set my.thing = 'x y'; set bytea_output = 'escape'`)
      await b.query("set timezone = 'Europe/Berlin'")
      const query = `select current_setting('timezone') as tz, current_setting('datestyle') as ds, current_setting('application_name') as app,
                            current_setting('transaction_isolation') as iso, current_setting('work_mem') as mem,
                            current_setting('my.thing', true) as mine, current_setting('bytea_output') as bytes`
      expect((await a.query(query)).rows).toEqual([
        {
          tz: 'Asia/Tokyo',
          ds: 'German, DMY',
          app: 'it\'s a "test"',
          iso: 'serializable',
          mem: '8MB',
          mine: 'x y',
          bytes: 'escape',
        },
      ])
      expect((await b.query(query)).rows[0]).toMatchObject({ tz: 'Europe/Berlin', iso: 'read committed', mem: '4MB' })
      expect((await b.query(query)).rows[0].mine || null).toBeNull()
    })

    it('with dots set through parameters of a query come back too', async () => {
      const [a, b] = await two()
      await a.query('select set_config($1, $2, false)', ['app.tenant', 'seven'])
      await b.query('select 1')
      expect(await value(a, "select current_setting('app.tenant')")).toBe('seven')
      expect(await value(b, "select current_setting('app.tenant', true)")).toSatisfy((got) => !got)
    })

    it('set in a transaction that is rolled back are as before', async () => {
      const [a, b] = await two()
      await a.query("begin; set timezone = 'Asia/Tokyo'; rollback")
      await b.query('select 1')
      expect(await value(a, 'show timezone')).toBe('UTC')
    })

    it('go back to the start-up’s by RESET', async () => {
      const a = await connect({ options: '-c work_mem=9MB', application_name: 'first' })
      const b = await connect()
      expect(await value(a, 'show work_mem')).toBe('9MB')
      await a.query("set work_mem = '1MB'; set application_name = 'second'")
      await b.query('select 1')
      expect(await value(a, 'show work_mem')).toBe('1MB')
      await a.query('reset work_mem')
      expect([await value(a, 'show work_mem'), await value(a, 'show application_name')]).toEqual(['9MB', 'second'])
      await a.query('reset all')
      expect([await value(a, 'show work_mem'), await value(a, 'show application_name')]).toEqual(['9MB', 'first'])
      await b.query('select 1')
      expect(await value(a, 'show work_mem')).toBe('9MB')
      expect(await value(b, 'show work_mem')).toBe('4MB')
    })

    it('are reported to the client that sets them', async () => {
      const [a, b] = [await WireClient.connect(started.url), await WireClient.connect(started.url)]
      expect(await a.query("set timezone = 'Asia/Tokyo'")).toEqual(['C SET', 'S', 'Z I'])
      expect(await b.query('select 1')).toEqual(['T', 'D 1', 'C SELECT 1', 'Z I'])
      expect(await a.query('select 1')).toEqual(['T', 'D 1', 'C SELECT 1', 'Z I'])
      await Promise.all([a.end(), b.end()])
    })
  })

  describe('roles', () => {
    beforeAll(async () => {
      const client = await connect()
      await client.query('create role reader; create role writer')
    })

    it.each([
      ['SET ROLE', 'set role reader'],
      ['SET SESSION AUTHORIZATION', 'set session authorization reader'],
    ])('taken by %s stay with the client', async (_, text) => {
      const [a, b] = await two()
      const before = await value(b, 'select current_user')
      await a.query(text)
      expect(await value(b, 'select current_user')).toBe(before)
      expect(await value(a, 'select current_user')).toBe('reader')
      await a.query('reset session authorization')
      expect(await value(a, 'select current_user')).toBe(before)
    })

    it('keep a client without rights from what is not its', async () => {
      const [a, b] = await two()
      await b.query('create table if not exists private_thing (a int)')
      await a.query("set role reader; set work_mem = '7MB'")
      for (let round = 0; round < 2; round++) {
        expect(await failure(a.query('select * from private_thing'))).toMatchObject({ code: '42501' })
        await b.query('select * from private_thing')
      }
      expect(await value(a, 'show work_mem')).toBe('7MB')
    })
  })

  describe('temporary tables', () => {
    it('are each client’s own, under one name', async () => {
      const [a, b] = await two()
      await a.query('create temp table scratch (id serial primary key, x text); create index on scratch (x)')
      await a.query("insert into scratch (x) values ('a')")
      expect(await value(b, "select to_regclass('scratch')")).toBeNull()
      await b.query('create temp table scratch (y int); insert into scratch values (1), (2)')
      expect((await a.query('select * from scratch')).rows).toEqual([{ id: 1, x: 'a' }])
      expect((await b.query('select * from scratch')).rows).toEqual([{ y: 1 }, { y: 2 }])
      await a.query("insert into scratch (x) values ('b')")
      expect(await value(a, 'select count(*) from scratch')).toBe('2')
      await b.query('drop table scratch')
      expect(await value(a, 'select count(*) from scratch')).toBe('2')
    })

    it('made inside a routine are the client’s own too', async () => {
      const [a, b] = await two()
      await a.query(
        'create or replace function make() returns void language plpgsql as $$ begin create temp table hidden_scratch (a int); end $$',
      )
      await a.query('select make()')
      expect(await value(b, "select to_regclass('hidden_scratch')")).toBeNull()
      expect(await value(a, "select to_regclass('hidden_scratch')::text")).toBe('hidden_scratch')
    })

    it('are gone with their client', async () => {
      const [a, b] = await two()
      await a.query('create temp table leftover (a int); create temp view leftover_view as select * from leftover')
      await b.query('select 1')
      await a.end()
      await vi.waitFor(async () => {
        expect(
          await value(b, "select count(*) from pg_class where relname like 'leftover%' or relname like '~%'"),
        ).toBe('0')
      })
    })

    it('survive requests over HTTP', async () => {
      const [a] = await two()
      await a.query('create temp table surviving as select 5 as x')
      neonConfig.fetchEndpoint = (host, port) => `http://${host}:${port}/sql`
      const sql = neon(started.url, { disableWarningInBrowsers: true })
      expect(await sql`select to_regclass('surviving') as found`).toEqual([{ found: null }])
      await sql`create temp table surviving (other int)`
      expect((await a.query('select * from surviving')).rows).toEqual([{ x: 5 }])
    })
  })

  describe('cursors', () => {
    it('WITH HOLD last until their client ends', async () => {
      const [a, b] = await two()
      await a.query('declare held cursor with hold for select generate_series(1, 3) as n')
      await b.query('select 1')
      expect((await a.query('fetch 2 from held')).rows).toEqual([{ n: 1 }, { n: 2 }])
      await b.query('select 1')
      await a.end()
      await vi.waitFor(async () => expect(await value(b, 'select count(*) from pg_cursors')).toBe('0'))
    })
  })

  describe('transactions', () => {
    beforeAll(async () => {
      const client = await connect()
      await client.query('create table log (n int)')
    })

    it('are rolled back when the client ends in the middle', async () => {
      const [a, b] = await two()
      await a.query('begin; insert into log values (1)')
      await a.end()
      expect(await value(b, 'select count(*) from log')).toBe('0')
    })

    it('are rolled back when the connection breaks in the middle', async () => {
      const a = await WireClient.connect(started.url)
      const b = await connect()
      await a.query('begin; insert into log values (1)')
      a.socket.destroy()
      await vi.waitFor(async () => expect(await value(b, 'select count(*) from log')).toBe('0'))
    })

    it('keep what has happened before a Sync that never came from being stored', async () => {
      const a = await WireClient.connect(started.url)
      const b = await connect()
      a.send(parseFrame('', 'insert into log values (2)'), bindFrame('', []), executeFrame(), flush)
      expect(await a.until(0x43)).toEqual(['1', '2', 'C INSERT 0 1'])
      await a.end()
      expect(await value(b, 'select count(*) from log')).toBe('0')
    })

    it('store what came with the goodbye', async () => {
      const a = await WireClient.connect(started.url)
      const b = await connect()
      a.send(queryFrame('insert into log values (3)'), frame(request.terminate))
      expect(await a.ready()).toEqual(['C INSERT 0 1', 'Z I'])
      expect(await value(b, 'delete from log where n = 3 returning n')).toBe(3)
    })

    it('that failed wait for their end', async () => {
      const a = await connect()
      await a.query('begin')
      expect(await failure(a.query('select 1/0'))).toMatchObject({ code: '22012' })
      expect(await failure(a.query('select 1'))).toMatchObject({ code: '25P02' })
      await a.query('rollback')
      expect(await value(a, 'select 1')).toBe(1)
    })

    it('of many clients add up', async () => {
      const pool = new pg.Pool({ connectionString: started.url, max: 8 })
      await pool.query('create table counter as select 0 as n')
      const increment = async () => {
        const client = await pool.connect()
        await client.query('begin')
        const { rows } = await client.query('select n from counter for update')
        await client.query('update counter set n = $1', [rows[0].n + 1])
        await client.query('commit')
        client.release()
      }
      await Promise.all(Array.from({ length: 60 }, increment))
      expect((await pool.query('select n from counter')).rows).toEqual([{ n: 60 }])
      await pool.query('drop table counter')
      await pool.end()
    })
  })

  describe('notifications', () => {
    it('reach those who listen, and nobody else', async () => {
      const [a, b] = await two()
      const [c] = await two()
      const heard: Record<string, string[]> = { a: [], b: [], c: [] }
      a.on('notification', ({ channel, payload }) => heard.a?.push(`${channel}=${payload}`))
      b.on('notification', ({ channel, payload }) => heard.b?.push(`${channel}=${payload}`))
      c.on('notification', ({ channel, payload }) => heard.c?.push(`${channel}=${payload}`))
      await a.query('listen news')
      await b.query('listen "Other News"; listen news')
      await c.query("notify news, '1'")
      await c.query("select pg_notify('Other News', '2')")
      await vi.waitFor(() => expect(heard).toEqual({ a: ['news=1'], b: ['news=1', 'Other News=2'], c: [] }))
      await b.query('unlisten news')
      await c.query("notify news, '3'")
      await vi.waitFor(() => expect(heard.a).toEqual(['news=1', 'news=3']))
      await b.query('unlisten *')
      await c.query("notify news, '4'")
      await vi.waitFor(() => expect(heard.a).toEqual(['news=1', 'news=3', 'news=4']))
      expect(heard.b).toEqual(['news=1', 'Other News=2'])
    })

    it('come to oneself in the same turn', async () => {
      const a = await WireClient.connect(started.url)
      expect(await a.query('listen self')).toEqual(['C LISTEN', 'Z I'])
      expect((await a.query("notify self, 'x'")).sort()).toEqual(['A self=x', 'C NOTIFY', 'Z I'])
      await a.end()
    })

    it('of a LISTEN that was rolled back do not come', async () => {
      const [a, b] = await two()
      const heard: string[] = []
      a.on('notification', ({ payload }) => heard.push(String(payload)))
      await a.query('listen yes; begin; listen no; rollback').catch(() => undefined)
      await a.query('listen yes')
      await b.query("notify no, 'no'")
      await b.query("notify yes, 'yes'")
      await vi.waitFor(() => expect(heard).toEqual(['yes']))
    })

    it('name the session they come from', async () => {
      const [a, b] = await two()
      const heard: number[] = []
      a.on('notification', ({ processId }) => heard.push(processId))
      await a.query('listen who')
      await b.query('notify who')
      await vi.waitFor(() => expect(heard).toEqual([(b as unknown as { processID: number }).processID]))
    })
  })

  describe('over a WebSocket', () => {
    const configure = (client: NeonClient) => {
      client.neonConfig.wsProxy = (host, port) => `${host}:${port}/v2`
      client.neonConfig.useSecureWebSocket = false
      client.neonConfig.pipelineConnect = false
      return client
    }

    it('the Neon driver runs interactive transactions', async () => {
      const client = configure(new NeonClient(started.url))
      await client.connect()
      await client.query('create table if not exists ws_log (n int)')
      await client.query('begin')
      await client.query('insert into ws_log values ($1)', [1])
      expect((await client.query('select count(*)::int as n from ws_log')).rows).toEqual([{ n: 1 }])
      await client.query('rollback')
      expect((await client.query('select count(*)::int as n from ws_log')).rows).toEqual([{ n: 0 }])
      await client.end()
    })

    it('its pool works, also with the password sent unasked', async () => {
      Object.assign(neonConfig, {
        wsProxy: (host: string, port: number) => `${host}:${port}/v2`,
        useSecureWebSocket: false,
        pipelineConnect: 'password',
      })
      const pool = new NeonPool({ connectionString: started.url, max: 4 })
      const got = await Promise.all(Array.from({ length: 20 }, (_, n) => pool.query('select $1::int as n', [n])))
      expect(got.map(({ rows }) => rows[0].n)).toEqual(Array.from({ length: 20 }, (_, n) => n))
      await pool.end()
    })

    it('a wrong password is refused either way', async () => {
      const wrong = started.url.replace(/:[^:@]*@/, ':wrong@')
      expect(await failure(configure(new NeonClient(wrong)).connect())).toMatchObject({ code: '28P01' })
    })

    it('rolls back when the socket breaks', async () => {
      const client = configure(new NeonClient(started.url))
      client.on('error', () => undefined)
      await client.connect()
      await client.query('create table if not exists ws_break (n int)')
      await client.query('begin; insert into ws_break values (1)')
      ;(client as unknown as { connection: { stream: { ws: WebSocket } } }).connection.stream.ws.close()
      const other = await connect()
      await vi.waitFor(async () => expect(await value(other, 'select count(*) from ws_break')).toBe('0'))
    })
  })
})
