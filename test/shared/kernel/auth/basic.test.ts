import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  basicHeader,
  parseBasic,
  UnusableBasicCredentialError,
  withBasic,
} from '../../../../shared/kernel/auth/basic.ts'
import { toBase64, utf8 } from '../../../../shared/kernel/bytes.ts'

const encoded = (text: string) => toBase64(utf8(text))

describe('basicHeader', () => {
  it('encodes UTF-8, with padding', () => {
    expect(basicHeader({ accessKey: 'Aladdin', secretKey: 'open sesame' })).toBe('Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==')
    expect(basicHeader({ accessKey: 'test', secretKey: '123\u00a3' })).toBe('Basic dGVzdDoxMjPCow==')
  })

  it('refuses an access key that no reader could split off, without naming the secret', () => {
    for (const accessKey of ['', 'a:b']) {
      expect(() => basicHeader({ accessKey, secretKey: 'canary-secret' })).toThrow(UnusableBasicCredentialError)
      expect(() => basicHeader({ accessKey, secretKey: 'canary-secret' })).not.toThrow(/canary/)
    }
  })
})

describe('parseBasic', () => {
  it.each([
    ['the scheme word in any case', `bASIC ${encoded('key:secret')}`],
    ['several spaces', `Basic    ${encoded('key:secret')}`],
  ])('takes %s', (_, header) => {
    expect(parseBasic(header)).toEqual({ accessKey: 'key', secretKey: 'secret' })
  })

  it('splits at the first colon; the secret may be empty or hold colons', () => {
    expect(parseBasic(`Basic ${encoded('key:a:b:')}`)).toEqual({ accessKey: 'key', secretKey: 'a:b:' })
    expect(parseBasic(`Basic ${encoded('key:')}`)).toEqual({ accessKey: 'key', secretKey: '' })
  })

  it.each<[string, string | null | undefined]>([
    ['no header', null],
    ['an undefined header', undefined],
    ['an empty header', ''],
    ['the scheme alone', 'Basic'],
    ['the scheme and a space', 'Basic '],
    ['no space', `Basic${encoded('key:secret')}`],
    ['a tab for the space', `Basic\t${encoded('key:secret')}`],
    ['another scheme', `Bearer ${encoded('key:secret')}`],
    ['a token scheme', `svcv1 ${encoded('key:secret')}`],
    ['something after it', `Basic ${encoded('key:secret')} x`],
    ['a line break within', `Basic ${encoded('key:secret').slice(0, 4)}\n${encoded('key:secret').slice(4)}`],
    ['a line break after it', `Basic ${encoded('key:secret')}\n`],
    ['missing padding', `Basic ${encoded('key:secre').replace(/=+$/, '')}A`],
    ['padding left out', 'Basic dGVzdDoxMjPCow'],
    ['the URL-safe alphabet', 'Basic a2V5Oj8_Pz8_'],
    ['text that is not base64', 'Basic key:secret'],
    ['bytes that are not UTF-8', `Basic ${toBase64(Uint8Array.of(0x6b, 0x3a, 0xff))}`],
    ['no colon', `Basic ${encoded('keysecret')}`],
    ['an empty access key', `Basic ${encoded(':secret')}`],
  ])('refuses %s', (_, header) => {
    expect(parseBasic(header)).toBeUndefined()
  })

  it('keeps a byte order mark, which is part of the key', () => {
    expect(parseBasic(`Basic ${encoded('\ufeffkey:secret')}`)?.accessKey).toBe('\ufeffkey')
  })

  it('reads what basicHeader writes', () => {
    const accessKey = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes(':'))
    fc.assert(
      fc.property(accessKey, fc.string({ unit: 'grapheme' }), (accessKey, secretKey) => {
        expect(parseBasic(basicHeader({ accessKey, secretKey }))).toEqual({ accessKey, secretKey })
      }),
    )
  })
})

describe('withBasic', () => {
  it('replaces the Authorization header on a new request and keeps the rest', async () => {
    const sent: Request[] = []
    const send = withBasic(
      async (request) => {
        sent.push(request)
        return new Response()
      },
      { accessKey: 'key', secretKey: 'secret' },
    )
    const request = new Request('http://cloud.example/x?y=1', {
      method: 'POST',
      headers: { authorization: 'Bearer caller', 'content-type': 'application/json' },
      body: '{ "a":1}',
    })
    await send(request)
    expect(request.headers.get('authorization')).toBe('Bearer caller')
    expect(sent[0]).not.toBe(request)
    expect(sent[0]?.url).toBe('http://cloud.example/x?y=1')
    expect(sent[0]?.headers.get('authorization')).toBe(`Basic ${encoded('key:secret')}`)
    expect(sent[0]?.headers.get('content-type')).toBe('application/json')
    expect(await sent[0]?.text()).toBe('{ "a":1}')
  })
})
