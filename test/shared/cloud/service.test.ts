import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveCreate } from '../../../shared/cloud/create.ts'
import { defaultDurations } from '../../../shared/cloud/machine.ts'
import { Service, serviceStatuses } from '../../../shared/cloud/record.ts'
import {
  isVisible,
  newPassword,
  newService,
  type ServiceState,
  toService,
  usageOf,
} from '../../../shared/cloud/service.ts'

/** Random bytes that a property can choose. */
const bytesFrom = (bytes: Uint8Array) => {
  let at = 0
  return (count: number) => Uint8Array.from({ length: count }, () => bytes[at++ % bytes.length] ?? 0)
}
const seeded = bytesFrom(Uint8Array.from({ length: 97 }, (_, index) => (index * 89) % 256))

const serviceOf = (body: Parameters<typeof resolveCreate>[0], randomBytes = seeded): ServiceState =>
  newService('prjalpha01', resolveCreate(body, 'SCALE'), {
    nowMs: Date.parse('2026-01-05T08:30:00Z'),
    durations: defaultDurations,
    randomBytes,
  })

describe('toService', () => {
  it('shows every member of the record', () => {
    const state = serviceOf({ name: 'ticks', region_code: 'eu-central-1', cpu_millis: 1_000, replica_count: 1 })
    const record = toService(state)
    expect(Service.parse(record)).toEqual(record)
    expect(record).toEqual({
      service_id: state.serviceId,
      project_id: 'prjalpha01',
      name: 'ticks',
      region_code: 'eu-central-1',
      service_type: 'TIMESERIESDB',
      status: 'QUEUED',
      created: '2026-01-05T08:30:00.000Z',
      paused: false,
      resources: [{ id: state.resourceId, spec: { cpu_millis: 1_000, memory_gbs: 4, volume_type: 'gp3' } }],
      endpoint: { host: `${state.serviceId}.prjalpha01.db.sandbox.test`, port: state.port },
      metadata: { environment: 'DEV' },
      ha_replicas: { sync_replica_count: 0, replica_count: 1 },
      read_replica_sets: [],
      metrics: null,
    })
  })

  it('shows the shared size as null', () => {
    const { resources } = toService(serviceOf({ name: 'a', cpu_millis: 'shared' }))
    expect(resources[0]?.spec).toEqual({ cpu_millis: null, memory_gbs: null, volume_type: 'gp3' })
  })

  it.each(serviceStatuses)('says of %s whether it is paused', (status) => {
    const record = toService({ ...serviceOf({ name: 'a' }), status })
    expect(record.paused).toBe(status === 'PAUSING' || status === 'PAUSED')
  })
})

describe('newService', () => {
  it('makes ids and ports of the right form from any random bytes', () => {
    fc.assert(
      // 0 is one of the bytes, so that drawing again always ends.
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (bytes) => {
        const state = serviceOf({ name: 'a' }, bytesFrom(Uint8Array.from([0, ...bytes])))
        expect(state.serviceId).toMatch(/^[a-z0-9]{10}$/)
        expect(state.resourceId).toMatch(/^1\d{5}$/)
        expect(state.port).toBeGreaterThanOrEqual(30_000)
        expect(state.port).toBeLessThanOrEqual(39_999)
      }),
    )
  })
})

describe('newPassword', () => {
  it('has 24 base62 characters', () => {
    expect(newPassword(seeded)).toMatch(/^[0-9A-Za-z]{24}$/)
  })
})

describe('isVisible and usageOf', () => {
  it('leave out the deleted, and only them', () => {
    for (const status of serviceStatuses) expect(isVisible({ status, steps: [] })).toBe(status !== 'DELETED')
    const services = serviceStatuses.map((status) => ({ ...serviceOf({ name: 'a' }), status }))
    const shared = { ...serviceOf({ name: 'a', memory_gbs: 'shared' }), status: 'DELETING' } as const
    expect(usageOf([...services, shared])).toEqual({ shared: 1, standard: serviceStatuses.length - 1 })
  })
})
