import { describe, expect, it } from 'vitest'
import { pollUrlFault, publicUrlFault } from '../../../shared/jobs/allowed-url.ts'

describe('publicUrlFault', () => {
  it.each(['https://api.example.com/a?b=c', 'https://xn--bcher-kva.example.com', 'https://api.example.com:443/'])(
    'takes %s',
    (url) => {
      expect(publicUrlFault(url)).toBeUndefined()
    },
  )

  it.each([
    'http://api.example.com/',
    'ftp://api.example.com/',
    'not a url',
    'https://user:pass@api.example.com/',
    'https://api.example.com:8443/',
    'https://127.0.0.1/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://localhost/',
    'https://localhost./',
    'https://a.localhost/',
    'https://intranet/',
    'https://db.internal/',
    'https://printer.local/',
  ])('refuses %s', (url) => {
    expect(publicUrlFault(url)).toBeTypeOf('string')
  })
})

describe('pollUrlFault', () => {
  it('takes a host of the list exactly, in any case', () => {
    expect(pollUrlFault('https://API.example.com/x', ['Api.Example.com'])).toBeUndefined()
  })

  it.each([
    'https://sub.api.example.com/',
    'https://api.example.com.evil.net/',
    'https://example.com/',
    'https://api.example.com./',
  ])('refuses %s', (url) => {
    expect(pollUrlFault(url, ['api.example.com'])).toContain('allow list')
  })
})
