import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  answer,
  bindFrame,
  describePortalFrame,
  executeFrame,
  parseFrame,
  queryFrame,
  syncFrame,
} from '../../../../functions/cli/database/wire/frames.ts'
import { backends, type Started } from './backends.ts'
import { copyData, copyDone, copyFail, flush, WireClient } from './wire-client.ts'

describe.each(backends)('COPY in front of $kind', ({ start }) => {
  let started: Started
  let client: WireClient
  beforeAll(async () => {
    started = await start()
    client = await WireClient.connect(started.url)
  })
  afterAll(async () => {
    await client?.end()
    await started?.stop()
  })
  beforeEach(async () => {
    await client.query('drop table if exists t; create table t (a int, b text)')
  })
  const rows = async () => (await client.query("select string_agg(a || b, ' ' order by a) from t"))[1]

  describe('FROM STDIN', () => {
    it('asks for data, takes it and counts it', async () => {
      client.send(queryFrame('copy t from stdin'))
      expect(await client.until(answer.copyIn)).toEqual(['G'])
      client.send(copyData('1\tx\n2'), copyData('\ty\n'), copyDone)
      expect(await client.ready()).toEqual(['C COPY 2', 'Z I'])
      expect(await rows()).toBe('D 1x 2y')
    })

    it('takes data that was sent without waiting', async () => {
      client.send(queryFrame('copy t from stdin'), copyData('1\tx\n'), copyDone, queryFrame('select 1'))
      expect(await client.ready()).toEqual(['G', 'C COPY 1', 'Z I'])
      expect(await client.ready()).toEqual(['T', 'D 1', 'C SELECT 1', 'Z I'])
    })

    it('takes CSV with a header', async () => {
      client.send(queryFrame('copy t from stdin with (format csv, header)'), copyData('a,b\n1,"x, ""y"""\n'), copyDone)
      expect(await client.ready()).toEqual(['G', 'C COPY 1', 'Z I'])
      expect(await rows()).toBe('D 1x, "y"')
    })

    it('works in the middle of a script, twice', async () => {
      client.send(queryFrame('begin; copy t from stdin; select 5; copy t (a) from stdin; commit'))
      expect(await client.until(answer.copyIn)).toEqual(['C BEGIN', 'G'])
      client.send(copyData('1\tx\n'), copyDone)
      expect(await client.until(answer.copyIn)).toEqual(['C COPY 1', 'T', 'D 5', 'C SELECT 1', 'G'])
      client.send(copyData('2\n'), copyDone)
      expect(await client.ready()).toEqual(['C COPY 1', 'C COMMIT', 'Z I'])
      expect((await client.query('select count(*) from t'))[1]).toBe('D 2')
    })

    it('works behind a comment', async () => {
      client.send(queryFrame('/* copy */ -- it\n copy t from stdin'), copyData('1\tx\n'), copyDone)
      expect(await client.ready()).toEqual(['G', 'C COPY 1', 'Z I'])
    })

    it('works by the extended protocol', async () => {
      client.send(
        parseFrame('', 'copy t from stdin'),
        bindFrame('', []),
        describePortalFrame(),
        executeFrame(),
        syncFrame,
      )
      expect(await client.until(answer.copyIn)).toEqual(['1', '2', 'n', 'G'])
      client.send(copyData('1\tx\n'), copyDone, syncFrame)
      expect(await client.ready()).toEqual(['C COPY 1', 'Z I'])
      expect(await rows()).toBe('D 1x')
    })

    it('works by the extended protocol with a Flush, all at once', async () => {
      client.send(
        parseFrame('', 'copy t from stdin'),
        bindFrame('', []),
        executeFrame(),
        flush,
        copyData('1\tx\n'),
        copyDone,
        syncFrame,
      )
      expect(await client.ready()).toEqual(['1', '2', 'G', 'C COPY 1', 'Z I'])
    })

    it('stores nothing of wrong data, says where it is, and goes on', async () => {
      client.send(queryFrame('copy t from stdin'), copyData('1\tx\n'), copyData('zz\ty\n'), copyDone)
      expect(await client.ready()).toEqual(['G', 'E 22P02', 'Z I'])
      expect(await client.query('select count(*) from t')).toEqual(['T', 'D 0', 'C SELECT 1', 'Z I'])
    })

    it('drops what is still sent after an error', async () => {
      client.send(queryFrame('copy t from stdin'), copyData('zz\ty\n'), copyData('1\tx\n'.repeat(100_000)), copyDone)
      expect(await client.ready()).toEqual(['G', 'E 22P02', 'Z I'])
      client.send(copyData('late'), copyDone)
      expect(await client.query('select 1')).toEqual(['T', 'D 1', 'C SELECT 1', 'Z I'])
    })

    it('drops data for a table that is not there', async () => {
      client.send(queryFrame('copy nosuch from stdin'), copyData('1\tx\n'), copyDone)
      expect(await client.ready()).toEqual(['E 42P01', 'Z I'])
      expect(await client.query('select 1')).toEqual(['T', 'D 1', 'C SELECT 1', 'Z I'])
    })

    it('is undone when the client gives up', async () => {
      client.send(queryFrame('copy t from stdin'), copyData('1\tx\n'), copyFail('no more'))
      expect(await client.ready()).toEqual(['G', 'E 57014', 'Z I'])
      expect(await rows()).toBe('D ')
    })

    it('fails the transaction around it', async () => {
      await client.query('begin')
      client.send(queryFrame('copy t from stdin'), copyFail('no more'))
      expect(await client.ready()).toEqual(['G', 'E 57014', 'Z E'])
      expect(await client.query('select 1')).toEqual(['E 25P02', 'Z E'])
      expect(await client.query('rollback')).toEqual(['C ROLLBACK', 'Z I'])
    })

    it('is undone when the client goes away', async () => {
      const other = await WireClient.connect(started.url)
      other.send(queryFrame('copy t from stdin'), copyData('1\tx\n'))
      await other.until(answer.copyIn)
      other.socket.destroy()
      await expect.poll(() => client.query('select count(*) from t')).toEqual(['T', 'D 0', 'C SELECT 1', 'Z I'])
    })

    it('takes 40 MB in small pieces', async () => {
      const line = `1\t${'x'.repeat(990)}\n`
      client.send(queryFrame('copy t from stdin'))
      await client.until(answer.copyIn)
      for (let sent = 0; sent < 40; sent++) {
        if (!client.socket.write(copyData(line.repeat(1_000))))
          await new Promise((resolve) => client.socket.once('drain', resolve))
      }
      client.send(copyDone)
      expect(await client.ready()).toEqual(['C COPY 40000', 'Z I'])
    })
  })

  describe('TO STDOUT', () => {
    it('gives text and CSV', async () => {
      await client.query("insert into t values (1, 'x'), (2, null)")
      expect(await client.query('copy t to stdout')).toEqual(['H', 'd 1\tx', 'd 2\t\\N', 'c', 'C COPY 2', 'Z I'])
      expect(await client.query('copy t to stdout csv header')).toEqual([
        'H',
        'd a,b',
        'd 1,x',
        'd 2,',
        'c',
        'C COPY 2',
        'Z I',
      ])
    })

    it('gives back what was copied in, whatever it holds', async () => {
      const texts = ['', ' ', '\\N', 'a\\tb', "it's", '"', 'line\nbreak', '日本', '\\.']
      await client.query(
        `insert into t values ${texts.map((text, index) => `(${index}, '${text.replaceAll("'", "''")}')`).join(',')}`,
      )
      const lines = (await client.query('copy (select * from t order by a) to stdout')).filter((line) =>
        line.startsWith('d '),
      )
      await client.query('create table copied (like t)')
      client.send(
        queryFrame('copy copied from stdin'),
        ...lines.map((line) => copyData(`${line.slice(2)}\n`)),
        copyDone,
      )
      expect(await client.ready()).toContain(`C COPY ${texts.length}`)
      expect((await client.query('select count(*) from t natural join copied'))[1]).toBe(`D ${texts.length}`)
      await client.query('drop table copied')
    })
  })
})
