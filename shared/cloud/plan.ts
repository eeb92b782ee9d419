import { ForbiddenError } from './errors.ts'
import type { Size } from './size.ts'

export const plans = ['FREE', 'PERFORMANCE', 'SCALE', 'ENTERPRISE'] as const
export type Plan = (typeof plans)[number]

export type PlanLimits = {
  readonly sharedServices: number
  readonly standardServices: number
  /** Of one service, or of one node of a replica set; 0 = the shared size only. */
  readonly cpuMillis: number
  readonly highAvailability: boolean
  readonly readReplicaSets: boolean
  readonly vpcs: number
  /** How far back a fork may reach, in days. */
  readonly recoveryWindowDays: number
}

const noLimit = Number.POSITIVE_INFINITY

/** What each plan includes. Source: the plan table of timescale/docs `_partials/_aws-features.md`. */
export const planLimits = {
  FREE: {
    sharedServices: 2,
    standardServices: 0,
    cpuMillis: 0,
    highAvailability: false,
    readReplicaSets: false,
    vpcs: 0,
    recoveryWindowDays: 1,
  },
  PERFORMANCE: {
    sharedServices: 2,
    standardServices: 4,
    cpuMillis: 8_000,
    highAvailability: true,
    readReplicaSets: false,
    vpcs: 1,
    recoveryWindowDays: 3,
  },
  SCALE: {
    sharedServices: 2,
    standardServices: noLimit,
    cpuMillis: 32_000,
    highAvailability: true,
    readReplicaSets: true,
    vpcs: noLimit,
    recoveryWindowDays: 14,
  },
  ENTERPRISE: {
    sharedServices: 2,
    standardServices: noLimit,
    cpuMillis: 64_000,
    highAvailability: true,
    readReplicaSets: true,
    vpcs: noLimit,
    recoveryWindowDays: 14,
  },
} as const satisfies Record<Plan, PlanLimits>

/** Services that count for the plan: all that are not DELETED, those being deleted too. */
export type Usage = { readonly shared: number; readonly standard: number }

/**
 * Whether a project may have one more service of this size, checked as shared count, standard count, CPU, availability.
 *
 * @throws {ForbiddenError} `PLAN_LIMIT`, naming the limit
 */
export function checkPlan(plan: Plan, usage: Usage, wanted: { size: Size; replicaCount: number }): void {
  const limits: PlanLimits = planLimits[plan]
  const { size, replicaCount } = wanted
  if (size === 'shared' && usage.shared >= limits.sharedServices) {
    throw overLimit(plan, `at most ${limits.sharedServices} services of the shared size`)
  }
  if (size !== 'shared') {
    if (limits.standardServices === 0) throw overLimit(plan, 'services of the shared size only')
    if (usage.standard >= limits.standardServices) {
      throw overLimit(plan, `at most ${limits.standardServices} services of their own size`)
    }
    if (size.cpuMillis > limits.cpuMillis) throw overLimit(plan, `at most ${limits.cpuMillis} cpu_millis for a service`)
  }
  if (replicaCount > 0 && !limits.highAvailability) throw overLimit(plan, 'no high availability')
}

const overLimit = (plan: Plan, limit: string): ForbiddenError =>
  new ForbiddenError('PLAN_LIMIT', `the plan ${plan} of this project includes ${limit}`)
