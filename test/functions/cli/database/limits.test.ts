import { connect as connectSocket } from 'node:net'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  bindFrame,
  executeFrame,
  int32,
  parseFrame,
  queryFrame,
  syncFrame,
} from '../../../../functions/cli/database/wire/frames.ts'
import { createSql } from '../../../../shared/kernel/sql/client.ts'
import { backends, clients, failure, type Started } from './backends.ts'
import { WireClient } from './wire-client.ts'

/** Longer than any test waits for, and not a sleep, which an engine could interrupt. */
const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n'

describe.each(backends)('limits in front of $kind', ({ kind, start }) => {
  let started: Started
  const { connect, end } = clients(() => started.url)
  beforeAll(async () => {
    started = await start()
    const client = await connect()
    await client.query('create table stored (n int)')
    await end()
  })
  afterEach(end)
  afterAll(() => started?.stop())

  const value = async (client: pg.Client, text: string) => Object.values((await client.query(text)).rows[0] ?? {})[0]
  const cancel = ({ processId, secretKey }: WireClient['key']) =>
    new Promise<void>((resolve) => {
      const socket = connectSocket(started.endpoint.port, '127.0.0.1')
      socket.on('error', () => undefined)
      socket.once('close', () => resolve())
      socket.resume()
      socket.end(Buffer.concat([int32(16), int32(80877102), int32(processId), int32(secretKey)]))
    })
  /** Until a statement runs: a second one has to wait, or shows in the list. */
  const running = (what: WireClient) => new Promise((resolve) => what.socket.write(Buffer.alloc(0), resolve))

  describe('statement_timeout', () => {
    it.each<[string, (client: pg.Client) => Promise<unknown>]>([
      ['SET', (client) => client.query("set statement_timeout = '200ms'")],
      ['SET to a number', (client) => client.query('set statement_timeout to 200')],
      ['set_config', (client) => client.query("select set_config('statement_timeout', '200', false)")],
      [
        'set_config with parameters',
        (client) => client.query('select set_config($1, $2, false)', ['statement_timeout', '200']),
      ],
      [
        'set_config with a parameter',
        (client) => client.query("select set_config('statement_timeout', $1::text, false)", ['200']),
      ],
    ])('set by %s ends a statement, not the session', async (_, set) => {
      const client = await connect()
      await set(client)
      expect(await failure(client.query(endless))).toMatchObject({
        code: '57014',
        message: 'canceling statement due to statement timeout',
      })
      expect(await value(client, 'select 1')).toBe(1)
      expect(await value(client, 'show statement_timeout')).toBe('200ms')
      expect(await failure(client.query(endless))).toMatchObject({ code: '57014' })
      await client.query('set statement_timeout = 0')
    })

    it.each<[string, pg.ClientConfig]>([
      ['options', { options: '-c statement_timeout=200' }],
      ['its own parameter', { statement_timeout: 200 }],
    ])('given at the start by %s counts too', async (_, config) => {
      const client = await connect(config)
      expect(await failure(client.query(endless))).toMatchObject({ code: '57014' })
    })

    it('set in the same script counts for what follows', async () => {
      const client = await connect()
      expect(await failure(client.query(`select 1; set statement_timeout = 200; ${endless}`))).toMatchObject({
        code: '57014',
      })
      expect(await value(client, 'show statement_timeout')).toBe('0')
    })

    it('starts anew with each statement', async () => {
      const client = await connect()
      await client.query("set statement_timeout = '2s'")
      const nap = 'select pg_sleep(0.9)'
      expect(await client.query(`${nap};${nap};${nap}`)).toHaveLength(3)
    })

    it('set for a transaction ends with it, and leaves it failed', async () => {
      const client = await connect()
      await client.query('begin; set local statement_timeout = 200')
      expect(await failure(client.query(endless))).toMatchObject({ code: '57014' })
      expect(await failure(client.query('select 1'))).toMatchObject({ code: '25P02' })
      await client.query('rollback')
      expect(await value(client, 'show statement_timeout')).toBe('0')
      expect(await value(client, 'select 1')).toBe(1)
    })

    it('undoes what its transaction has done, and nothing before', async () => {
      const client = await connect()
      await client.query('insert into stored values (1)')
      await client.query("begin; insert into stored values (2); set local statement_timeout = '200ms'")
      expect(await failure(client.query(endless))).toMatchObject({ code: '57014' })
      // COMMIT of a failed transaction rolls back.
      expect((await client.query('commit')).command).toBe('ROLLBACK')
      expect((await client.query('delete from stored returning n')).rows).toEqual([{ n: 1 }])
    })

    it('counts over HTTP, in a batch and by options', async () => {
      const sql = createSql(started.url)
      const batch = sql.batch([{ text: "set local statement_timeout = '200ms'" }, { text: endless }])
      expect(await failure(batch)).toMatchObject({ code: 'database.canceled', status: 504, sqlstate: '57014' })
      const configured = sql.batch([
        { text: "select set_config('statement_timeout', $1, true)", params: ['200'] },
        { text: endless },
      ])
      expect(await failure(configured)).toMatchObject({ sqlstate: '57014' })
      const optioned = createSql(`${started.url}&options=${encodeURIComponent('-c statement_timeout=200')}`)
      expect(await failure(optioned.query(endless))).toMatchObject({ sqlstate: '57014' })
      expect(await sql.query('select 1 as one')).toEqual([{ one: 1 }])
    })

    it('is answered at the Sync of an extended query, and what came after it runs', async () => {
      const client = await WireClient.connect(started.url, { statement_timeout: '200' })
      client.send(parseFrame('', endless), bindFrame('', []), executeFrame(), parseFrame('', 'select 2'), syncFrame)
      client.send(queryFrame('select 3'))
      const first = await client.ready()
      expect(first.slice(-2)).toEqual(['E 57014', 'Z I'])
      expect(await client.ready()).toEqual(['T', 'D 3', 'C SELECT 1', 'Z I'])
      await client.end()
    })

    it('leaves other clients and their settings alone', async () => {
      const [culprit, other] = [await connect(), await connect()]
      await other.query("set timezone = 'Asia/Tokyo'; prepare kept as select 'k' as k")
      await other.query({ name: 'named', text: "select 'n' as n" })
      await culprit.query('set statement_timeout = 300')
      const slow = failure(culprit.query(endless))
      const waiting = other.query('show timezone')
      expect(await slow).toMatchObject({ code: '57014' })
      expect((await waiting).rows).toEqual([{ TimeZone: 'Asia/Tokyo' }])
      expect((await other.query('execute kept')).rows).toEqual([{ k: 'k' }])
      expect((await other.query({ name: 'named', text: "select 'n' as n" })).rows).toEqual([{ n: 'n' }])
      expect(await value(culprit, 'show statement_timeout')).toBe('300ms')
    })
  })

  describe('CancelRequest', () => {
    it('ends what is running, not the session', async () => {
      const client = await WireClient.connect(started.url)
      client.send(queryFrame(endless))
      await running(client)
      const answered = client.ready()
      await expect
        .poll(async () => {
          await cancel(client.key)
          return Promise.race([answered, undefined])
        })
        .toBeDefined()
      expect((await answered).slice(-2)).toEqual(['E 57014', 'Z I'])
      expect(await client.query('select 1')).toContain('D 1')
      await client.end()
    })

    it('without the right key does nothing', async () => {
      const client = await WireClient.connect(started.url)
      client.send(queryFrame('select pg_sleep(0.5)'))
      await cancel({ processId: client.key.processId, secretKey: client.key.secretKey + 1 })
      await cancel({ processId: 1, secretKey: 1 })
      expect(await client.ready()).toEqual(['T', 'D ', 'C SELECT 1', 'Z I'])
      await client.end()
    })
  })

  describe('idle_in_transaction_session_timeout', () => {
    it('ends a session that holds a transaction open, and rolls back', async () => {
      const [idle, other] = [await connect(), await connect()]
      await idle.query("set idle_in_transaction_session_timeout = '200ms'")
      await idle.query('begin; insert into stored values (77)')
      const count = await value(other, 'select count(*) from stored where n = 77')
      await vi.waitFor(() => expect(idle.errors[0]).toMatchObject({ code: '25P03' }))
      expect(count).toBe('0')
    })

    it('does not count while a statement runs', async () => {
      const client = await connect()
      await client.query('begin; set local idle_in_transaction_session_timeout = 200')
      await client.query('select pg_sleep(0.6)')
      expect(await value(client, 'select 1')).toBe(1)
      await client.query('rollback')
    })
  })

  it('lets a slow reader have all rows, and others go on meanwhile', async () => {
    const slow = await WireClient.connect(started.url)
    slow.socket.pause()
    slow.send(queryFrame("select repeat('x', 1000) from generate_series(1, 8000)"))
    const other = await connect()
    expect(await value(other, 'select 1')).toBe(1)
    slow.socket.resume()
    const seen = await slow.ready()
    expect(seen.length).toBe(8_003)
    await slow.end()
  })

  it('gives a result larger than what it may hold in memory', async () => {
    const client = await WireClient.connect(started.url)
    client.socket.pause()
    client.send(queryFrame("select repeat('x', 100000) from generate_series(1, 1000)"))
    await running(client)
    client.socket.resume()
    expect((await client.ready()).length).toBe(1_003)
    await client.end()
  })

  it('ends the query of a client that went away, in the end', async () => {
    const client = await WireClient.connect(started.url)
    client.send(queryFrame('select pg_sleep(0.3); insert into stored values (99)'))
    await running(client)
    client.socket.destroy()
    const other = await connect()
    await expect.poll(() => value(other, 'select count(*) from stored where n = 99')).toMatch(/^[01]$/)
    expect(kind).toMatch(/pglite|postgres/)
  })
})
