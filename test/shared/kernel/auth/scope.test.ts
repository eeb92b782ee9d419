import { describe, expect, it } from 'vitest'
import { allows, isScope, scopes } from '../../../../shared/kernel/auth/scope.ts'

describe('allows', () => {
  it('lets admin do everything', () => {
    for (const scope of scopes) expect(allows(['admin'], scope)).toBe(true)
  })

  it('lets write read, and NOT read write', () => {
    expect(allows(['cloud:write'], 'cloud:read')).toBe(true)
    expect(allows(['cloud:read'], 'cloud:write')).toBe(false)
    expect(allows(['jobs:write'], 'jobs:read')).toBe(true)
    expect(allows(['feed:admin'], 'feed:write')).toBe(true)
  })

  it('keeps areas apart', () => {
    expect(allows(['cloud:admin', 'orders:write'], 'jobs:read')).toBe(false)
    expect(allows([], 'cloud:read')).toBe(false)
  })
})

describe('isScope', () => {
  it('knows the names of the list only', () => {
    expect(isScope('feed:read')).toBe(true)
    expect(isScope('feed:all')).toBe(false)
  })
})
