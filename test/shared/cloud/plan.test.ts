import { describe, expect, it } from 'vitest'
import { ForbiddenError } from '../../../shared/cloud/errors.ts'
import { checkPlan, type Plan, type Usage } from '../../../shared/cloud/plan.ts'
import type { Size } from '../../../shared/cloud/size.ts'

const none: Usage = { shared: 0, standard: 0 }
const sized = (cpuMillis: number): Size => ({ cpuMillis, memoryGbs: cpuMillis / 250 })

/** The message of the refusal, or `accepted`. */
const check = (plan: Plan, usage: Usage, size: Size, replicaCount = 0): string => {
  try {
    checkPlan(plan, usage, { size, replicaCount })
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(ForbiddenError)
    expect(thrown).toMatchObject({ reason: 'PLAN_LIMIT', status: 403 })
    return (thrown as Error).message
  }
  return 'accepted'
}

describe('checkPlan', () => {
  it.each<[Plan, Usage, Size, number, RegExp]>([
    ['FREE', { shared: 1, standard: 0 }, 'shared', 0, /^accepted$/],
    ['FREE', { shared: 2, standard: 0 }, 'shared', 0, /at most 2 services of the shared size/],
    ['FREE', none, sized(500), 0, /services of the shared size only/],
    ['PERFORMANCE', { shared: 0, standard: 3 }, sized(8_000), 2, /^accepted$/],
    ['PERFORMANCE', { shared: 0, standard: 4 }, sized(500), 0, /at most 4 services of their own size/],
    ['PERFORMANCE', { shared: 0, standard: 4 }, 'shared', 0, /^accepted$/],
    ['PERFORMANCE', none, sized(16_000), 0, /at most 8000 cpu_millis/],
    ['SCALE', { shared: 2, standard: 1_000 }, sized(32_000), 2, /^accepted$/],
    ['SCALE', { shared: 2, standard: 0 }, 'shared', 0, /at most 2 services of the shared size/],
    ['SCALE', none, sized(48_000), 0, /at most 32000 cpu_millis/],
    ['ENTERPRISE', none, sized(64_000), 2, /^accepted$/],
    ['ENTERPRISE', { shared: 2, standard: 0 }, 'shared', 0, /at most 2 services of the shared size/],
  ])('%s with %j and %j, %i replicas: %s', (plan, usage, size, replicaCount, expected) => {
    expect(check(plan, usage, size, replicaCount)).toMatch(expected)
  })

  it('names the count before the size when both are over the limit', () => {
    expect(check('PERFORMANCE', { shared: 0, standard: 4 }, sized(64_000))).toMatch(/at most 4 services/)
  })

  it('names the plan', () => {
    expect(check('FREE', none, sized(500))).toContain('the plan FREE of this project')
  })
})
