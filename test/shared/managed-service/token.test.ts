import { describe, expect, it } from 'vitest'
import { User } from '../../../shared/managed-service/contract.ts'
import { scenery } from '../../../shared/managed-service/scenery.ts'
import {
  acceptedSchemes,
  denial,
  isValid,
  type KnownToken,
  type StoredToken,
} from '../../../shared/managed-service/token.ts'
import type { StoredUser } from '../../../shared/managed-service/user.ts'
import vectors from '../../vectors/cloud-management.json' with { type: 'json' }

const nowMs = Date.parse('2026-01-01T00:00:00Z')
const [active] = scenery.users as readonly [StoredUser]
const known = (token: Partial<StoredToken> = {}, user: Partial<StoredUser> = {}): KnownToken => ({
  token: {
    userId: active.user_id,
    issuedAtMs: Date.parse('2025-06-01T00:00:00Z'),
    expiresAtMs: null,
    ipAllowlist: null,
    ...token,
  },
  user: { ...active, ...user },
})

describe('isValid', () => {
  it('ends at the moment of expiry', () => {
    expect(isValid(known(), nowMs)).toBe(true)
    expect(isValid(known({ expiresAtMs: nowMs + 1 }), nowMs)).toBe(true)
    expect(isValid(known({ expiresAtMs: nowMs }), nowMs)).toBe(false)
  })

  it('begins with the validity that the user set', () => {
    expect(isValid(known({}, { token_validity_begin: '2025-06-01T00:00:00Z' }), nowMs)).toBe(true)
    expect(isValid(known({}, { token_validity_begin: '2025-06-01T00:00:00.001Z' }), nowMs)).toBe(false)
    expect(isValid(known({}, { token_validity_begin: null }), nowMs)).toBe(true)
  })
})

describe('denial', () => {
  it('is of a user that is not active, before the address is looked at', () => {
    expect(denial(known({ ipAllowlist: [] }, { state: 'deactivated' }), undefined)).toMatch(/not active/)
  })

  it('is of an address outside the list, and of no address at all', () => {
    const office = known({ ipAllowlist: ['10.0.0.0/8'] })
    expect(denial(office, '10.4.4.4')).toBeUndefined()
    expect(denial(office, '192.0.2.1')).toMatch(/address/)
    expect(denial(office, undefined)).toMatch(/address/)
  })

  it('is NOT of any address when there is no list', () => {
    expect(denial(known(), undefined)).toBeUndefined()
  })
})

describe('acceptedSchemes', () => {
  it.each([
    [undefined, ['svcv1', 'aivenv1']],
    ['', ['svcv1']],
    ['one, two ,', ['svcv1', 'one', 'two']],
  ])('of %j are %j', (aliases, expected) => {
    expect(acceptedSchemes(aliases)).toEqual(expected)
  })
})

describe('scenery', () => {
  const { state } = vectors.defaults

  it('has the users and tokens of the scenario file', () => {
    expect(scenery.users).toEqual(state.mst_users)
    expect(
      scenery.tokens.map(({ token, userId, expiresAfterMs, ipAllowlist }) => ({
        token,
        user_id: userId,
        ...(expiresAfterMs !== undefined && { expires_ms: expiresAfterMs }),
        ...(ipAllowlist !== undefined && { ip_allowlist: ipAllowlist }),
      })),
    ).toEqual(state.mst_tokens)
  })

  it('has users as the contract says', () => {
    for (const user of scenery.users) expect(User.parse(user)).toEqual(user)
  })
})
