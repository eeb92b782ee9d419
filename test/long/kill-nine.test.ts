import { join } from 'node:path'
import { expect, it } from 'vitest'
import WebSocket from 'ws'
import { l1Headers } from '../../shared/kernel/auth/l1.ts'
import { createSql } from '../../shared/kernel/sql/client.ts'
import { freePorts, type Greeting, start, temporaryFolder } from '../support/started.ts'

const rounds = Number(process.env.KILL_ROUNDS ?? 20)
const writers = 4

type Acknowledged = { readonly privateKey: string; readonly nonce: number; readonly apiKey: string }

const randomPrivateKey = () =>
  `0x${Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, '0')).join('')}`

const signed = (privateKey: string, nonce: number): Record<string, string> => ({
  ...l1Headers({ privateKey, chainId: 137 }, Math.floor(Date.now() / 1000), nonce),
})

it(`loses no acknowledged API key and no committed tick in ${rounds} rounds of kill -9`, async () => {
  const folder = temporaryFolder()
  const args = [...(await freePorts()), '--data', join(folder.path, 'data')]
  const acknowledged: Acknowledged[] = []
  let checked = 0
  let committedTicks = 0
  let restartsMs: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const startedAt = performance.now()
    const running = start(args)
    const greeting = await running.ready
    restartsMs = [...restartsMs, performance.now() - startedAt]
    // Those of the last round each time, all of them at the end.
    await expectAll(greeting, round === rounds ? acknowledged : acknowledged.slice(checked))
    checked = acknowledged.length
    const ticks = await countTicks(greeting)
    expect(ticks).toBeGreaterThanOrEqual(committedTicks)
    if (round === rounds) {
      running.child.kill('SIGTERM')
      await running.exit
      break
    }
    const socket = new WebSocket(`${greeting.url.replace('http', 'ws')}/feed?symbols=ORBT,ORB-USD`)
    socket.on('error', () => {})
    let going = true
    const work = Array.from({ length: writers }, async () => {
      while (going) acknowledged.push(...(await createKey(greeting)))
    })
    // Two batches of ticks, so that there is something committed to lose.
    while ((await countTicks(greeting)) <= ticks) await new Promise((resolve) => socket.once('message', resolve))
    committedTicks = await countTicks(greeting)
    await running.killTree()
    going = false
    socket.terminate()
    await Promise.all([...work, running.exit])
  }
  console.log(
    `${rounds} kills, ${acknowledged.length} acknowledged keys, ${committedTicks} committed ticks, none lost; ` +
      `starts ${Math.round(Math.min(...restartsMs))} to ${Math.round(Math.max(...restartsMs))} ms`,
  )
  folder.remove()
})

/** Creates a key; gives it only when the answer arrived whole. */
async function createKey({ url }: Greeting): Promise<Acknowledged[]> {
  const privateKey = randomPrivateKey()
  const nonce = Math.floor(Math.random() * 1_000)
  try {
    const answer = await fetch(`${url}/clob/auth/api-key`, { method: 'POST', headers: signed(privateKey, nonce) })
    if (!answer.ok) return []
    const { apiKey } = (await answer.json()) as { apiKey: string }
    return [{ privateKey, nonce, apiKey }]
  } catch {
    return [] // killed in between: nothing was acknowledged
  }
}

async function expectAll({ url }: Greeting, acknowledged: readonly Acknowledged[]): Promise<void> {
  for (const { privateKey, nonce, apiKey } of acknowledged) {
    const answer = await fetch(`${url}/clob/auth/derive-api-key`, { headers: signed(privateKey, nonce) })
    expect(await answer.json()).toMatchObject({ apiKey })
  }
}

const countTicks = async ({ databaseUrl }: Greeting): Promise<number> => {
  const [row] = await createSql(databaseUrl).query<{ n: string }>('select count(*) as n from tidegate.feed_ticks')
  return Number(row?.n)
}
