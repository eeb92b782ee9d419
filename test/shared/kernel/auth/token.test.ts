import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseToken, tokenHeader, UnusableTokenError, withToken } from '../../../../shared/kernel/auth/token.ts'

describe('tokenHeader', () => {
  it('is scheme, one space, token', () => {
    expect(tokenHeader({ scheme: 'svcv1', token: 'a+b/c=' })).toBe('svcv1 a+b/c=')
  })

  it.each([
    ['two words as scheme', 'svc v1', 'token'],
    ['an empty scheme', '', 'token'],
    ['an empty token', 'svcv1', ''],
    ['white space in the token', 'svcv1', 'canary token'],
    ['a line break in the token', 'svcv1', 'canary\r\ninjected: 1'],
    ['characters that no header carries', 'svcv1', 'canary\u2713'],
  ])('refuses %s, without naming the token', (_, scheme, token) => {
    expect(() => tokenHeader({ scheme, token })).toThrow(UnusableTokenError)
    expect(() => tokenHeader({ scheme, token })).not.toThrow(/canary/)
  })
})

describe('parseToken', () => {
  it('takes any of the accepted scheme words in any case', () => {
    expect(parseToken('svcv1 abc', ['svcv1', 'aivenv1'])).toBe('abc')
    expect(parseToken('SvcV1 abc', ['svcv1'])).toBe('abc')
    expect(parseToken('aivenv1 abc', ['svcv1', 'AIVENV1'])).toBe('abc')
  })

  it.each<[string, string | null | undefined]>([
    ['no header', null],
    ['an undefined header', undefined],
    ['an empty header', ''],
    ['the scheme alone', 'svcv1'],
    ['the scheme and a space', 'svcv1 '],
    ['two spaces', 'svcv1  abc'],
    ['a tab', 'svcv1\tabc'],
    ['a second word', 'svcv1 abc def'],
    ['a space before it', ' svcv1 abc'],
    ['a line break after it', 'svcv1 abc\n'],
    ['a scheme that is not accepted', 'Basic abc'],
    ['a scheme that starts like an accepted one', 'svcv11 abc'],
    ['the token alone', 'abc'],
  ])('refuses %s', (_, header) => {
    expect(parseToken(header, ['svcv1'])).toBeUndefined()
  })

  it('accepts nothing where no scheme is accepted', () => {
    expect(parseToken('svcv1 abc', [])).toBeUndefined()
  })

  it('reads what tokenHeader writes', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[\x21-\x7e]+$/), (token) => {
        expect(parseToken(tokenHeader({ scheme: 'svcv1', token }), ['svcv1'])).toBe(token)
      }),
    )
  })
})

describe('withToken', () => {
  it('replaces the Authorization header on a new request', async () => {
    const sent: Request[] = []
    const send = withToken(
      async (request) => {
        sent.push(request)
        return new Response()
      },
      { scheme: 'svcv1', token: 'upstream' },
    )
    const request = new Request('http://mst.example/v1/me', { headers: { authorization: 'svcv1 caller' } })
    await send(request)
    expect(request.headers.get('authorization')).toBe('svcv1 caller')
    expect(sent[0]?.headers.get('authorization')).toBe('svcv1 upstream')
  })
})
