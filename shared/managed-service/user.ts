/**
 * A user as it is kept: the members of the record of seed row mst.record.user and no others. The record of the contract
 * also lets unknown members through, which real upstreams add.
 */
export type StoredUser = {
  readonly user_id: string
  /** The e-mail address. */
  readonly user: string
  readonly real_name: string
  readonly state: 'active' | 'deactivated'
  readonly auth: string[]
  readonly create_time: string
  readonly features: Record<string, boolean>
  readonly intercom: Record<string, string>
  readonly invitations: {
    invite_code: string
    invite_time: string
    inviting_user_email: string
    project_name: string
  }[]
  readonly project_membership: Record<string, string>
  readonly project_memberships: Record<string, string[]>
  readonly projects: string[]
  readonly token_validity_begin: string | null
}
