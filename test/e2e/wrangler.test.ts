import { spawn } from 'node:child_process'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { freePortRange } from '../../functions/cli/ports.ts'
import { fromRoot } from '../../functions/cli/root.ts'
import { rows } from '../support/rows.ts'
import { killTree, temporaryFolder } from '../support/started.ts'

const folder = temporaryFolder()
let output = ''
let url = ''
let child: ReturnType<typeof spawn>

beforeAll(async () => {
  const port = await freePortRange('127.0.0.1', 1)
  url = `http://127.0.0.1:${port}`
  const configs = ['wrangler.toml', 'functions/relay/wrangler.toml', 'functions/sandbox/wrangler.toml'].flatMap(
    (path) => ['-c', path],
  )
  const args = [
    'wrangler',
    'dev',
    ...configs,
    '--port',
    String(port),
    '--ip',
    '127.0.0.1',
    '--inspector-port',
    '0',
    '--persist-to',
    folder.path,
    '--show-interactive-dev-session=false',
    '--var',
    'ANONYMOUS:1',
  ]
  child = spawn(process.execPath, [fromRoot('functions/cli/with-node.mjs'), ...args], {
    cwd: fromRoot('.'),
    env: {
      ...process.env,
      WRANGLER_SEND_METRICS: 'false',
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      WRANGLER_HIDE_BANNER: 'true',
      WRANGLER_LOG_PATH: folder.path,
    },
  })
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk))
})
afterAll(async () => {
  await killTree(child.pid as number)
  folder.remove()
})

it('wrangler runs the three scripts from their configuration files', async () => {
  rows('card.stack.wrangler')
  const health = await vi.waitFor(
    async () => {
      const answer = await fetch(`${url}/ops/health`).catch((cause) => {
        throw new Error(`no answer yet:\n${output}`, { cause })
      })
      expect(answer.status).toBe(200)
      return answer.json()
    },
    { timeout: 60_000, interval: 250 },
  )
  expect(health).toMatchObject({ status: 'ok' })
  // Through the service binding, to another script.
  expect(await (await fetch(`${url}/clob/ok`)).json()).toBe('OK')
})
