import { once } from 'node:events'
import { connect as connectSocket, createServer, type Socket } from 'node:net'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { startDatabaseEndpoint } from '../../../../functions/cli/database/endpoint.ts'
import { FrameReader } from '../../../../functions/cli/database/wire/frame-reader.ts'
import {
  cstring,
  frame,
  int32,
  queryFrame,
  readError,
  request,
} from '../../../../functions/cli/database/wire/frames.ts'
import { createSql } from '../../../../shared/kernel/sql/client.ts'
import { startPostgres } from '../../../support/postgres.ts'
import { backends, clients, failure, password, type Started, temporaryFolder } from './backends.ts'
import { WireClient } from './wire-client.ts'

/** A connection that has said nothing yet. */
async function raw(port: number) {
  const socket = connectSocket(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

async function received(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(socket, 'close')
  return Buffer.concat(chunks)
}

function startup(code: number, parameters: Record<string, string> = {}): Buffer {
  const body = Buffer.concat([
    ...Object.entries(parameters).flatMap(([name, value]) => [cstring(name), cstring(value)]),
    Buffer.from([0]),
  ])
  return Buffer.concat([int32(8 + body.byteLength), int32(code), body])
}
const version3 = 3 << 16
const me = { user: 'tidegate', database: 'tidegate' }
const errorOf = (bytes: Buffer) =>
  readError(new FrameReader(1 << 20).read(bytes).find(([type]) => type === 0x45) as Buffer)

describe.each(backends)('the front of $kind', ({ start }) => {
  let started: Started
  const { connect, end } = clients(() => started.url)
  beforeAll(async () => {
    started = await start()
  })
  afterEach(end)
  afterAll(() => started?.stop())

  it('gives a URL that says how to reach it', () => {
    expect(started.url).toBe(
      `postgresql://tidegate:${encodeURIComponent(password)}@127.0.0.1:${started.endpoint.port}/tidegate?sslmode=disable`,
    )
  })

  describe('a start-up', () => {
    it('tells what the server is, and gives a key', async () => {
      const client = await WireClient.connect(started.url, { application_name: 'it' })
      expect(Object.fromEntries(client.parameters)).toMatchObject({
        server_version: expect.stringMatching(/^18\.\d/),
        server_encoding: 'UTF8',
        client_encoding: 'UTF8',
        DateStyle: 'ISO, MDY',
        integer_datetimes: 'on',
        standard_conforming_strings: 'on',
        TimeZone: 'UTC',
        application_name: 'it',
      })
      expect(client.key.processId).toBeGreaterThan(0)
      expect(client.key.secretKey).not.toBe(0)
      await client.end()
    })

    it('takes parameters, in options too, and reports them', async () => {
      const client = await WireClient.connect(started.url, { TimeZone: 'Asia/Tokyo', work_mem: '9MB' })
      expect(client.parameters.get('TimeZone')).toBe('Asia/Tokyo')
      expect(await client.query('show work_mem')).toContain('D 9MB')
      await client.end()
      const other = await connect({ options: '-c search_path=a,\\ b --work-mem=8MB -cgeqo=off' })
      expect((await other.query('show search_path')).rows).toEqual([{ search_path: 'a, b' }])
      expect((await other.query("select current_setting('work_mem') as m, current_setting('geqo') as g")).rows).toEqual(
        [{ m: '8MB', g: 'off' }],
      )
    })

    it.each<[string, pg.ClientConfig, string]>([
      ['an unknown parameter', { options: '-c nosuch_parameter=1' }, '42704'],
      ['a wrong value', { options: '-c work_mem=much' }, '22023'],
      ['a wrong password', { password: 'wrong' }, '28P01'],
      ['another user', { user: 'postgres' }, '28P01'],
      ['a database that is not there', { database: 'nosuch' }, '3D000'],
    ])('is refused with %s', async (_, config, code) => {
      const url = new URL(started.url)
      const full = {
        host: url.hostname,
        port: Number(url.port),
        user: 'tidegate',
        password,
        database: 'tidegate',
        ...config,
      }
      expect(await failure(new pg.Client(full).connect())).toMatchObject({ code, severity: 'FATAL' })
    })

    it('answers a request for encryption with no, twice', async () => {
      const socket = await raw(started.endpoint.port)
      for (const code of [80877103, 80877104]) {
        socket.write(Buffer.concat([int32(8), int32(code)]))
        expect(String((await once(socket, 'data'))[0])).toBe('N')
      }
      socket.destroy()
    })

    it('refuses what was sent before the answer to a request for encryption', async () => {
      const socket = await raw(started.endpoint.port)
      const bytes = received(socket)
      socket.write(Buffer.concat([int32(8), int32(80877103), startup(version3, me)]))
      expect(errorOf(await bytes)).toMatchObject({ code: '08P01', severity: 'FATAL' })
    })

    it('speaks 3.0 to those who want newer, and says which options it does not know', async () => {
      const socket = await raw(started.endpoint.port)
      socket.write(startup(version3 + 2, { ...me, '_pq_.wish': '1' }))
      const [answered] = (await once(socket, 'data')) as [Buffer]
      expect(answered[0]).toBe(0x76) // NegotiateProtocolVersion
      expect(answered.readInt32BE(5)).toBe(version3)
      expect(answered.toString('latin1', 13)).toContain('_pq_.wish')
      socket.destroy()
    })

    it.each<[string, Buffer, string]>([
      ['protocol 2.0', startup(2 << 16, me), '0A000'],
      ['no user', startup(version3, { database: 'tidegate' }), '28000'],
      ['replication', startup(version3, { ...me, replication: 'database' }), '0A000'],
      ['a length that is none', Buffer.concat([int32(4), int32(version3)]), '08P01'],
      ['a length beyond all bounds', Buffer.concat([int32(1_000_000), int32(version3)]), '08P01'],
    ])('is refused for %s', async (_, packet, code) => {
      const socket = await raw(started.endpoint.port)
      const bytes = received(socket)
      socket.write(packet)
      expect(errorOf(await bytes)).toMatchObject({ code, severity: 'FATAL' })
    })

    it.each([
      ['nothing', Buffer.alloc(0)],
      ['a part of a packet', Buffer.from([0, 0, 0])],
      ['a start-up and no password', startup(version3, me)],
    ])('that ends after %s leaves the endpoint as it was', async (_, bytes) => {
      const socket = await raw(started.endpoint.port)
      socket.end(bytes)
      socket.resume()
      await once(socket, 'close')
      expect(await createSql(started.url).query('select 1 as one')).toEqual([{ one: 1 }])
    })

    it('takes the password in clear text when it comes unasked', async () => {
      const socket = await raw(started.endpoint.port)
      socket.write(
        Buffer.concat([startup(version3, me), frame(request.password, cstring(password)), queryFrame('select 42')]),
      )
      const reader = new FrameReader(1 << 20)
      const types: string[] = []
      socket.on('data', (chunk: Buffer) => {
        for (const [type] of reader.read(chunk)) types.push(String.fromCharCode(type as number))
      })
      await vi.waitFor(() => expect(types.join('')).toMatch(/^RRS+KZTDCZ$/))
      socket.destroy()
    })
  })

  describe('messages', () => {
    it('that are no messages end the session with an error', async () => {
      const client = await WireClient.connect(started.url)
      client.send(Buffer.from('y\0\0\0\x04'))
      expect(await client.until(0x45)).toEqual(['E 08P01'])
      await once(client.socket, 'close')
    })

    it('of garbage lengths end the session', async () => {
      const client = await WireClient.connect(started.url)
      client.send(Buffer.from([0x51, 0, 0, 0, 0]))
      await client.until(0x45)
      await vi.waitFor(() => expect(client.closed).toBe(true))
    })

    it('in pieces of single bytes are put together', async () => {
      const client = await WireClient.connect(started.url)
      const bytes = Buffer.concat([queryFrame('select 1'), queryFrame("select 'two'")])
      for (const byte of bytes) {
        client.socket.write(Buffer.from([byte]))
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(await client.ready()).toContain('D 1')
      expect(await client.ready()).toContain('D two')
      await client.end()
    })

    it('of many megabytes go through, both ways', async () => {
      const client = await connect()
      const text = 'x'.repeat(30_000_000)
      const { rows } = await client.query('select $1::text as back, length($1) as n', [text])
      expect(rows[0].n).toBe(text.length)
      expect(rows[0].back === text).toBe(true)
    })

    it('of an empty query are answered as such', async () => {
      const client = await WireClient.connect(started.url)
      expect(await client.query('')).toEqual(['I', 'Z I'])
      expect(await client.query('-- nothing')).toEqual(['I', 'Z I'])
      await client.end()
    })

    it('give binary results when these are wanted', async () => {
      const client = await connect()
      expect((await client.query({ text: 'select 7::int as n', binary: true } as pg.QueryConfig)).rows).toEqual([
        { n: 7 },
      ])
    })
  })

  it('answers HTTP, WebSockets and the wire protocol on one port, all at once', async () => {
    const sql = createSql(started.url)
    const client = await connect()
    const one = async () => (await sql.query<{ n: number }>('select 1 as n'))[0]?.n
    const two = async () => (await client.query('select 2 as n')).rows[0].n
    const three = () => sql.interactive(async (session) => (await session.query('select 3 as n')).rows[0].n)
    const got = await Promise.all(Array.from({ length: 30 }, (_, index) => [one, two, three][index % 3]?.()))
    expect(got).toEqual(Array.from({ length: 30 }, (_, index) => (index % 3) + 1))
  })

  it.each([
    ['garbage', 'GARBAGE\r\n\r\n'],
    ['TLS', Buffer.from([0x16, 0x03, 0x01, 0, 5, 1, 2, 3, 4, 5])],
  ])('answers %s as bad HTTP, and goes on', async (_, bytes) => {
    const socket = await raw(started.endpoint.port)
    const got = received(socket)
    socket.write(bytes)
    expect(String(await got)).toMatch(/^HTTP\/1\.1 400 /)
    expect(await createSql(started.url).query('select 1 as one')).toEqual([{ one: 1 }])
  })

  it.each([
    ['another path', '/other', {}, 404],
    ['a page of a browser', '/v2', { origin: 'https://example.com' }, 403],
  ])('refuses a WebSocket for %s', async (_, path, headers, status) => {
    const response = new Promise<number>((resolve) => {
      void raw(started.endpoint.port).then((socket) => {
        socket.once('data', (chunk: Buffer) => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.[1])))
        const lines = Object.entries({
          host: '127.0.0.1',
          connection: 'upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': Buffer.alloc(16).toString('base64'),
          ...headers,
        }).map(([name, value]) => `${name}: ${value}\r\n`)
        socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
      })
    })
    expect(await response).toBe(status)
  })

  it('tells its sessions 57P01 when it closes, and frees the port', async () => {
    const own = await (backends[0] as (typeof backends)[number]).start()
    const client = new pg.Client(own.url)
    const errors: unknown[] = []
    client.on('error', (error) => errors.push(error))
    await client.connect()
    await client.query('begin')
    await own.stop()
    await vi.waitFor(() => expect(errors[0]).toMatchObject({ code: '57P01' }))
    const server = createServer().listen(own.endpoint.port, '127.0.0.1')
    await once(server, 'listening')
    server.close()
    await own.stop()
  })
})

describe('the address of an endpoint', () => {
  const folder = temporaryFolder()
  afterAll(() => folder.remove())
  const backend = { kind: 'pglite', dataDir: `${folder.path}/never-made` } as const

  it('that is taken is refused, naming the port', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const error = await failure(startDatabaseEndpoint({ port, password, backend }))
    expect(error).toMatchObject({ name: 'EndpointAddressError', code: 'database_endpoint.address' })
    expect(error.message).toBe(
      `the database endpoint cannot listen on 127.0.0.1, port ${port} (EADDRINUSE): another process listens there; stop it, or choose another port`,
    )
    server.close()
  })

  it.each(['0.0.0.0', '192.168.1.1', '::', 'example.com'])('beyond this machine is refused: %s', async (host) => {
    const error = await failure(startDatabaseEndpoint({ port: 0, host, password, backend }))
    expect(error.message).toContain(`expected a loopback host such as 127.0.0.1, given ${host}`)
  })

  it('without a password is refused', async () => {
    expect(await failure(startDatabaseEndpoint({ port: 0, password: '', backend }))).toMatchObject({
      code: 'database_endpoint.address',
    })
  })
})

describe('in front of a PostgreSQL that is not there', () => {
  it.each(['not a url', 'mysql://u:secret-word@h/d'])(
    'refuses a URL that is none, without repeating it: %s',
    async (url) => {
      const error = await failure(startDatabaseEndpoint({ port: 0, password, backend: { kind: 'postgres', url } }))
      expect(error).toMatchObject({ name: 'BackendUrlError', code: 'database_backend.url' })
      expect(error.message).not.toContain('secret-word')
    },
  )

  it('answers 08006 by all ways, and works once it is there again', async () => {
    const server = await startPostgres()
    const endpoint = await startDatabaseEndpoint({ port: 0, password, backend: { kind: 'postgres', url: server.url } })
    const sql = createSql(endpoint.url)
    const kept = new pg.Client(endpoint.url)
    const errors: unknown[] = []
    kept.on('error', (error) => errors.push(error))
    await kept.connect()
    expect(await sql.query('select 1 as one')).toEqual([{ one: 1 }])
    await server.stop()
    await vi.waitFor(() => expect(errors[0]).toMatchObject({ code: '57P01' }))
    const where = `the database server at 127.0.0.1:${server.port} cannot be reached: nothing listens there (ECONNREFUSED)`
    const outcomes = [
      await failure(sql.query('select 1')),
      await failure(new pg.Client(endpoint.url).connect()),
      await failure(sql.interactive((client) => client.query('select 1'))),
    ]
    for (const outcome of outcomes) {
      expect(outcome.message).toBe(where)
      expect(JSON.stringify(outcome)).not.toContain(server.password)
    }
    expect(outcomes[0]).toMatchObject({ code: 'database.down', status: 503, details: { sqlstate: '08006' } })
    expect(outcomes[1]).toMatchObject({ code: '08006', severity: 'FATAL' })
    await server.start()
    expect(await sql.query('select 2 as two')).toEqual([{ two: 2 }])
    await endpoint.close()
    await server.remove()
  })

  it('does not blame the client for credentials that are the endpoint’s', async () => {
    const server = await startPostgres()
    const url = server.url.replace(server.password, 'another-secret')
    const endpoint = await startDatabaseEndpoint({ port: 0, password, backend: { kind: 'postgres', url } })
    const error = await failure(createSql(endpoint.url).query('select 1'))
    expect(error).toMatchObject({ code: 'database.down', details: { sqlstate: '08006' } })
    expect(error.message).toContain(
      'refused the connection: password authentication failed for user "postgres" (28P01)',
    )
    expect(error.message).not.toContain('another-secret')
    await endpoint.close()
    await server.remove()
  })

  it('passes other databases of the server on', async () => {
    const server = await startPostgres()
    const endpoint = await startDatabaseEndpoint({ port: 0, password, backend: { kind: 'postgres', url: server.url } })
    const url = endpoint.url.replace('/tidegate?', '/template1?')
    expect(await createSql(url).query('select current_database() as db')).toEqual([{ db: 'template1' }])
    expect(await createSql(endpoint.url).query('select current_database() as db')).toEqual([{ db: 'postgres' }])
    const client = new pg.Client(url)
    await client.connect()
    expect((await client.query('select current_database() as db')).rows).toEqual([{ db: 'template1' }])
    await client.end()
    await endpoint.close()
    await server.remove()
  })
})
