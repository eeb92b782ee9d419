import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { mountPorts } from '../../functions/cli/ports.ts'
import { sandboxTrader } from '../../shared/exchange/scenery.ts'
import { l2Headers } from '../../shared/kernel/auth/l2.ts'
import { type Launched, launched } from '../support/launched.ts'

let house: Launched
beforeAll(async () => {
  house = await launched({ HOST_CLOB: 'clob.example.com' })
})
afterAll(() => house.end())

const portOf = (mount: (typeof mountPorts)[number]['mount']): number =>
  house.port + (mountPorts.find((entry) => entry.mount === mount)?.offset ?? 0)

const get = async (mount: (typeof mountPorts)[number]['mount'], path: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(`http://127.0.0.1:${portOf(mount)}${path}`, { headers })
  return { status: answer.status, body: await answer.json() }
}

describe('a port of its own', () => {
  it('serves its mount without the prefix, with the same keys', async () => {
    const key = { authorization: `Bearer ${house.key}` }
    expect((await get('CLOUD', '/public/api/v1/projects/prjalpha01/services', key)).status).toBe(200)
    expect((await get('MST', '/v1/me', key)).body).toHaveProperty('user.user_id')
    expect((await get('CLOB', '/ok')).body).toBe('OK')
    expect((await get('GAMMA', '/markets?limit=1')).body).toHaveLength(1)
    expect((await get('DATA', '/')).status).toBe(200)
  })

  it('leaves a path that has the prefix alone', async () => {
    expect((await get('CLOB', '/clob/ok')).body).toBe('OK')
  })

  it('takes signatures over the bare and over the prefixed path, which differ between the official clients', async () => {
    const sign = async (path: string) => {
      const headers = await l2Headers(sandboxTrader, {
        timestamp: Math.floor(Date.now() / 1000),
        method: 'GET',
        path,
        body: undefined,
      })
      return { ...headers } as Record<string, string>
    }
    expect((await get('CLOB', '/auth/api-keys', await sign('/auth/api-keys'))).status).toBe(200)
    const main = async (path: string) =>
      (await fetch(`${house.url}/clob/auth/api-keys`, { headers: await sign(path) })).status
    expect(await main('/auth/api-keys')).toBe(200)
    expect(await main('/clob/auth/api-keys')).toBe(200)
    expect(await main('/other')).toBe(401)
  })

  it('serves the streamer at the root of the feed’s', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${portOf('FEED')}/?version=2`)
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    socket.send('{"subscribe":["ORB-USD"]}')
    const frame = await new Promise<string>((resolve) => socket.once('message', (data) => resolve(String(data))))
    expect(JSON.parse(frame)).toEqual({ type: 'pricing', message: expect.any(String) })
    socket.terminate()
  })
})

describe('a host of its own', () => {
  it('serves its mount without the prefix', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      request(
        { host: '127.0.0.1', port: house.port, path: '/ok', headers: { host: 'clob.example.com' } },
        (response) => {
          let text = ''
          response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(text))
        },
      )
        .on('error', reject)
        .end()
    })
    expect(answer).toBe('"OK"')
  })
})

describe('/openapi.json', () => {
  it('describes every mount; the control plane alone says version 1.0.0', async () => {
    const all = (await (await fetch(`${house.url}/openapi.json`)).json()) as { openapi: string; paths: object }
    expect(all.openapi).toBe('3.1.0')
    for (const path of [
      '/cloud/public/api/v1/projects/{project_id}/services',
      '/mst/v1/me',
      '/clob/book',
      '/gamma/markets',
      '/jobs',
    ]) {
      expect(all.paths).toHaveProperty([path])
    }
    const cloud = await (await fetch(`${house.url}/cloud/public/api/v1/openapi.json`)).json()
    expect(cloud).toMatchObject({ info: { version: '1.0.0' } })
  })
})
