import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  l2Headers,
  type l2Message,
  l2ToleranceSeconds,
  signL2,
  UnusableL2SecretError,
  verifyL2,
  withL2,
} from '../../../../shared/kernel/auth/l2.ts'

const credential = {
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  apiKey: '4c7e08f0-050f-48df-a8fa-14f9988a55b8',
  secret: 'Wdm6NMVnSt9v93GJodQ1D1g9soKmx0eBC6bS00Ma0A4=',
  passphrase: 'e890c75ede1f7cf7367da9c0ce10cd77421604b4048d02b6b9a94eed68129a4a',
}
const nowSeconds = 1_700_000_000
const nowMs = nowSeconds * 1000 + 999

const signedHeaders = async (message: Partial<Parameters<typeof l2Message>[0]> = {}) =>
  new Headers({
    ...(await l2Headers(credential, { timestamp: nowSeconds, method: 'GET', path: '/data/orders', ...message })),
  })

const request = (headers: Headers, rest: Partial<Parameters<typeof verifyL2>[0]> = {}) => ({
  headers,
  method: 'GET',
  path: '/data/orders',
  ...rest,
})

describe('verifyL2', () => {
  it('takes header names and the address in any case', async () => {
    const headers = await signedHeaders()
    headers.set('POLY_ADDRESS', credential.address.toLowerCase())
    expect(await verifyL2(request(headers), credential, nowMs)).toBe(true)
    expect(await verifyL2(request(headers), { ...credential, address: credential.address.toUpperCase() }, nowMs)).toBe(
      true,
    )
  })

  it.each(['POLY_ADDRESS', 'POLY_SIGNATURE', 'POLY_TIMESTAMP', 'POLY_API_KEY', 'POLY_PASSPHRASE'])(
    'refuses a request whose %s is missing, empty, wrong, or there twice',
    async (name) => {
      const without = await signedHeaders()
      without.delete(name)
      const empty = await signedHeaders()
      empty.set(name, '')
      const wrong = await signedHeaders()
      const value = wrong.get(name) ?? ''
      wrong.set(name, (value.startsWith('1') ? '2' : '1') + value.slice(1))
      const twice = await signedHeaders()
      twice.append(name, value)
      for (const headers of [without, empty, wrong, twice]) {
        expect(await verifyL2(request(headers), credential, nowMs)).toBe(false)
      }
    },
  )

  it('refuses an unknown key, also with headers that are right in themselves', async () => {
    expect(await verifyL2(request(await signedHeaders()), undefined, nowMs)).toBe(false)
    const ofNobody = { address: '', apiKey: '', secret: 'AAAA', passphrase: '' }
    const headers = new Headers({
      ...(await l2Headers(ofNobody, { timestamp: nowSeconds, method: 'GET', path: '/data/orders' })),
    })
    expect(await verifyL2(request(headers), undefined, nowMs)).toBe(false)
  })

  it('takes signatures in both alphabets, with and without padding', async () => {
    // Time, so that the signature holds - and _: found by trying.
    for (let timestamp = nowSeconds; ; timestamp++) {
      const headers = await signedHeaders({ timestamp })
      const signature = headers.get('poly_signature') ?? ''
      if (!signature.includes('-') || !signature.includes('_')) continue
      const standard = signature.replaceAll('-', '+').replaceAll('_', '/')
      for (const form of [signature, signature.replace('=', ''), standard, standard.replace('=', '')]) {
        headers.set('poly_signature', form)
        expect(await verifyL2(request(headers), credential, timestamp * 1000)).toBe(true)
      }
      return
    }
  })

  it('refuses signatures that are cut, longer, or spelled with other last bits', async () => {
    const headers = await signedHeaders()
    const signature = headers.get('poly_signature') ?? ''
    const last = signature.charAt(42)
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const neighbour = digits.charAt(digits.indexOf(last) + 1)
    for (const form of [
      signature.slice(0, 42),
      `${signature}=`,
      `AAAA${signature}`,
      `${signature.slice(0, 42)}${neighbour}=`,
      `${signature.slice(0, 20)} ${signature.slice(20)}`,
    ]) {
      headers.set('poly_signature', form)
      expect(await verifyL2(request(headers), credential, nowMs), form).toBe(false)
    }
  })

  it('takes the bare path and the mount prefix before it, and nothing else', async () => {
    const bare = await signedHeaders()
    const prefixed = await signedHeaders({ path: '/clob/data/orders' })
    const elsewhere = await signedHeaders({ path: '/other/data/orders' })
    for (const mountPrefix of ['/clob', '/clob/']) {
      expect(await verifyL2(request(bare, { mountPrefix }), credential, nowMs)).toBe(true)
      expect(await verifyL2(request(prefixed, { mountPrefix }), credential, nowMs)).toBe(true)
      expect(await verifyL2(request(elsewhere, { mountPrefix }), credential, nowMs)).toBe(false)
    }
    for (const mountPrefix of [undefined, null, '', '/']) {
      expect(await verifyL2(request(bare, { mountPrefix }), credential, nowMs)).toBe(true)
      expect(await verifyL2(request(prefixed, { mountPrefix }), credential, nowMs)).toBe(false)
    }
  })

  it('takes times within the tolerance on either side, in whole seconds', async () => {
    for (const [offset, isValid] of [
      [l2ToleranceSeconds, true],
      [-l2ToleranceSeconds, true],
      [l2ToleranceSeconds + 1, false],
      [-l2ToleranceSeconds - 1, false],
    ] as const) {
      const headers = await signedHeaders({ timestamp: nowSeconds + offset })
      expect(await verifyL2(request(headers), credential, nowMs)).toBe(isValid)
    }
    const headers = await signedHeaders({ timestamp: nowSeconds - 30 })
    expect(await verifyL2(request(headers), credential, nowMs, 29)).toBe(false)
    expect(await verifyL2(request(headers), credential, nowMs, 30)).toBe(true)
  })

  it.each(['1700000000.0', '1.7e9', '+1700000000', '-1700000000', '0x6553f100', '1700000000000', 'now', '17000 00000'])(
    'refuses the time %s, even when it is what was signed',
    async (timestamp) => {
      const headers = await signedHeaders({ timestamp })
      expect(await verifyL2(request(headers), credential, nowMs)).toBe(false)
    },
  )

  it('judges the very bytes of the body', async () => {
    const body = new TextEncoder().encode('{"note":"市場 🚀", "n":1}')
    const headers = await signedHeaders({ method: 'POST', path: '/order', body })
    const judge = (bytes: Uint8Array | null) =>
      verifyL2(request(headers, { method: 'POST', path: '/order', body: bytes }), credential, nowMs)
    expect(await judge(body)).toBe(true)
    expect(await judge(new TextEncoder().encode('{"note":"市場 🚀","n":1}'))).toBe(false)
    expect(await judge(null)).toBe(false)
    const invalidUtf8 = Uint8Array.of(0xff, 0xfe)
    const ofBytes = await signedHeaders({ body: invalidUtf8 })
    expect(await verifyL2(request(ofBytes, { body: invalidUtf8 }), credential, nowMs)).toBe(true)
    expect(await verifyL2(request(ofBytes, { body: Uint8Array.of(0xff, 0xff) }), credential, nowMs)).toBe(false)
  })

  it('takes what l2Headers made, and refuses it after any change of one byte', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.nat(), async (body, at) => {
        const headers = await signedHeaders({ method: 'POST', path: '/orders', body })
        const of = (bytes: Uint8Array) => request(headers, { method: 'POST', path: '/orders', body: bytes })
        expect(await verifyL2(of(body), credential, nowMs)).toBe(true)
        const changed = body.map((byte, index) => (index === at % body.length ? byte ^ 1 : byte))
        expect(await verifyL2(of(changed), credential, nowMs)).toBe(false)
      }),
    )
  })
})

describe('signL2', () => {
  it.each(['', '====', 'A', '!!!'])('refuses the secret %j, which is no key', async (secret) => {
    await expect(signL2(secret, { timestamp: 1, method: 'GET', path: '/' })).rejects.toThrow(UnusableL2SecretError)
  })

  it('signs rightly with more secrets than are kept', async () => {
    const message = { timestamp: 1, method: 'GET', path: '/' }
    const secretOf = (index: number) => btoa(`secret number ${index}`)
    const first = await Promise.all(Array.from({ length: 600 }, (_, index) => signL2(secretOf(index), message)))
    const again = await Promise.all(Array.from({ length: 600 }, (_, index) => signL2(secretOf(index), message)))
    expect(again).toEqual(first)
    expect(new Set(first).size).toBe(600)
  })
})

describe('withL2', () => {
  const sending = (basePath?: string) => {
    const sent: Request[] = []
    const send = withL2(
      async (request) => {
        sent.push(request)
        return new Response()
      },
      credential,
      () => nowMs,
      basePath,
    )
    return async (request: Request): Promise<Request> => {
      await send(request)
      return sent.at(-1) as Request
    }
  }

  it('signs method, path without query, and body; sends the body as it came', async () => {
    const body = '{ "orderID" : "0x01" }\n'
    const request = new Request('http://clob.example/order?geo_block_token=x', {
      method: 'DELETE',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const sent = await sending()(request)
    expect(sent.url).toBe('http://clob.example/order?geo_block_token=x')
    expect(sent.headers.get('content-type')).toBe('application/json')
    expect(await sent.clone().text()).toBe(body)
    const judged = { headers: sent.headers, method: 'DELETE', path: '/order', body }
    expect(await verifyL2(judged, credential, nowMs)).toBe(true)
    expect(sent.headers.get('poly_timestamp')).toBe('1700000000')
  })

  it('keeps how redirects are treated, with and without a body', async () => {
    for (const body of [undefined, '{}']) {
      const init = { method: 'POST', redirect: 'manual', ...(body && { body }) } as const
      const sent = await sending()(new Request('http://clob.example/order', init))
      expect(sent.redirect).toBe('manual')
      expect(sent.method).toBe('POST')
    }
  })

  it('takes an empty body as none', async () => {
    const sent = await sending()(new Request('http://clob.example/auth/readonly-api-key', { method: 'POST', body: '' }))
    const judged = { headers: sent.headers, method: 'POST', path: '/auth/readonly-api-key' }
    expect(await verifyL2(judged, credential, nowMs)).toBe(true)
  })

  it('passes on that the caller gave up', async () => {
    const caller = new AbortController()
    const sent = await sending()(
      new Request('http://clob.example/order', { method: 'POST', body: '{}', signal: caller.signal }),
    )
    expect(sent.signal.aborted).toBe(false)
    caller.abort()
    expect(sent.signal.aborted).toBe(true)
  })

  it('keeps bytes that are not UTF-8', async () => {
    const body = Uint8Array.of(0, 255, 254, 10)
    const sent = await sending()(new Request('http://clob.example/order', { method: 'POST', body }))
    expect(new Uint8Array(await sent.arrayBuffer())).toEqual(body)
  })

  it('replaces credentials of the caller and leaves their request alone', async () => {
    const request = new Request('http://clob.example/auth/api-keys', {
      headers: { POLY_ADDRESS: '0x1', POLY_NONCE: '7', POLY_SIGNATURE: 'x', 'x-other': 'stays' },
    })
    const sent = await sending()(request)
    expect(sent.headers.get('poly_address')).toBe(credential.address)
    expect(sent.headers.has('poly_nonce')).toBe(false)
    expect(sent.headers.get('x-other')).toBe('stays')
    expect(Object.fromEntries(request.headers)).toMatchObject({
      poly_address: '0x1',
      poly_nonce: '7',
      poly_signature: 'x',
    })
    expect(await verifyL2({ headers: sent.headers, method: 'GET', path: '/auth/api-keys' }, credential, nowMs)).toBe(
      true,
    )
  })

  it.each([
    ['/base', 'http://host.example/base/book', '/book'],
    ['/base/', 'http://host.example/base/book', '/book'],
    ['/base', 'http://host.example/base', '/'],
    ['/base', 'http://host.example/baseball/book', '/baseball/book'],
    ['', 'http://host.example/base/book', '/base/book'],
    ['/', 'http://host.example/book', '/book'],
    ['', 'http://host.example', '/'],
    ['', 'http://host.example/data/a%20b', '/data/a%20b'],
  ])('with the base path %j of the upstream, signs %s as %s', async (basePath, url, path) => {
    const sent = await sending(basePath)(new Request(url))
    expect(sent.url).toBe(new Request(url).url)
    expect(await verifyL2({ headers: sent.headers, method: 'GET', path }, credential, nowMs)).toBe(true)
  })
})
