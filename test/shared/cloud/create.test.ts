import { describe, expect, it } from 'vitest'
import { resolveCreate, ServiceCreate, type ServiceSpec } from '../../../shared/cloud/create.ts'
import { InvalidRequestError, toCloudError } from '../../../shared/cloud/errors.ts'
import { type Plan, plans } from '../../../shared/cloud/plan.ts'
import { regions } from '../../../shared/cloud/region.ts'
import { parse } from '../../../shared/kernel/contract/parse.ts'
import { asAppError } from '../../../shared/kernel/errors.ts'

const create = (body: unknown, plan: Plan = 'SCALE'): ServiceSpec =>
  resolveCreate(parse(ServiceCreate, body, 'body'), plan)

/** `status reason` of what a body is refused with, as the wire shows it. */
const refusalOf = (body: unknown, plan: Plan = 'SCALE'): string => {
  try {
    create(body, plan)
  } catch (thrown) {
    const answer = toCloudError(asAppError(thrown), 'id')
    return `${answer.status} ${(answer.body as { reason?: string }).reason}`
  }
  return 'accepted'
}

const messageOf = (body: unknown): string => {
  try {
    create(body)
  } catch (thrown) {
    return (thrown as Error).message
  }
  return 'accepted'
}

describe('defaults', () => {
  it.each<[Plan, Partial<ServiceSpec>]>([
    ['FREE', { size: 'shared', addons: ['time-series', 'ai'], serviceType: 'TIMESERIESDB' }],
    ['PERFORMANCE', { size: { cpuMillis: 500, memoryGbs: 2 }, addons: ['time-series'], serviceType: 'TIMESERIESDB' }],
    ['SCALE', { size: { cpuMillis: 500, memoryGbs: 2 }, addons: ['time-series'], serviceType: 'TIMESERIESDB' }],
    ['ENTERPRISE', { size: { cpuMillis: 500, memoryGbs: 2 }, addons: ['time-series'], serviceType: 'TIMESERIESDB' }],
  ])('follow the plan %s', (plan, expected) => {
    expect(create({ name: 'a' }, plan)).toEqual({
      name: 'a',
      region: 'us-east-1',
      replicaCount: 0,
      environment: 'DEV',
      ...expected,
    })
  })

  it('stand in for every member that is null', () => {
    const nulls = {
      addons: null,
      service_type: null,
      region_code: null,
      replica_count: null,
      cpu_millis: null,
      memory_gbs: null,
      environment_tag: null,
    }
    for (const plan of plans) expect(create({ name: 'a', ...nulls }, plan)).toEqual(create({ name: 'a' }, plan))
  })

  it('are not disturbed by members that create does not know', () => {
    expect(create({ name: 'a', free: true, service_id: 'mine' })).toEqual(create({ name: 'a' }))
  })
})

describe('addons and service_type', () => {
  it.each([
    { given: { addons: [] }, type: 'POSTGRES', addons: [] },
    { given: { addons: ['time-series'] }, type: 'TIMESERIESDB', addons: ['time-series'] },
    { given: { addons: ['ai'] }, type: 'VECTOR', addons: ['ai'] },
    { given: { addons: ['ai', 'time-series'] }, type: 'TIMESERIESDB', addons: ['time-series', 'ai'] },
    { given: { addons: ['ai', 'ai'] }, type: 'VECTOR', addons: ['ai'] },
    { given: { service_type: 'POSTGRES' }, type: 'POSTGRES', addons: [] },
    { given: { service_type: 'VECTOR' }, type: 'VECTOR', addons: ['ai'] },
    { given: { service_type: 'TIMESERIESDB' }, type: 'TIMESERIESDB', addons: ['time-series'] },
    { given: { service_type: 'TIMESCALEDB' }, type: 'TIMESERIESDB', addons: ['time-series'] },
    { given: { service_type: 'VECTOR', addons: ['ai', 'time-series'] }, type: 'VECTOR', addons: ['time-series', 'ai'] },
    { given: { service_type: 'POSTGRES', addons: [] }, type: 'POSTGRES', addons: [] },
  ])('$given makes $type with $addons', ({ given, type, addons }) => {
    expect(create({ name: 'a', ...given })).toMatchObject({ serviceType: type, addons })
    expect(create({ name: 'a', ...given }, 'FREE')).toMatchObject({ serviceType: type, addons })
  })

  it.each([
    { service_type: 'POSTGRES', addons: ['time-series'] },
    { service_type: 'POSTGRES', addons: ['ai'] },
    { service_type: 'VECTOR', addons: [] },
    { service_type: 'VECTOR', addons: ['time-series'] },
    { service_type: 'TIMESERIESDB', addons: [] },
    { service_type: 'TIMESCALEDB', addons: ['ai'] },
  ])('$service_type does not fit $addons', (given) => {
    expect(refusalOf({ name: 'a', ...given })).toBe('400 ADDON_TYPE_MISMATCH')
  })
})

describe('the body', () => {
  it.each<[string, unknown, string]>([
    ['nothing', undefined, '400 MALFORMED_JSON'],
    ['null', null, '400 MALFORMED_JSON'],
    ['an array', [], '400 MALFORMED_JSON'],
    ['a text', 'x', '400 MALFORMED_JSON'],
    ['no name', {}, '400 MISSING_FIELD'],
    ['a null name', { name: null }, '400 MISSING_FIELD'],
    ['a number for a name', { name: 7 }, '400 INVALID_FIELD'],
    ['an empty name', { name: '' }, '400 INVALID_FIELD'],
    ['a blank name', { name: ' \t\u3000' }, '400 INVALID_FIELD'],
    ['a name of 129 characters', { name: 'x'.repeat(129) }, '400 INVALID_FIELD'],
    ['a name of 129 code points beyond the basic plane', { name: '𝄞'.repeat(129) }, '400 INVALID_FIELD'],
    ['a text for addons', { name: 'a', addons: 'time-series' }, '400 INVALID_FIELD'],
    ['an object for addons', { name: 'a', addons: {} }, '400 INVALID_FIELD'],
    ['an unknown addon', { name: 'a', addons: ['time-series', 'graph'] }, '400 INVALID_ADDON'],
    ['an addon in capitals', { name: 'a', addons: ['AI'] }, '400 INVALID_ADDON'],
    ['an addon that is no text', { name: 'a', addons: [7] }, '400 INVALID_FIELD'],
    ['an unknown service_type', { name: 'a', service_type: 'MYSQL' }, '400 INVALID_FIELD'],
    ['a service_type in small letters', { name: 'a', service_type: 'postgres' }, '400 INVALID_FIELD'],
    ['an unknown region', { name: 'a', region_code: 'mars-1' }, '400 INVALID_REGION'],
    ['an empty region', { name: 'a', region_code: '' }, '400 INVALID_REGION'],
    ['a number for a region', { name: 'a', region_code: 7 }, '400 INVALID_FIELD'],
    ['minus one replica', { name: 'a', replica_count: -1 }, '400 INVALID_FIELD'],
    ['three replicas', { name: 'a', replica_count: 3 }, '400 INVALID_FIELD'],
    ['one and a half replicas', { name: 'a', replica_count: 1.5 }, '400 INVALID_FIELD'],
    ['a text of replicas', { name: 'a', replica_count: '1' }, '400 INVALID_FIELD'],
    ['true replicas', { name: 'a', replica_count: true }, '400 INVALID_FIELD'],
    ['an unknown environment', { name: 'a', environment_tag: 'STAGE' }, '400 INVALID_FIELD'],
    ['a replica of a shared size', { name: 'a', cpu_millis: 'shared', replica_count: 1 }, '400 SHARED_NO_HA'],
  ])('is refused with %s', (_, body, refusal) => {
    expect(refusalOf(body)).toBe(refusal)
  })

  it('is refused for a replica of the shared size that the plan gives by default', () => {
    expect(refusalOf({ name: 'a', replica_count: 1 }, 'FREE')).toBe('400 SHARED_NO_HA')
  })

  it('may have a name of 128 code points, whatever their width, and keeps its blanks', () => {
    expect(create({ name: '𝄞'.repeat(128) }).name).toBe('𝄞'.repeat(128))
    expect(create({ name: ' a ' }).name).toBe(' a ')
  })

  it.each(regions)('may ask for the region %s', (region) => {
    expect(create({ name: 'a', region_code: region }).region).toBe(region)
  })

  it.each([0, 1, 2])('may ask for %i replicas', (count) => {
    expect(create({ name: 'a', replica_count: count }).replicaCount).toBe(count)
  })

  it('is refused with the field, what was expected and what was given', () => {
    expect(messageOf({ name: 'a', region_code: 'mars-1' })).toMatch(/^region_code: expected one of .*given "mars-1"$/)
    expect(messageOf({ name: 'a', addons: ['time-series', 'graph'] })).toBe(
      'addons.1: expected one of time-series, ai, given "graph"',
    )
    expect(messageOf({ name: 'a', replica_count: 3 })).toBe(
      'replica_count: expected a whole number from 0 to 2, given 3',
    )
    expect(messageOf({ name: 7 })).toBe('name: expected a text, given 7')
  })

  it('is not repeated in the refusal when it is long', () => {
    const long = 'x'.repeat(10_000)
    for (const body of [{ name: long }, { name: 'a', region_code: long }, { name: 'a', addons: [long] }]) {
      expect(messageOf(body).length).toBeLessThan(500)
    }
  })
})

describe('resolveCreate', () => {
  it('throws InvalidRequestError', () => {
    expect(() => create({ name: 'a', region_code: 'mars-1' })).toThrow(InvalidRequestError)
  })
})
