import { describe, expect, it } from 'vitest'
import { ConfigError, parseConfig } from '../../../functions/gateway/env.ts'

const faultOf = (env: Record<string, string>): string => {
  try {
    parseConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('parseConfig', () => {
  it('has a default for every setting', () => {
    const config = parseConfig({})
    expect(config.upstreams.CLOUD).toBe('sandbox')
    expect(config).toMatchObject({ anonymous: false, sandboxControl: false, mstScheme: 'svcv1' })
  })

  it('reads upstreams, hosts and credentials', () => {
    const config = parseConfig({
      UPSTREAM_CLOUD: 'https://cloud.example/public/api/v1/',
      UPSTREAM_CLOB_WS: 'wss://clob.example/ws',
      HOST_CLOB: 'Clob.Example.com',
      CREDENTIAL_CLOUD: '{"kind":"basic","access_key":"a","secret_key":"b:c"}',
      ANONYMOUS: '1',
    })
    expect(String(config.upstreams.CLOUD)).toBe('https://cloud.example/public/api/v1/')
    expect(config.hosts.get('clob.example.com')).toBe('CLOB')
    expect(config.credentials.CLOUD).toEqual({ kind: 'basic', access_key: 'a', secret_key: 'b:c' })
    expect(config.anonymous).toBe(true)
  })

  it.each([
    [{ ANONYMOUS: 'yes' }, 'ANONYMOUS takes 0 or 1, not "yes"'],
    [{ UPSTREAM_CLOB: 'ftp://x' }, 'UPSTREAM_CLOB takes sandbox, or an http, https, ws or wss URL'],
    [{ UPSTREAM_CLOB: 'https://user:pw@x' }, 'UPSTREAM_CLOB takes'],
    [{ HOST_CLOB: 'https://clob.example' }, 'HOST_CLOB takes a host name'],
    [{ UPSTREAM_CLUB: 'sandbox' }, 'UPSTREAM_CLUB is not a setting of Tidegate'],
    [{ MST_SCHEME: 'two words' }, 'MST_SCHEME takes one word'],
    [{ FEED_HB_MS: 'soon' }, 'FEED_HB_MS takes'],
  ])('stops with a sentence at %j', (env, sentence) => {
    expect(faultOf(env)).toContain(sentence)
  })

  it('names every fault at once, and never shows a secret', () => {
    const message = faultOf({
      ANONYMOUS: 'x',
      CREDENTIAL_CLOUD: '{"kind":"basic","secret_key":"hunter2"}',
      UPSTREAM_MST: '',
    })
    expect(message).toContain('ANONYMOUS takes')
    expect(message).toContain('CREDENTIAL_CLOUD takes a credential as JSON')
    expect(message).toContain('UPSTREAM_MST takes')
    expect(message).not.toContain('hunter2')
  })
})
