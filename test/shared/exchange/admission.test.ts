import { describe, expect, it } from 'vitest'
import { admitL1, admitL2, InvalidApiKeyError, InvalidL1HeadersError } from '../../../shared/exchange/admission.ts'
import { sandboxTrader } from '../../../shared/exchange/scenery.ts'
import { l1Headers } from '../../../shared/kernel/auth/l1.ts'
import { l2Headers } from '../../../shared/kernel/auth/l2.ts'

const nowMs = 1_767_225_600_000
const timestamp = nowMs / 1000
const key = { ...sandboxTrader, address: sandboxTrader.address.toLowerCase(), nonce: 0n }

describe('admitL1', () => {
  it('gives wallet and nonce, or one refusal', () => {
    const headers = new Headers({ ...l1Headers({ privateKey: sandboxTrader.privateKey, chainId: 137 }, timestamp, 5) })
    expect(admitL1(headers, 137, nowMs)).toEqual({ address: sandboxTrader.address, nonce: 5n })
    expect(() => admitL1(headers, 80002, nowMs)).toThrow(InvalidL1HeadersError)
    expect(() => admitL1(new Headers(), 137, nowMs)).toThrow('Invalid L1 Request headers')
  })
})

describe('admitL2', () => {
  it('gives the key, or one refusal', async () => {
    const headers = new Headers({ ...(await l2Headers(sandboxTrader, { timestamp, method: 'GET', path: '/x' })) })
    const request = { headers, method: 'GET', path: '/x' }
    expect(await admitL2(request, key, nowMs)).toBe(key)
    await expect(admitL2(request, undefined, nowMs)).rejects.toThrow(InvalidApiKeyError)
    await expect(admitL2({ ...request, method: 'DELETE' }, key, nowMs)).rejects.toThrow('Unauthorized/Invalid api key')
  })
})
