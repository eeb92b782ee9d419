import autocannon from 'autocannon'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { freePortRange } from '../../../functions/cli/ports.ts'
import { start, temporaryFolder } from '../../support/started.ts'
import { startChild } from '../child.ts'
import { median, type Row } from '../table.ts'

const path = '/public/api/v1/projects/p/services'

/** Requests a second through Tidegate (key check, scope, limit, Basic, log line) against bare pass-throughs. */
export async function measureGateway({ seconds, rounds }: { seconds: number; rounds: number }): Promise<Row[]> {
  const upstream = await startChild(new URL('./upstream.ts', import.meta.url))
  const nodeProxy = await startChild(new URL('./node-proxy.ts', import.meta.url), String(upstream.port))
  const first = await freePortRange('127.0.0.1', 11)
  const raw = await startPassThrough(first + 10, upstream.port)
  const folder = temporaryFolder()
  const tidegate = start(['--port', String(first), '--database-port', String(first + 9), '--data', folder.path], {
    UPSTREAM_CLOUD: `http://127.0.0.1:${upstream.port}`,
    CREDENTIAL_CLOUD: '{"kind":"basic","access_key":"a","secret_key":"b"}',
  })
  const { url: origin, key } = await tidegate.ready
  const subjects = [
    { subject: 'Tidegate', url: `${origin}/cloud${path}`, headers: { authorization: `Bearer ${key}` } },
    { subject: 'workerd, bare pass-through', url: `http://127.0.0.1:${first + 10}${path}`, headers: {} },
    { subject: 'Node http-proxy', url: `http://127.0.0.1:${nodeProxy.port}${path}`, headers: {} },
  ]
  const figures = new Map<string, number[]>()
  for (let round = 0; round < rounds; round++) {
    for (const { subject, url, headers } of subjects) {
      const result = await autocannon({ url, headers, connections: 32, duration: seconds })
      // A limit of its own would flatter nobody: an answer that is no success ends the measurement.
      if (result.non2xx > 0 || result.errors > 0)
        throw new Error(`${subject}: ${result.non2xx} refusals, ${result.errors} errors`)
      figures.set(subject, [...(figures.get(subject) ?? []), result.requests.average])
    }
  }
  tidegate.child.kill('SIGTERM')
  await tidegate.exit
  await raw.dispose()
  upstream.stop()
  nodeProxy.stop()
  folder.remove()
  const own = median(figures.get('Tidegate') ?? [])
  return subjects.map(({ subject }) => {
    const figure = median(figures.get(subject) ?? [])
    return {
      bench: 'gateway',
      subject,
      figure,
      unit: 'requests/s',
      ...(subject !== 'Tidegate' && { ratio: own / figure }),
    }
  })
}

async function startPassThrough(port: number, upstreamPort: number): Promise<Miniflare> {
  const script = `export default { fetch(request) {
    const url = new URL(request.url)
    const outgoing = new Request('http://127.0.0.1:${upstreamPort}' + url.pathname + url.search, request)
    outgoing.headers.set('authorization', 'Basic YTpi')
    return fetch(outgoing)
  } }`
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      port: 0,
      modules: true,
      script,
      compatibilityDate: '2026-09-15',
      unsafeDirectSockets: [{ host: '127.0.0.1', port }],
    }),
  )
  await miniflare.ready
  return miniflare
}
