import { describe, expect, it } from 'vitest'
import { ApiKeyExistsError, apiKeyAnswer, createApiKey, NoApiKeyError } from '../../../shared/exchange/api-key.ts'
import type { RandomBytes } from '../../../shared/kernel/clock.ts'

const counting = (): RandomBytes => {
  let next = 0
  return (count) => Uint8Array.from({ length: count }, () => next++ % 256)
}
const owner = { address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', nonce: 3n }

describe('createApiKey', () => {
  it('makes a UUID, 32 bytes of padded URL-safe base64, and 64 hex digits', () => {
    const key = createApiKey(owner, undefined, counting())
    expect(key?.apiKey).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(key?.secret).toMatch(/^[A-Za-z0-9_-]{43}=$/)
    expect(key?.passphrase).toMatch(/^[0-9a-f]{64}$/)
    expect(createApiKey(owner, undefined, (count) => new Uint8Array(count).fill(255))?.secret).toBe(
      `${'_'.repeat(42)}8=`,
    )
  })

  it('keeps the address in lower case, so that lookups need no other form', () => {
    expect(createApiKey(owner, undefined, counting())).toMatchObject({
      address: owner.address.toLowerCase(),
      nonce: 3n,
    })
  })

  it('does NOT answer the key that exists', () => {
    const first = createApiKey(owner, undefined, counting())
    expect(createApiKey(owner, first, counting())).toBeUndefined()
  })

  it('gives another key each time that none exists', () => {
    const random = counting()
    const [first, second] = [createApiKey(owner, undefined, random), createApiKey(owner, undefined, random)]
    expect(first?.apiKey).not.toBe(second?.apiKey)
    expect(first?.secret).not.toBe(second?.secret)
    expect(first?.passphrase).not.toBe(second?.passphrase)
  })

  it('tells the owner the three credentials and no more', () => {
    const key = createApiKey(owner, undefined, counting())
    expect(key && Object.keys(apiKeyAnswer(key))).toEqual(['apiKey', 'secret', 'passphrase'])
  })
})

describe('the refusals', () => {
  it('have the texts that official clients wait for', () => {
    expect(new ApiKeyExistsError()).toMatchObject({ status: 400, message: 'Could not create api key' })
    expect(new NoApiKeyError()).toMatchObject({ status: 400, message: 'Could not derive api key!' })
  })
})
