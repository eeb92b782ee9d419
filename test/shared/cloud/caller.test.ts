import { beforeAll, describe, expect, it } from 'vitest'
import {
  authenticate,
  authorize,
  type Caller,
  type Role,
  refusal,
  type StoredKey,
  toAuthInfo,
} from '../../../shared/cloud/caller.ts'
import { operations } from '../../../shared/cloud/contract.ts'
import type { ForbiddenError } from '../../../shared/cloud/errors.ts'
import { AuthInfo } from '../../../shared/cloud/record.ts'
import { sha256, utf8 } from '../../../shared/kernel/bytes.ts'
import type { Operation } from '../../../shared/kernel/contract/operation.ts'

const nowMs = 1_000_000
let secretDigest: Uint8Array<ArrayBuffer>
let stored: StoredKey

beforeAll(async () => {
  secretDigest = await sha256(utf8('secret'))
  stored = {
    accessKey: 'AK',
    secretDigest,
    name: 'main',
    role: 'admin',
    createdAtMs: 0,
    revokedAtMs: null,
    expiresAtMs: null,
    project: { id: 'prj', name: 'Project', plan: 'SCALE' },
    issuer: { id: 'usr', name: 'Pat', email: 'pat@example.com' },
  }
})

describe('authenticate', () => {
  it('accepts the secret of a key, and forgets its digest', () => {
    const caller = authenticate(stored, secretDigest, nowMs)
    expect(caller).toMatchObject({ accessKey: 'AK', role: 'admin', project: { id: 'prj' } })
    expect(Object.keys(caller ?? {})).not.toContain('secretDigest')
  })

  it('refuses another secret, an unknown key, and the digest that unknown keys are compared with', async () => {
    expect(authenticate(stored, await sha256(utf8('Secret')), nowMs)).toBeUndefined()
    expect(authenticate(undefined, secretDigest, nowMs)).toBeUndefined()
    expect(authenticate(undefined, new Uint8Array(32), nowMs)).toBeUndefined()
  })

  it('refuses a revoked key, and an expired one from the moment of its expiry', () => {
    expect(authenticate({ ...stored, revokedAtMs: 1 }, secretDigest, nowMs)).toBeUndefined()
    expect(authenticate({ ...stored, expiresAtMs: nowMs }, secretDigest, nowMs)).toBeUndefined()
    expect(authenticate({ ...stored, expiresAtMs: nowMs + 1 }, secretDigest, nowMs)).toBeDefined()
  })
})

const remove: Operation = { ...operations.getService, method: 'DELETE', kind: 'delete', response: { 202: null } }
const metrics: Operation = { ...operations.createService, kind: 'read' }
const logout: Operation = { ...operations.createService, kind: 'forget' }

describe('refusal', () => {
  it.each<[Role, string | undefined, string | undefined]>([
    ['read_only', 'READ_ONLY_KEY', 'READ_ONLY_KEY'],
    ['operator', undefined, 'INSUFFICIENT_ROLE'],
    ['admin', undefined, undefined],
  ])('lets the role %s read; change: %s; delete: %s', (role, change, deletion) => {
    for (const read of [operations.getServices, operations.getAuthInfo, metrics, logout]) {
      expect(refusal(role, read)).toBeUndefined()
    }
    expect(refusal(role, operations.createService)).toBe(change)
    expect(refusal(role, remove)).toBe(deletion)
  })
})

describe('authorize', () => {
  const reasonOf = (caller: Caller, operation: Operation, projectId: string | undefined) => {
    try {
      authorize(caller, operation, projectId)
    } catch (thrown) {
      return (thrown as ForbiddenError).reason
    }
    return undefined
  }

  it('asks for the project of the key before it asks for the role', () => {
    const reader: Caller = { ...stored, role: 'read_only' }
    expect(reasonOf(reader, operations.createService, 'other')).toBe('WRONG_PROJECT')
    expect(reasonOf(reader, operations.createService, 'prj')).toBe('READ_ONLY_KEY')
    expect(reasonOf(reader, operations.getServices, 'other')).toBe('WRONG_PROJECT')
    expect(reasonOf(reader, operations.getServices, 'PRJ')).toBe('WRONG_PROJECT')
    expect(reasonOf(reader, operations.getServices, 'prj')).toBeUndefined()
  })

  it('asks for no project where the path names none', () => {
    expect(reasonOf(stored, operations.getProjects, undefined)).toBeUndefined()
  })
})

describe('toAuthInfo', () => {
  it('shows the key in both spellings, as the contract says', () => {
    const info = toAuthInfo(stored)
    expect(AuthInfo.parse(info)).toEqual(info)
    expect(info.apiKey).toEqual(info.api_key)
    expect(info.api_key).toEqual({
      public_key: 'AK',
      name: 'main',
      created: '1970-01-01T00:00:00.000Z',
      project: { id: 'prj', name: 'Project', plan_type: 'SCALE' },
      issuing_user: { id: 'usr', name: 'Pat', email: 'pat@example.com' },
    })
  })
})
