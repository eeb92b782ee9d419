import { describe, expect, it } from 'vitest'
import { InvalidNonceError, l1Headers, recoverL1, signL1, verifyL1, withL1 } from '../../../../shared/kernel/auth/l1.ts'
import { addressOfPrivateKey } from '../../../../shared/kernel/auth/wallet.ts'

const wallet = {
  privateKey: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  chainId: 137,
}
const address = addressOfPrivateKey(wallet.privateKey)
const nowSeconds = 1_700_000_000
const nowMs = nowSeconds * 1000 + 500
const maxUint256 = 2n ** 256n - 1n

const headersOf = (timestamp: string | number = nowSeconds, nonce: number | bigint = 0) =>
  new Headers({ ...l1Headers(wallet, timestamp, nonce) })

describe('verifyL1', () => {
  it('gives the address in its EIP-55 case and the nonce, whatever the case of the header', () => {
    const headers = headersOf(nowSeconds, maxUint256)
    headers.set('poly_address', address.toLowerCase())
    expect(verifyL1(headers, 137, nowMs)).toEqual({ address, nonce: maxUint256 })
  })

  it.each(['POLY_ADDRESS', 'POLY_SIGNATURE', 'POLY_TIMESTAMP', 'POLY_NONCE'])(
    'refuses a request without %s, with it empty, or with it twice',
    (name) => {
      const without = headersOf()
      without.delete(name)
      const empty = headersOf()
      empty.set(name, '')
      const twice = headersOf()
      twice.append(name, twice.get(name) ?? '')
      for (const headers of [without, empty, twice]) expect(verifyL1(headers, 137, nowMs)).toBeUndefined()
    },
  )

  it.each([
    ['POLY_ADDRESS', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
    ['POLY_ADDRESS', '0x12'],
    ['POLY_ADDRESS', address.slice(2)],
    ['POLY_TIMESTAMP', String(nowSeconds + 1)],
    ['POLY_TIMESTAMP', `0${nowSeconds}`],
    ['POLY_NONCE', '1'],
    ['POLY_NONCE', '-0'],
    ['POLY_NONCE', '0x0'],
    ['POLY_NONCE', '0.0'],
    ['POLY_NONCE', String(maxUint256 + 1n)],
    ['POLY_NONCE', '9'.repeat(100)],
    ['POLY_SIGNATURE', '0x1234'],
    ['POLY_SIGNATURE', 'no hex'],
  ])('refuses a request whose %s says %s instead', (name, value) => {
    const headers = headersOf()
    headers.set(name, value)
    expect(verifyL1(headers, 137, nowMs)).toBeUndefined()
  })

  it('takes times within 600 s on either side', () => {
    for (const [offset, isValid] of [
      [600, true],
      [-600, true],
      [601, false],
      [-601, false],
    ] as const) {
      expect(verifyL1(headersOf(nowSeconds + offset), 137, nowMs) !== undefined).toBe(isValid)
    }
    expect(verifyL1(headersOf(nowSeconds - 10), 137, nowMs, 9)).toBeUndefined()
  })

  it('refuses a signature for another chain', () => {
    expect(verifyL1(headersOf(), 80002, nowMs)).toBeUndefined()
  })
})

describe('recoverL1', () => {
  it('gives the signer of any attestation, and nothing for a malformed signature', () => {
    const signature = signL1(wallet, '1700000000', 3)
    expect(recoverL1({ address, timestamp: '1700000000', nonce: 3 }, 137, signature)).toBe(address)
    expect(recoverL1({ address, timestamp: '1700000000', nonce: 4 }, 137, signature)).not.toBe(address)
    expect(recoverL1({ address, timestamp: '1700000000', nonce: 3 }, 137, '0x')).toBeUndefined()
  })
})

describe('withL1', () => {
  const sendWith = async (request: Request, nonce?: Parameters<typeof withL1>[3]): Promise<Request> => {
    const sent: Request[] = []
    const send = withL1(
      async (request) => {
        sent.push(request)
        return new Response()
      },
      wallet,
      () => nowMs,
      nonce,
    )
    await send(request)
    return sent[0] as Request
  }

  it('signs with nonce 0 unless told otherwise', async () => {
    const plain = await sendWith(new Request('http://clob.example/auth/api-key', { method: 'POST' }))
    expect(plain.method).toBe('POST')
    expect(verifyL1(plain.headers, 137, nowMs)).toEqual({ address, nonce: 0n })
    const second = await sendWith(new Request('http://clob.example/auth/api-key'), 2)
    expect(verifyL1(second.headers, 137, nowMs)?.nonce).toBe(2n)
  })

  it('reads the nonce from the request, with a function', async () => {
    const request = new Request('http://clob.example/auth/derive-api-key', { headers: { POLY_NONCE: '9' } })
    const sent = await sendWith(request, (request) => BigInt(request.headers.get('poly_nonce') ?? '0'))
    expect(verifyL1(sent.headers, 137, nowMs)?.nonce).toBe(9n)
  })

  it('replaces credentials of the caller and leaves their request alone', async () => {
    const request = new Request('http://clob.example/auth/api-key', {
      headers: { POLY_ADDRESS: '0x1', POLY_API_KEY: 'k', POLY_PASSPHRASE: 'p' },
    })
    const sent = await sendWith(request)
    expect(sent.headers.get('poly_address')).toBe(address)
    expect(sent.headers.has('poly_api_key')).toBe(false)
    expect(sent.headers.has('poly_passphrase')).toBe(false)
    expect(request.headers.get('poly_address')).toBe('0x1')
    expect(request.headers.get('poly_api_key')).toBe('k')
  })

  it.each([-1, 1.5, Number.NaN, maxUint256 + 1n])('refuses the nonce %s before anything is sent', async (nonce) => {
    await expect(sendWith(new Request('http://clob.example/'), nonce)).rejects.toThrow(InvalidNonceError)
  })
})
