import { randomBytes } from 'node:crypto'
import { limitsOf } from '../../../shared/feed/connection.ts'
import { createKey } from '../../../shared/kernel/auth/key.ts'
import { createSql, type Sql } from '../../../shared/kernel/sql/client.ts'
import { insertKey } from '../../../shared/store/keys.ts'
import { freePorts, type Started, start, temporaryFolder } from '../../support/started.ts'
import { startChild } from '../child.ts'
import { median, type Row } from '../table.ts'
import { callerOf } from './commands.ts'
import type { LoadCommands } from './load.ts'
import { symbols } from './ticks.ts'
import type { UpstreamCommands } from './upstream.ts'
import type { WsPeerCommands } from './ws-peer.ts'

const own = 'Tidegate'
const peer = 'Node ws'
const rounds = 3
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Of the run that takes latency: each of the 20 symbols once a second. */
const ticksPerSecond = symbols.length

type Parts = {
  readonly load: ReturnType<typeof callerOf<LoadCommands>>
  readonly upstream: ReturnType<typeof callerOf<UpstreamCommands>>
  readonly wsPeer: ReturnType<typeof callerOf<WsPeerCommands>>
  readonly upstreamPort: number
  readonly wsPeerPort: number
  readonly tidegatePort: number
  readonly sql: Sql
}

/**
 * Fan-out of the price feed: items a second that all clients together receive, and milliseconds from the upstream's
 * send to a client's receive, through Tidegate and through a Node process with `ws` that sends the same frames.
 *
 * @param frames rounds of one tick per symbol in a run for throughput, single ticks in one for latency
 * @throws {Error} a client was lost, or got another number of items than was sent
 */
export async function measureFeed({ clients, frames }: { clients: number[]; frames: number }): Promise<Row[]> {
  const stops: (() => unknown)[] = []
  let stopping: Promise<void> | undefined
  const stopAll = () => {
    stopping ??= stopInTurn(stops)
    return stopping
  }
  // Interrupted, too, it leaves nothing running: Tidegate is a process that would outlive this one.
  const onSignal = () => void stopAll().finally(() => process.exit(130))
  for (const signal of signals) process.on(signal, onSignal)
  try {
    const parts = await startParts(stops)
    const rows: Row[] = []
    for (const count of clients) {
      rows.push(...(await measureThroughput(parts, count, frames)))
      rows.push(...(await measureLatency(parts, count, frames)))
    }
    return rows
  } finally {
    await stopAll()
    for (const signal of signals) process.off(signal, onSignal)
  }
}

async function stopInTurn(stops: readonly (() => unknown)[]): Promise<void> {
  for (const stop of stops.toReversed()) await stop()
}

async function startParts(stops: (() => unknown)[]): Promise<Parts> {
  const child = async (script: string) => {
    const { port, stop } = await startChild(new URL(script, import.meta.url))
    stops.push(stop)
    return port
  }
  const upstreamPort = await child('./upstream.ts')
  const wsPeerPort = await child('./ws-peer.ts')
  const loadPort = await child('./load.ts')
  const folder = temporaryFolder()
  stops.push(folder.remove)
  const tidegate = start([...(await freePorts()), '--data', folder.path], {
    UPSTREAM_STREAMER: `ws://127.0.0.1:${upstreamPort}`,
  })
  stops.push(() => end(tidegate))
  const { url, databaseUrl } = await tidegate.ready
  return {
    load: callerOf<LoadCommands>('the load generator', loadPort),
    upstream: callerOf<UpstreamCommands>('the upstream', upstreamPort),
    wsPeer: callerOf<WsPeerCommands>(peer, wsPeerPort),
    upstreamPort,
    wsPeerPort,
    tidegatePort: Number(new URL(url).port),
    sql: createSql(databaseUrl),
  }
}

async function end({ child, exit }: Started): Promise<void> {
  child.kill('SIGTERM')
  await exit
}

/** Both subjects in turn: the peer sends the very frames that Tidegate's clients got just before. */
async function measureThroughput(parts: Parts, count: number, frames: number): Promise<Row[]> {
  const { load, upstream, wsPeer } = parts
  const items = frames * symbols.length
  const figures: { own: number[]; peer: number[] } = { own: [], peer: [] }
  const perSecond = (firstUs: number, lastUs: number) => (count * items * 1_000_000) / (lastUs - firstUs)
  await enterBoth(parts, count, 0)
  for (let round = 0; round < rounds; round++) {
    await load('arm', { subject: own, items, takesLatency: false })
    const ours = await upstream('burst', { path: '/', rounds: frames })
    const { lastUs, texts } = await load('finish', { subject: own })
    figures.own.push(perSecond(ours.firstUs, lastUs))

    await load('arm', { subject: peer, items, takesLatency: false })
    const theirs = await wsPeer('replay', { texts })
    figures.peer.push(perSecond(theirs.firstUs, (await load('finish', { subject: peer })).lastUs))
  }
  await leaveBoth(parts)
  const bench = benchOf(count)
  const [figure, peerFigure] = [median(figures.own), median(figures.peer)]
  return [
    { bench, subject: own, figure, unit: 'deliveries/s' },
    { bench, subject: peer, figure: peerFigure, unit: 'deliveries/s', ratio: figure / peerFigure },
  ]
}

/**
 * Tidegate with its default conflation of 250 ms, the peer with none. A symbol that is quiet for a whole window leaves
 * at once, so at this rate the difference is what the hub gathers (50 ms) and the way through two objects.
 */
async function measureLatency(parts: Parts, count: number, ticks: number): Promise<Row[]> {
  const { load, upstream, wsPeer, upstreamPort } = parts
  await enterBoth(parts, count, 250)
  const latenciesOf = async (subject: string, path: string, items: number) => {
    await load('arm', { subject, items, takesLatency: true })
    await upstream('pace', { path, ticks: items, perSecond: ticksPerSecond })
    return (await load('finish', { subject })).latenciesMs
  }
  // One second first, for nothing: a tick so soon after the round at the entrance would wait for its window's end.
  await latenciesOf(own, '/', ticksPerSecond)
  const ours = await latenciesOf(own, '/', ticks)
  await wsPeer('follow', { port: upstreamPort })
  await latenciesOf(peer, '/peer', ticksPerSecond)
  const theirs = await latenciesOf(peer, '/peer', ticks)
  await wsPeer('unfollow', {})
  await leaveBoth(parts)
  const bench = benchOf(count)
  return [0.5, 0.99].flatMap((share) => {
    const [figure, peerFigure] = [quantile(ours, share), quantile(theirs, share)]
    const name = `latency p${share * 100}`
    return [
      { bench, subject: `${own}, ${name}`, figure, unit: 'ms' },
      { bench, subject: `${peer}, ${name}`, figure: peerFigure, unit: 'ms', ratio: figure / peerFigure },
    ]
  })
}

const benchOf = (count: number): string => `feed, ${count.toLocaleString('en')} clients`

/** Connects all clients to both; those of Tidegate get a first round, since a first item is written for each alone. */
async function enterBoth({ load, upstream, ...parts }: Parts, count: number, intervalMs: number): Promise<void> {
  await load('enter', {
    subject: own,
    port: parts.tidegatePort,
    path: `/feed?interval=${intervalMs}&symbols=${symbols.join()}`,
    authorizations: await authorizationsFor(parts.sql, count),
    awaitsSnapshot: true,
  })
  const authorizations = Array.from({ length: count }, () => '')
  await load('enter', { subject: peer, port: parts.wsPeerPort, path: '/', authorizations, awaitsSnapshot: false })
  await load('arm', { subject: own, items: symbols.length, takesLatency: false })
  await upstream('burst', { path: '/', rounds: 1 })
  await load('finish', { subject: own })
}

async function leaveBoth({ load }: Parts): Promise<void> {
  for (const subject of [own, peer]) await load('leave', { subject })
}

/** New keys, each for as many clients as one may open: those of the measurement before may not be quite gone yet. */
async function authorizationsFor(sql: Sql, count: number): Promise<string[]> {
  const { connections } = limitsOf(true)
  const keys: string[] = []
  while (keys.length * connections < count) {
    const { id, text, digest } = await createKey((length) => new Uint8Array(randomBytes(length)))
    await insertKey(sql, { id, name: 'feed benchmark', digest, scopes: ['feed:read'] })
    keys.push(text)
  }
  return Array.from({ length: count }, (_, at) => `Bearer ${keys[Math.floor(at / connections)]}`)
}

/** Of the values in order, the one at a share of their number. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
