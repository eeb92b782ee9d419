import * as z from 'zod'
import { defineOperations } from '../kernel/contract/operation.ts'

const Invitation = z.looseObject({
  invite_code: z.string(),
  invite_time: z.string(),
  inviting_user_email: z.string(),
  project_name: z.string(),
})

/** The user record: the 13 members of seed row mst.record.user, all of them always there. */
export const User = z
  .looseObject({
    /** Login methods the user must pass, `password` for one. */
    auth: z.array(z.string()),
    create_time: z.string(),
    features: z.record(z.string(), z.boolean()),
    intercom: z.record(z.string(), z.string()),
    /** Those not answered yet. */
    invitations: z.array(Invitation),
    /** Role word by project. */
    project_membership: z.record(z.string(), z.string()),
    /** Role words by project. */
    project_memberships: z.record(z.string(), z.array(z.string())),
    projects: z.array(z.string()),
    real_name: z.string(),
    state: z.string(),
    /** Tokens issued before it are void. Null when the user never voided any (aiven/go-client-codegen `handler/user/user.go`). */
    token_validity_begin: z.string().nullable(),
    /** The e-mail address. */
    user: z.string(),
    user_id: z.string(),
  })
  .meta({ id: 'User' })
export type User = z.output<typeof User>

/** The managed-service API, by operationId; paths are below its base address (seed rows mst.op.*). */
export const operations = defineOperations({
  getMe: {
    method: 'GET',
    path: '/v1/me',
    auth: 'token',
    kind: 'read',
    scope: 'mst:read',
    summary: 'Show the user of the token',
    response: { 200: z.looseObject({ user: User }) },
  },
})
