import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Launched, launched } from '../support/launched.ts'

const canary = 'canary0secret'
let house: Launched

beforeAll(async () => {
  house = await launched({
    UPSTREAM_CLOUD: 'http://127.0.0.1:9', // nobody listens there
    CREDENTIAL_CLOUD: JSON.stringify({ kind: 'basic', access_key: 'AK', secret_key: canary }),
    CREDENTIAL_MST: JSON.stringify({ kind: 'token', token: canary }),
  })
})
afterAll(() => house.end())

it('no secret stands in an answer or in the log, whatever goes wrong', async () => {
  const key = { authorization: `Bearer ${house.key}` }
  const calls: [string, RequestInit][] = [
    ['/cloud/public/api/v1/projects/p/services', { headers: key }],
    [
      '/cloud/public/api/v1/projects/p/services',
      { method: 'POST', headers: key, body: `{"name":1,"password":"${canary}"}` },
    ],
    ['/mst/v1/me', { headers: key }],
    ['/mst/v1/me', { headers: { authorization: `svcv1 ${canary}` } }],
    ['/clob/auth/api-keys', { headers: { authorization: `Bearer tdg_${canary}` } }],
    [
      '/clob/auth/api-keys',
      {
        headers: {
          POLY_ADDRESS: '0x1',
          POLY_PASSPHRASE: canary,
          POLY_API_KEY: canary,
          POLY_SIGNATURE: canary,
          POLY_TIMESTAMP: '1',
        },
      },
    ],
    [`/feed?token=${canary}`, {}],
    [`/feed/last?symbols=ORB-USD&token=${canary}`, {}],
    ['/jobs', { method: 'POST', headers: key, body: `{"name":"x","secret":"${canary}"` }],
    ['/ops/ready', {}],
    ['/nowhere', { headers: key }],
  ]
  const answers: string[] = []
  for (const [path, init] of calls) {
    const answer = await fetch(house.url + path, init)
    answers.push(`${path} ${answer.status} ${JSON.stringify([...answer.headers])} ${await answer.text()}`)
  }
  for (const answer of answers) {
    expect(answer.slice(answer.indexOf(' '))).not.toContain(canary)
    expect(answer).not.toContain(house.key)
  }
  const password = new URL(house.databaseUrl).password
  expect(house.logged().split('\n').length).toBeGreaterThanOrEqual(calls.length)
  for (const secret of [canary, house.key, house.key.slice(13), password]) expect(house.logged()).not.toContain(secret)
})
