import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { bearer, call, newKey, sql } from '../../support/gateway.ts'

describe('the limit of a key', () => {
  it('is told on every answer, and refuses in the shape of the mount when it is used up', async () => {
    const { id, text } = await newKey('admin')
    await sql().query(`update tidegate.keys set limits = '{"per_second":1,"burst":3}' where id = $1`, [id])
    const answers: Response[] = []
    for (let at = 0; at < 5; at++) answers.push(await call('/mst/v1/me', { headers: bearer(text) }))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429])
    expect(answers[0]?.headers.get('ratelimit-policy')).toBe('"default";q=3;w=3')
    expect(answers.map(({ headers }) => headers.get('ratelimit')?.split(';')[1])).toEqual([
      'r=2',
      'r=1',
      'r=0',
      'r=0',
      'r=0',
    ])
    expect(answers[3]?.headers.get('retry-after')).toBe('1')
    expect(await answers[3]?.json()).toMatchObject({
      message: expect.stringContaining('more than 1 requests a second'),
    })
  })

  it('does not touch another key', async () => {
    const one = await newKey('admin')
    await sql().query(`update tidegate.keys set limits = '{"per_second":1,"burst":1}' where id = $1`, [one.id])
    const other = await newKey('admin')
    expect((await call('/mst/v1/me', { headers: bearer(one.text) })).status).toBe(200)
    expect((await call('/mst/v1/me', { headers: bearer(one.text) })).status).toBe(429)
    expect((await call('/mst/v1/me', { headers: bearer(other.text) })).status).toBe(200)
  })
})

describe('Limiter', () => {
  it('gives one bucket to all who ask for it', async () => {
    const limiter = env.LIMITER.getByName('limiter:test')
    const policy = { perSecond: 1, burst: 10 }
    const granted = await Promise.all(
      [4, 4, 4].map(async (wanted) => (await limiter.take('a', policy, wanted)).granted),
    )
    expect(granted.toSorted()).toEqual([2, 4, 4])
    expect((await limiter.take('a', policy, 1)).granted).toBe(0)
    expect((await limiter.take('b', policy, 1)).granted).toBe(1)
  })
})
