import { execFileSync, spawn } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fromRoot } from '../../functions/cli/root.ts'
import { rows } from '../support/rows.ts'
import { freePorts, type Greeting, isAlive, type Started, shell, start, temporaryFolder } from '../support/started.ts'

const folder = temporaryFolder()
const data = join(folder.path, 'data')
let ports: string[]
let running: Started
let greeting: Greeting

beforeAll(async () => {
  ports = await freePorts()
  running = start([...ports, '--data', data])
  greeting = await running.ready
})
afterAll(async () => {
  running.child.kill('SIGKILL')
  await running.exit
  folder.remove()
})

const line = (heading: number, at = 0): string => greeting.lines.get(heading)?.[at] ?? ''
const hasPsql = (() => {
  try {
    execFileSync('psql', ['--version'])
    return true
  } catch {
    return false
  }
})()

describe('the five printed lines', () => {
  it('1: list the services of the control plane', async () => {
    rows('card.use.one-https-gateway')
    const { output } = await shell(line(1).replace('curl', 'curl -fsS'))
    expect(JSON.parse(output)).toEqual(expect.any(Array))
    for (const path of ['/mst/v1/me', '/clob/auth/api-keys', '/gamma/markets?limit=1', '/data/']) {
      const answer = await fetch(greeting.url + path, { headers: { authorization: `Bearer ${greeting.key}` } })
      expect(answer.status, path).toBe(200)
    }
  })

  it('2: show the user of the managed service', async () => {
    expect(JSON.parse((await shell(line(2).replace('curl', 'curl -fsS'))).output)).toHaveProperty('user.user_id')
  })

  it('3: list the API keys of the order book', async () => {
    rows('card.gateway.auth.l2')
    const { output } = await shell(line(3).replace('curl', 'curl -fsS'))
    expect(JSON.parse(output)).toEqual({ apiKeys: expect.arrayContaining([expect.stringMatching(/^[0-9a-f-]{36}$/)]) })
  })

  it('4: print live prices', async () => {
    rows('card.use.price-websockets')
    const child = spawn('sh', ['-c', line(4)], { cwd: fromRoot('.'), detached: true })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    await vi.waitFor(() => expect(output).toMatch(/"t":"u".*"price":/), { timeout: 20_000, interval: 100 })
    process.kill(-(child.pid as number), 'SIGKILL')
    const frames = output
      .split('\n')
      .slice(0, -1)
      .map((text) => JSON.parse(text).t)
    expect(frames.slice(0, 2)).toEqual(['hello', 'ack'].slice(0, 1).concat(frames[1]))
    expect(frames).toContain('u')
  })

  it('5: make a job whose documents a Postgres client reads on the printed port after the next tick', {
    timeout: 90_000,
  }, async (context) => {
    rows('card.use.cron-schedules')
    const { output } = await shell(line(5).replace('curl', 'curl -fsS'))
    const job = JSON.parse(output)
    expect(job).toMatchObject({ id: expect.any(Number), kind: 'poll', state: 'scheduled' })
    const count = async () =>
      (await shell(`psql "${greeting.databaseUrl}" -Atc "select count(*) from tidegate.documents"`)).output.trim()
    if (!hasPsql) return context.skip('the program psql is not installed')
    await vi.waitFor(async () => expect(Number(await count())).toBeGreaterThan(0), { timeout: 80_000, interval: 1_000 })
    expect((await shell(line(5, 1))).output).toContain('/markets?closed=false')
  })
})

describe('the README', () => {
  it('has the same five lines', () => {
    rows('card.file.readme-md')
    const readme = readFileSync(fromRoot('README.md'), 'utf8')
    for (const heading of [1, 2, 3, 4, 5]) {
      const asInReadme = line(heading)
        .replaceAll(greeting.key, '$KEY')
        .replaceAll(greeting.url.slice('http://'.length), '127.0.0.1:8787')
      expect(readme).toContain(asInReadme)
    }
    const { scripts } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8'))
    for (const [, script] of readme.matchAll(/npm (?:run )?(start|test|build|budget|lint|types|vectors|bench)\b/g)) {
      expect(scripts).toHaveProperty(script as string)
    }
  })
})

describe('the data folder', () => {
  it('keeps the key for its owner only', () => {
    const file = join(data, 'key')
    expect(readFileSync(file, 'utf8').trim()).toBe(greeting.key)
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('in use is refused with a sentence', async () => {
    const second = start([...(await freePorts()), '--data', data])
    expect(await second.exit).toBe(1)
    expect(second.output()).toContain(`the data folder ${data} is in use by process`)
  })

  it('that cannot be made or written is refused with a sentence', async () => {
    const file = join(folder.path, 'a-file')
    writeFileSync(file, '')
    const below = start([...(await freePorts()), '--data', join(file, 'data')])
    expect(await below.exit).toBe(1)
    expect(below.output()).toMatch(
      /the data folder .*a-file.data cannot be made \(ENOTDIR\); choose another with --data/,
    )
  })

  it('whose key file holds no key is refused with a sentence', async () => {
    const other = temporaryFolder()
    writeFileSync(join(other.path, 'key'), 'nonsense')
    const started = start([...(await freePorts()), '--data', other.path])
    expect(await started.exit).toBe(1)
    expect(started.output()).toContain('does not hold a Tidegate key')
    other.remove()
  })
})

describe('a start that cannot work', () => {
  const failing = async (args: readonly string[], env: Record<string, string> = {}) => {
    const other = temporaryFolder()
    const started = start([...args, '--data', join(other.path, 'data')], env)
    const code = await started.exit
    other.remove()
    return { code, output: started.output() }
  }

  it('names a busy port and the flag', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const [, first, , database] = await freePorts()
    const gateway = await failing(['--port', String(port), '--database-port', String(database)])
    expect(gateway.code).toBe(1)
    expect(gateway.output).toContain(`port ${port} on 127.0.0.1 is in use; choose another with --port`)
    const wire = await failing(['--port', String(first), '--database-port', String(port)])
    expect(wire.output).toContain(`port ${port} on 127.0.0.1 is in use; choose another with --database-port`)
    server.close()
    const within = await failing(['--port', String(first), '--database-port', String(Number(first) + 3)])
    expect(within.code).toBe(1)
    expect(within.output).toContain(`port ${Number(first) + 3} is one of the mounts'`)
  })

  it.each([
    [['--port', '0'], 'a whole number from 1 to 65535'],
    [['--port', 'x'], 'a whole number from 1 to 65535'],
    [['--port', '65530'], 'is not between 1 and 65535; choose another with --port'],
    [['--nonsense'], 'unknown option'],
  ])('says what is wrong with %j', async (args, sentence) => {
    const { code, output } = await failing(args)
    expect(code).not.toBe(0)
    expect(output).toContain(sentence)
  })

  it('names a wrong setting, and shows no secret', async () => {
    const { code, output } = await failing(await freePorts(), {
      ANONYMOUS: 'perhaps',
      CREDENTIAL_MST: 'canary-secret',
      UPSTREAM_CLUB: 'x',
      TIME_SCALE: 'fast',
    })
    expect(code).toBe(1)
    expect(output).toContain('ANONYMOUS takes 0 or 1, not "perhaps"')
    expect(output).toContain('UPSTREAM_CLUB is not a setting of Tidegate')
    expect(output).toContain('TIME_SCALE takes a number from 0 up, such as 0.5, not "fast"')
    expect(output).not.toContain('canary-secret')
  })

  it('says that a database cannot be reached, without its password', async () => {
    const { code, output } = await failing([
      ...(await freePorts()),
      '--database-url',
      'postgresql://u:canary-secret@127.0.0.1:9/x',
    ])
    expect(code).toBe(1)
    expect(output).toMatch(/Tidegate cannot start: .*(reach|connect|refused|down)/i)
    expect(output).not.toContain('canary-secret')
  })
})

describe('the end', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const)(
    'by %s of the launcher leaves no process',
    async (signal) => {
      const other = temporaryFolder()
      const started = start([...(await freePorts()), '--data', join(other.path, 'data')])
      await started.ready
      const pids = await started.tree()
      expect(pids.length).toBeGreaterThanOrEqual(4) // launcher, Tidegate, the runtime, the engine
      started.child.kill(signal)
      await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 10_000, interval: 50 })
      if (signal !== 'SIGKILL') expect(await started.exit).toBe(0)
      other.remove()
    },
  )

  it('keeps everything for the next start, also by kill -9 of all', { timeout: 60_000 }, async () => {
    rows('card.postgres.serverless')
    const other = temporaryFolder()
    const args = [...(await freePorts()), '--data', join(other.path, 'data')]
    const first = start(args)
    const before = await first.ready
    const headers = { authorization: `Bearer ${before.key}`, 'content-type': 'application/json' }
    const made = await fetch(`${before.url}/cloud/public/api/v1/projects/prjalpha01/services`, {
      method: 'POST',
      headers,
      body: '{"name":"kept"}',
    })
    expect(made.status).toBe(202)
    const { service_id } = (await made.json()) as { service_id: string }
    const job = {
      name: 'kept',
      schedule: '0 0 1 1 *',
      task: { kind: 'poll', upstream: 'gamma', path: '/markets', sink: { kind: 'documents' } },
    }
    expect((await fetch(`${before.url}/jobs`, { method: 'POST', headers, body: JSON.stringify(job) })).status).toBe(201)
    await first.killTree()
    await first.exit
    const second = start(args)
    const after = await second.ready
    expect(after.key).toBe(before.key)
    const service = await fetch(`${after.url}/cloud/public/api/v1/projects/prjalpha01/services/${service_id}`, {
      headers,
    })
    expect(await service.json()).toMatchObject({ name: 'kept' })
    const jobs = (await (await fetch(`${after.url}/jobs`, { headers })).json()) as { data: { name: string }[] }
    expect(jobs.data.map(({ name }) => name)).toContain('kept')
    second.child.kill('SIGTERM')
    await second.exit
    const third = start([...args, '--fresh'])
    const anew = await third.ready
    expect(anew.key).not.toBe(before.key)
    expect((await fetch(`${anew.url}/mst/v1/me`, { headers })).status).toBe(401)
    third.child.kill('SIGTERM')
    await third.exit
    other.remove()
  })
})
