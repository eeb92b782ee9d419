import type { StoredUser } from './user.ts'

export type SceneryToken = {
  readonly token: string
  readonly userId: string
  readonly issuedAt: string
  /** Counted from the moment the scenery is put in. */
  readonly expiresAfterMs?: number
  readonly ipAllowlist?: readonly string[]
}

/** The tokens of the sandbox by what they are for. Every one is public and opens nothing but a sandbox. */
export const sandboxTokens = {
  active: 'tok-pat-0001',
  expiring: 'tok-pat-expiring',
  office: 'tok-pat-office',
  deactivated: 'tok-gone',
} as const

/**
 * Users and tokens the managed service of the sandbox starts with: `defaults.state` of
 * test/vectors/cloud-management.json.
 */
export const scenery: { readonly users: readonly StoredUser[]; readonly tokens: readonly SceneryToken[] } = {
  users: [
    {
      user_id: 'u1a2b3c4d5',
      user: 'pat@example.com',
      real_name: 'Pat Example',
      state: 'active',
      auth: ['password'],
      create_time: '2025-02-03T04:05:06Z',
      features: { free_tier_enabled: true },
      intercom: { app_id: '', hmac: '' },
      invitations: [],
      project_membership: { metrics: 'admin' },
      project_memberships: { metrics: ['admin'] },
      projects: ['metrics'],
      token_validity_begin: '2025-02-03T04:05:06Z',
    },
    {
      user_id: 'u9z8y7x6w5',
      user: 'gone@example.com',
      real_name: 'Gone User',
      state: 'deactivated',
      auth: [],
      create_time: '2024-01-01T00:00:00Z',
      features: {},
      intercom: {},
      invitations: [],
      project_membership: {},
      project_memberships: {},
      projects: [],
      token_validity_begin: null,
    },
  ],
  tokens: [
    { token: sandboxTokens.active, userId: 'u1a2b3c4d5', issuedAt: '2025-03-01T09:00:00Z' },
    { token: sandboxTokens.expiring, userId: 'u1a2b3c4d5', issuedAt: '2025-03-01T09:00:00Z', expiresAfterMs: 5_000 },
    {
      token: sandboxTokens.office,
      userId: 'u1a2b3c4d5',
      issuedAt: '2025-03-01T09:00:00Z',
      ipAllowlist: ['10.0.0.0/8'],
    },
    { token: sandboxTokens.deactivated, userId: 'u9z8y7x6w5', issuedAt: '2024-03-01T09:00:00Z' },
  ],
}
