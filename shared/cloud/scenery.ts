import type { Role } from './caller.ts'
import type { Plan } from './plan.ts'

export type SceneryProject = { readonly id: string; readonly name: string; readonly plan: Plan }

export type SceneryMember = { readonly id: string; readonly name: string; readonly email: string }

export type SceneryKey = {
  readonly accessKey: string
  readonly secretKey: string
  readonly projectId: string
  readonly name: string
  readonly role: Role
  readonly issuerId: string
  readonly createdAt: string
  readonly revokedAt?: string
}

/** The key pairs of the sandbox by what they are for. Every secret here is public and opens nothing but a sandbox. */
export const sandboxKeys = {
  admin: {
    accessKey: 'AKALPHAADMIN',
    secretKey: 'sk:alpha:secret',
    projectId: 'prjalpha01',
    name: 'alpha-admin',
    role: 'admin',
    issuerId: 'usralpha01',
    createdAt: '2025-03-01T09:00:00Z',
  },
  operator: {
    accessKey: 'AKALPHAOPER',
    secretKey: 'sk-oper',
    projectId: 'prjalpha01',
    name: 'alpha-operator',
    role: 'operator',
    issuerId: 'usralpha01',
    createdAt: '2025-03-01T09:05:00Z',
  },
  readOnly: {
    accessKey: 'AKALPHAREAD',
    secretKey: 'sk-read',
    projectId: 'prjalpha01',
    name: 'alpha-read',
    role: 'read_only',
    issuerId: 'usralpha01',
    createdAt: '2025-03-01T09:10:00Z',
  },
  revoked: {
    accessKey: 'AKREVOKED',
    secretKey: 'sk-revoked',
    projectId: 'prjalpha01',
    name: 'old',
    role: 'admin',
    issuerId: 'usralpha01',
    createdAt: '2025-02-10T09:00:00Z',
    revokedAt: '2025-02-28T09:00:00Z',
  },
  other: {
    accessKey: 'AKOTHER',
    secretKey: 'sk-other',
    projectId: 'prjother99',
    name: 'other-admin',
    role: 'admin',
    issuerId: 'usrother99',
    createdAt: '2025-03-02T09:00:00Z',
  },
} as const satisfies Record<string, SceneryKey>

/** What the control plane of the sandbox starts with: `defaults.state` of test/vectors/cloud-management.json. */
export const scenery: {
  readonly projects: readonly SceneryProject[]
  readonly members: readonly SceneryMember[]
  readonly keys: readonly SceneryKey[]
} = {
  projects: [
    { id: 'prjalpha01', name: 'Alpha', plan: 'SCALE' },
    { id: 'prjother99', name: 'Other', plan: 'SCALE' },
  ],
  members: [
    { id: 'usralpha01', name: 'Pat Example', email: 'pat@example.com' },
    { id: 'usrother99', name: 'Robin Example', email: 'robin@example.com' },
  ],
  keys: Object.values(sandboxKeys),
}
