import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { connect as connectSocket } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type DatabaseEndpoint, startDatabaseEndpoint } from '../../../../functions/cli/database/endpoint.ts'
import { int32, queryFrame } from '../../../../functions/cli/database/wire/frames.ts'
import { createSql } from '../../../../shared/kernel/sql/client.ts'
import { clients, failure, password, temporaryFolder } from './backends.ts'
import { copyData, WireClient } from './wire-client.ts'

/** Says so when it runs, since a notice is not held back, and never ends. */
const endless = `do $$ begin raise notice 'running'; loop end loop; end $$`
const eventually = <T>(look: () => T | Promise<T>): Promise<T> => vi.waitFor(look, { timeout: 20_000, interval: 20 })

/** Whether a process still does something: one that nobody has waited for yet has ended as well. */
const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

describe('the embedded engine', () => {
  const folder = temporaryFolder()
  const logged: string[] = []
  let endpoint: DatabaseEndpoint
  const { connect, end } = clients(() => endpoint.url)
  beforeAll(async () => {
    endpoint = await startDatabaseEndpoint({
      port: 0,
      password,
      backend: { kind: 'pglite', dataDir: join(folder.path, 'database'), idleInTransactionTimeoutMs: 20_000 },
      log: (line) => logged.push(line),
    })
  })
  afterEach(end)
  afterAll(async () => {
    await endpoint?.close()
    folder.remove()
  })

  it('runs in a process of its own, and long queries leave this one free', async () => {
    expect(endpoint.enginePid()).toSatisfy((pid: number) => pid !== process.pid && alive(pid))
    const client = await connect()
    let rounds = 0
    const timer = setInterval(() => rounds++, 10)
    await client.query('select count(*) from generate_series(1, 1000000)')
    clearInterval(timer)
    expect(rounds).toBeGreaterThan(1)
  })

  it('says its real version', async () => {
    const client = await WireClient.connect(endpoint.url)
    expect(client.parameters.get('server_version')).toMatch(/^18\.\d+$/)
    expect(client.parameters.get('session_authorization')).toBe('tidegate')
    await client.end()
    const sql = createSql(endpoint.url)
    expect(await sql.query('select current_user, current_database() as db, version()')).toEqual([
      { current_user: 'tidegate', db: 'tidegate', version: expect.stringContaining('PGlite') },
    ])
  })

  describe('when it is killed', () => {
    const kill = async () => {
      const pid = endpoint.enginePid() as number
      process.kill(pid, 'SIGKILL')
      await eventually(() => expect(endpoint.enginePid()).not.toBe(pid)) // the parent has noticed
    }

    it('is started again, and sessions that were idle go on with their settings', async () => {
      const client = await connect({ application_name: 'survivor' })
      await client.query(
        "set timezone = 'Asia/Tokyo'; set my.thing = 'x'; prepare plan as select 'p' as p; listen news",
      )
      await client.query({ name: 'named', text: "select 'n' as n" })
      await kill()
      const query = `select current_setting('timezone') as tz, current_setting('my.thing') as mine, current_setting('application_name') as app`
      expect((await client.query(query)).rows).toEqual([{ tz: 'Asia/Tokyo', mine: 'x', app: 'survivor' }])
      expect((await client.query('execute plan')).rows).toEqual([{ p: 'p' }])
      expect((await client.query({ name: 'named', text: "select 'n' as n" })).rows).toEqual([{ n: 'n' }])
      const heard: unknown[] = []
      client.on('notification', ({ payload }) => heard.push(payload))
      await createSql(endpoint.url).query("select pg_notify('news', 'still here')")
      await eventually(() => expect(heard).toEqual(['still here']))
      expect(logged.at(-1)).toMatch(/^the database engine ended \(SIGKILL\) and is started again/)
    })

    it('tells 57P01 to a session in the middle of a query or a transaction, and to nobody else', async () => {
      const [running, waiting] = [await connect(), await connect()]
      const noticed = once(running, 'notice')
      const lost = failure(running.query(endless))
      await noticed
      const answered = waiting.query('select 1 as one')
      await kill()
      expect(await lost).toMatchObject({ code: '57P01' })
      expect((await answered).rows).toEqual([{ one: 1 }])
      const inTransaction = await connect()
      await inTransaction.query('begin')
      await kill()
      await eventually(() => expect(inTransaction.errors[0]).toMatchObject({ code: '57P01' }))
      expect((await waiting.query('select 2 as two')).rows).toEqual([{ two: 2 }])
    })

    it('tells 57P01 to a session whose temporary tables are lost', async () => {
      const [owner, other] = [await connect(), await connect()]
      await owner.query('create temp table lost (a int)')
      await other.query('select 1')
      await kill()
      await eventually(() => expect(owner.errors[0]).toMatchObject({ code: '57P01' }))
    })

    it('answers a read over HTTP, which the client sends again', async () => {
      const sql = createSql(endpoint.url)
      const slow = sql.query('select pg_sleep(0.5), 1 as one', [], { retry: true })
      await eventually(() => expect(endpoint.enginePid()).toBeDefined())
      await new Promise((resolve) => setImmediate(resolve))
      await kill()
      expect(await slow).toMatchObject([{ one: 1 }])
    })
  })

  it('is started again when a query exhausts its stack', async () => {
    const client = await connect()
    expect(await failure(client.query("select repeat('[', 5000000)::json"))).toMatchObject({
      code: expect.stringMatching(/^(57P01|54001)$/),
    })
    const other = await connect()
    expect((await other.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  it('turns deep recursion into an SQL error', async () => {
    const client = await connect()
    await client.query(
      'create or replace function deep(n int) returns int language plpgsql as $$ begin return deep(n + 1); end $$',
    )
    expect(await failure(client.query('select deep(1)'))).toMatchObject({ code: '54001' })
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  it('turns programs and files that it does not have into SQL errors', async () => {
    const client = await connect()
    expect(await failure(client.query("copy (select 1) to program 'cat'"))).toHaveProperty('code')
    expect(await failure(client.query("copy (select 1) to '/nosuch/file'"))).toHaveProperty('code')
    expect(await failure(client.query("select pg_read_file('/etc/passwd')"))).toMatchObject({ code: '58P01' })
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  it('ends a COPY whose data does not come within statement_timeout, without being ended itself', async () => {
    const pid = endpoint.enginePid()
    const client = await WireClient.connect(endpoint.url)
    await client.query('create table if not exists copied (n int); set statement_timeout = 300')
    client.send(queryFrame('copy copied from stdin'), copyData('5\n'))
    expect(await client.ready()).toEqual(['G', 'E 57014', 'Z I'])
    expect(await client.query('select count(*) from copied')).toContain('D 0')
    expect(endpoint.enginePid()).toBe(pid)
    await client.end()
  })

  it('gives up a query that waits in line for longer than its statement_timeout', async () => {
    const pid = endpoint.enginePid()
    const [holder, waiting] = [await connect(), await connect()]
    await waiting.query('set statement_timeout = 300')
    await holder.query('begin')
    // A new engine has some time to warm up, for which nobody is blamed: asked until that has passed.
    await eventually(async () => expect(await failure(waiting.query('select 1'))).toMatchObject({ code: '57014' }))
    await holder.query('commit')
    expect((await waiting.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    expect(endpoint.enginePid()).toBe(pid)
  })

  it('does nothing when a session is cancelled that is idle', async () => {
    const client = await WireClient.connect(endpoint.url)
    const { processId, secretKey } = client.key
    const socket = connectSocket(endpoint.port, '127.0.0.1')
    socket.end(Buffer.concat([int32(16), int32(80877102), int32(processId), int32(secretKey)])).resume()
    await once(socket, 'close')
    expect(await client.query('select 1')).toContain('D 1')
    await client.end()
  })

  it('writes checkpoints, so that its log does not grow for ever', async () => {
    const client = await connect()
    await client.query('create table bulk (t text)')
    const wal = async () =>
      Number(
        (await client.query('select pg_current_wal_lsn() - redo_lsn as bytes from pg_control_checkpoint()')).rows[0]
          .bytes,
      )
    for (let round = 0; round < 8; round++)
      await client.query('insert into bulk select repeat(md5(n::text), 10) from generate_series(1, 30000) n')
    // Looked at every ten seconds of use.
    await eventually(async () => {
      await client.query('select 1')
      expect(await wal()).toBeLessThan(48 << 20)
    })
    await client.query('drop table bulk')
  })
})

describe('the folder of an embedded database', () => {
  const folder = temporaryFolder()
  afterAll(() => folder.remove())
  const start = (name: string, options: object = {}) =>
    startDatabaseEndpoint({
      port: 0,
      password,
      backend: { kind: 'pglite', dataDir: join(folder.path, name), ...options },
      log: () => undefined,
    })

  it('keeps what was stored, for its owner only', async () => {
    const first = await start('kept')
    await createSql(first.url).query('create table t as select 5 as n')
    await first.close()
    const second = await start('kept')
    expect(await createSql(second.url).query('select n from t')).toEqual([{ n: 5 }])
    await second.close()
    expect(statSync(join(folder.path, 'kept')).mode & 0o777).toBe(0o700)
    expect(readdirSync(join(folder.path, 'kept'))).toEqual(['cluster'])
  })

  it('is refused to a second one, naming folder and process', async () => {
    const first = await start('locked')
    const error = await failure(start('locked'))
    expect(error).toMatchObject({ name: 'DatabaseFolderLockedError', code: 'database_folder.locked' })
    expect(error.message).toContain(join(folder.path, 'locked'))
    expect(error.message).toContain(`process ${process.pid};`)
    expect(await createSql(first.url).query('select 1 as one')).toEqual([{ one: 1 }])
    await first.close()
    await (await start('locked')).close()
  })

  it.each([
    ['a process that is gone', { engine: { pid: 2 ** 30, startedAt: '1' }, owner: { pid: 2 ** 30, startedAt: '1' } }],
    [
      'another process of the same id',
      { engine: { pid: process.pid, startedAt: '1' }, owner: { pid: process.pid, startedAt: '1' } },
    ],
  ])('is taken over from %s', async (_, holder) => {
    mkdirSync(join(folder.path, 'stale'), { recursive: true })
    const boot = existsSync('/proc/sys/kernel/random/boot_id')
      ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
      : ''
    writeFileSync(join(folder.path, 'stale', 'lock'), JSON.stringify({ ...holder, host: `${hostname()}/${boot}` }))
    await (await start('stale')).close()
    expect(existsSync(join(folder.path, 'stale', 'lock'))).toBe(false)
  })

  it('held by a host that still gives signs of life is refused', async () => {
    mkdirSync(join(folder.path, 'shared'), { recursive: true })
    const process = { pid: 1, startedAt: '1' }
    writeFileSync(
      join(folder.path, 'shared', 'lock'),
      JSON.stringify({ engine: process, owner: process, host: 'elsewhere/1' }),
    )
    expect(await failure(start('shared'))).toMatchObject({
      message: expect.stringContaining('in use by process 1 on elsewhere;'),
    })
  })

  it('that was left in the middle of being made is made again', async () => {
    mkdirSync(join(folder.path, 'unfinished', 'cluster'), { recursive: true })
    writeFileSync(join(folder.path, 'unfinished', 'cluster', 'PG_VERSION'), '18\n')
    writeFileSync(join(folder.path, 'unfinished', 'cluster.unfinished'), '')
    const endpoint = await start('unfinished')
    expect(await createSql(endpoint.url).query('select 1 as one')).toEqual([{ one: 1 }])
    await endpoint.close()
  })

  it.each<[string, (path: string) => void, RegExp]>([
    [
      'is a file',
      (path) => writeFileSync(path, ''),
      /\((EEXIST|ENOTDIR)\): a file stands in the way; remove it, or choose another folder/,
    ],
    [
      'has data of another version',
      (path) => {
        mkdirSync(join(path, 'cluster'), { recursive: true })
        writeFileSync(join(path, 'cluster', 'PG_VERSION'), '17\n')
      },
      /has data of PostgreSQL 17, this engine is PostgreSQL 18; dump it/,
    ],
    [
      'has files that are no database',
      (path) => {
        mkdirSync(join(path, 'cluster', 'base'), { recursive: true })
      },
      /is damaged: .* has files but no PG_VERSION/,
    ],
  ])('that %s is refused in a sentence that names it', async (name, spoil, message) => {
    const path = join(folder.path, name.replaceAll(' ', '-'))
    spoil(path)
    const error = await failure(start(name.replaceAll(' ', '-')))
    expect(error).toMatchObject({ name: 'DatabaseFolderError', code: 'database_folder.unusable' })
    expect(error.message).toContain(path)
    expect(error.message).toMatch(message)
  })

  it('whose data is damaged is refused in a sentence that names it', async () => {
    await (await start('damaged')).close()
    const path = join(folder.path, 'damaged')
    rmSync(join(path, 'cluster', 'global'), { recursive: true })
    const error = await failure(start('damaged'))
    expect(error).toMatchObject({ name: 'EngineStartError', code: 'database_engine.start' })
    expect(error.message).toContain(path)
  })

  it('is made from a template, which is built when it is missing and again when it is damaged', async () => {
    const templatePath = join(folder.path, 'made', 'template.tar.gz')
    await (await start('from-none', { templatePath })).close()
    const size = statSync(templatePath).size
    expect(size).toBeGreaterThan(1_000_000)
    const before = statSync(templatePath).mtimeMs
    await (await start('from-template', { templatePath })).close()
    expect(statSync(templatePath).mtimeMs).toBe(before)
    truncateSync(templatePath, size >> 1)
    const endpoint = await start('from-damaged', { templatePath })
    expect(await createSql(endpoint.url).query('select 1 as one')).toEqual([{ one: 1 }])
    await endpoint.close()
    expect(statSync(templatePath).size).toBeGreaterThan(1_000_000)
    expect(readdirSync(join(folder.path, 'made'))).toEqual(['template.tar.gz'])
  })
})

describe('kill -9', () => {
  const folder = temporaryFolder()
  afterAll(() => folder.remove())
  const script = fileURLToPath(new URL('./endpoint-process.ts', import.meta.url).href)
  const children: ChildProcess[] = []
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })
  /** An endpoint in a process of its own. */
  const startChild = async () => {
    const child = fork(script, [join(folder.path, 'database')], { execArgv: [] })
    children.push(child)
    const [message] = (await once(child, 'message')) as [{ url: string; enginePid: number }]
    return { child, ...message }
  }

  it('of the engine loses no row that was acknowledged', async () => {
    const endpoint = await startDatabaseEndpoint({
      port: 0,
      password,
      backend: { kind: 'pglite', dataDir: join(folder.path, 'rows') },
      log: () => undefined,
    })
    const sql = createSql(endpoint.url)
    await sql.query('create table rows (n int primary key)')
    const acknowledged = new Set<number>()
    let next = 0
    for (let round = 0; round < 4; round++) {
      let going = true
      const writers = Array.from({ length: 4 }, async () => {
        while (going) {
          const n = next++
          await sql.query('insert into rows values ($1)', [n]).then(
            () => acknowledged.add(n),
            () => undefined,
          )
        }
      })
      const enough = acknowledged.size + 50 + round * 37
      await eventually(() => expect(acknowledged.size).toBeGreaterThan(enough))
      const pid = endpoint.enginePid()
      if (pid !== undefined) process.kill(pid, 'SIGKILL')
      going = false
      await Promise.all(writers)
      const stored = new Set(
        (await sql.query<{ n: number }>('select n from rows', [], { retry: true })).map(({ n }) => n),
      )
      expect([...acknowledged].filter((n) => !stored.has(n))).toEqual([])
    }
    await endpoint.close()
  })

  it('of the endpoint ends the engine too, also in the middle of a query, and the folder can be opened at once', async () => {
    const { child, url, enginePid } = await startChild()
    const sql = createSql(url)
    await sql.query('create table kept as select 1 as n')
    const lost = failure(sql.query(endless))
    await eventually(() => expect(readFileSync(`/proc/${enginePid}/stat`, 'utf8')).toContain(' R '))
    child.kill('SIGKILL')
    await lost
    const second = await startChild()
    expect(alive(enginePid)).toBe(false)
    expect(await createSql(second.url).query('select n from kept')).toEqual([{ n: 1 }])
    second.child.send('close')
    await once(second.child, 'exit')
    expect(existsSync(join(folder.path, 'database', 'lock'))).toBe(false)
  })

  it('interrupts from the terminal leave the engine to its parent', async () => {
    const { child, url, enginePid } = await startChild()
    process.kill(enginePid, 'SIGINT')
    process.kill(enginePid, 'SIGTERM')
    expect(await createSql(url).query('select 1 as one')).toEqual([{ one: 1 }])
    child.send('close')
    await once(child, 'exit')
    expect(alive(enginePid)).toBe(false)
  })

  it('leaves no process behind', async () => {
    await eventually(() => {
      const listed = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
      expect(listed.split('\n').filter((line) => line.includes(folder.path))).toEqual([])
    })
  })
})
