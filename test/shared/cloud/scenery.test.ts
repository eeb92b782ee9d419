import { describe, expect, it } from 'vitest'
import { scenery } from '../../../shared/cloud/scenery.ts'
import vectors from '../../vectors/cloud-management.json' with { type: 'json' }

const { state } = vectors.defaults

describe('scenery', () => {
  it('has the projects and keys of the scenario file', () => {
    expect(scenery.projects).toEqual(state.projects)
    expect(
      scenery.keys.map((key) => ({
        access_key: key.accessKey,
        secret_key: key.secretKey,
        project_id: key.projectId,
        name: key.name,
        role: key.role,
        ...(key.revokedAt !== undefined && { revoked: true }),
      })),
    ).toEqual(state.keys)
  })

  it('names a project and a member for every key', () => {
    for (const { projectId, issuerId } of scenery.keys) {
      expect(scenery.projects.map(({ id }) => id)).toContain(projectId)
      expect(scenery.members.map(({ id }) => id)).toContain(issuerId)
    }
  })
})
