import * as z from 'zod'
import { InvalidRequestError } from './errors.ts'
import type { Plan } from './plan.ts'
import { type Environment, environments, type ServiceType, serviceTypes } from './record.ts'
import { defaultRegion, isRegion, type Region, regions } from './region.ts'
import { resolveSize, type Size, SizeHalf } from './size.ts'

export const addons = ['time-series', 'ai'] as const
export type Addon = (typeof addons)[number]

const longestName = 128

/** A name: 1 to 128 code points, not only blanks. */
export const Name = z
  .string('a text')
  .refine((name) => /\S/.test(name) && codePoints(name) <= longestName, {
    error: `1 to ${longestName} characters, not only blanks`,
  })
  .meta({ minLength: 1, maxLength: longestName })

const codePoints = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

const oneOf = (words: readonly string[]): string => `one of ${words.join(', ')}`
const maxReplicas = 2
const replicaBounds = `a whole number from 0 to ${maxReplicas}`

/**
 * The body of create: forms and bounds. What depends on another member or on the plan is `resolveCreate`'s. A member
 * that is null counts as absent; unknown members are ignored.
 */
export const ServiceCreate = z
  .object(
    {
      name: Name,
      // `enum` is for the API description: a wrong word has a reason of its own, so `resolveCreate` looks at it.
      addons: z.array(z.string('an addon').meta({ enum: addons }), 'a list of addons').nullish(),
      // TIMESCALEDB is what older clients call the same type.
      service_type: z.enum([...serviceTypes, 'TIMESCALEDB'], { error: oneOf(serviceTypes) }).nullish(),
      region_code: z.string('the code of a region').meta({ enum: regions }).nullish(),
      replica_count: z.int(replicaBounds).min(0, replicaBounds).max(maxReplicas, replicaBounds).nullish(),
      cpu_millis: SizeHalf.nullish(),
      memory_gbs: SizeHalf.nullish(),
      environment_tag: z.enum(environments, { error: oneOf(environments) }).nullish(),
    },
    { error: 'one JSON object' },
  )
  .meta({ id: 'ServiceCreate' })
export type ServiceCreate = z.output<typeof ServiceCreate>

/** What a create request asks for, with every default filled in. */
export type ServiceSpec = {
  readonly name: string
  readonly serviceType: ServiceType
  readonly addons: readonly Addon[]
  readonly region: Region
  readonly size: Size
  readonly replicaCount: number
  readonly environment: Environment
}

/**
 * Fills in the defaults, which depend on the plan, and checks the members against each other.
 *
 * @throws {InvalidRequestError} `INVALID_ADDON`, `ADDON_TYPE_MISMATCH`, `INVALID_REGION`, `INVALID_SIZE`, `SHARED_NO_HA`
 */
export function resolveCreate(body: ServiceCreate, plan: Plan): ServiceSpec {
  const chosen = resolveAddons(body, plan)
  const serviceType = resolveType(body, chosen)
  const region = body.region_code ?? defaultRegion
  if (!isRegion(region)) {
    throw new InvalidRequestError('INVALID_REGION', `region_code: expected ${oneOf(regions)}, given ${quoted(region)}`)
  }
  const size = resolveSize(body) ?? defaultSizes[plan]
  const replicaCount = body.replica_count ?? 0
  if (size === 'shared' && replicaCount > 0) {
    throw new InvalidRequestError(
      'SHARED_NO_HA',
      `replica_count: expected 0 for a service of the shared size, given ${replicaCount}`,
    )
  }
  return {
    name: body.name,
    serviceType,
    addons: chosen,
    region,
    size,
    replicaCount,
    environment: body.environment_tag ?? 'DEV',
  }
}

const standardSize: Size = { cpuMillis: 500, memoryGbs: 2 }
const defaultSizes = {
  FREE: 'shared',
  PERFORMANCE: standardSize,
  SCALE: standardSize,
  ENTERPRISE: standardSize,
} satisfies Record<Plan, Size>

const addonsOfType = {
  TIMESERIESDB: ['time-series'],
  POSTGRES: [],
  VECTOR: ['ai'],
} satisfies Record<ServiceType, readonly Addon[]>

const typeOf = ({ service_type: word }: ServiceCreate): ServiceType | undefined =>
  word === 'TIMESCALEDB' ? 'TIMESERIESDB' : (word ?? undefined)

function resolveAddons(body: ServiceCreate, plan: Plan): readonly Addon[] {
  if (!body.addons) {
    const type = typeOf(body)
    if (type !== undefined) return addonsOfType[type]
    return plan === 'FREE' ? addons : ['time-series']
  }
  for (const [at, word] of body.addons.entries()) {
    if (!(addons as readonly string[]).includes(word)) {
      throw new InvalidRequestError('INVALID_ADDON', `addons.${at}: expected ${oneOf(addons)}, given ${quoted(word)}`)
    }
  }
  return addons.filter((addon) => body.addons?.includes(addon))
}

function resolveType(body: ServiceCreate, chosen: readonly Addon[]): ServiceType {
  const type = typeOf(body)
  if (type === undefined) {
    if (chosen.includes('time-series')) return 'TIMESERIESDB'
    return chosen.includes('ai') ? 'VECTOR' : 'POSTGRES'
  }
  const needed = addonsOfType[type]
  const fits = needed.length === 0 ? chosen.length === 0 : needed.every((addon) => chosen.includes(addon))
  if (!fits) {
    throw new InvalidRequestError(
      'ADDON_TYPE_MISMATCH',
      `service_type ${type} needs ${needed.length === 0 ? 'an empty addons list' : `the addon ${needed.join(', ')}`}, ` +
        `given ${JSON.stringify(chosen)}`,
    )
  }
  return type
}

const quoted = (text: string): string =>
  text.length > 64 ? `a text of ${text.length} characters` : JSON.stringify(text)
