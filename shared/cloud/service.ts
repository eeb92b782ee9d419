import { type RandomBytes, toTimestamp } from '../kernel/clock.ts'
import { randomBase36, randomBase62, randomText } from '../kernel/ids.ts'
import type { Addon, ServiceSpec } from './create.ts'
import { begin, type Durations, type MachineState } from './machine.ts'
import type { Usage } from './plan.ts'
import type { Environment, Service, ServiceType } from './record.ts'
import type { Size } from './size.ts'

/** A service as the project keeps it: what the record shows is made from it by `toService`. */
export type ServiceState = MachineState & {
  readonly serviceId: string
  readonly projectId: string
  readonly name: string
  readonly serviceType: ServiceType
  readonly addons: readonly Addon[]
  readonly region: string
  readonly size: Size
  readonly resourceId: string
  /** Of the public endpoint; stays the same for life. */
  readonly port: number
  readonly replicaCount: number
  readonly syncReplicaCount: number
  readonly environment: Environment
  readonly createdAtMs: number
}

/** Where the names of endpoints end. `.test` is reserved (RFC 6761), so no name can reach a stranger. */
export const databaseDomain = 'db.sandbox.test'

const digits = '0123456789'

/** A new service at the beginning of its build. Ids and port come from `randomBytes`. */
export const newService = (
  projectId: string,
  spec: ServiceSpec,
  effects: { nowMs: number; durations: Durations; randomBytes: RandomBytes },
): ServiceState => ({
  ...begin('build', effects.nowMs, effects.durations),
  serviceId: randomBase36(10, effects.randomBytes),
  projectId,
  ...spec,
  syncReplicaCount: 0,
  resourceId: `1${randomText(5, digits, effects.randomBytes)}`,
  port: Number(`3${randomText(4, digits, effects.randomBytes)}`),
  createdAtMs: effects.nowMs,
})

/** The password of a new service: 24 base62 characters, more than 142 bits. Shown once, in the answer to create. */
export const newPassword = (randomBytes: RandomBytes): string => randomBase62(24, randomBytes)

/** Whether reads show the service: a deleted one is kept for the books only. */
export const isVisible = ({ status }: MachineState): boolean => status !== 'DELETED'

/** The record that every read answers. */
export const toService = (state: ServiceState): Service => ({
  service_id: state.serviceId,
  project_id: state.projectId,
  name: state.name,
  region_code: state.region,
  service_type: state.serviceType,
  status: state.status,
  created: toTimestamp(state.createdAtMs),
  paused: state.status === 'PAUSING' || state.status === 'PAUSED',
  resources: [
    {
      id: state.resourceId,
      spec: {
        cpu_millis: state.size === 'shared' ? null : state.size.cpuMillis,
        memory_gbs: state.size === 'shared' ? null : state.size.memoryGbs,
        volume_type: 'gp3',
      },
    },
  ],
  endpoint: { host: `${state.serviceId}.${state.projectId}.${databaseDomain}`, port: state.port },
  metadata: { environment: state.environment },
  ha_replicas: { sync_replica_count: state.syncReplicaCount, replica_count: state.replicaCount },
  read_replica_sets: [],
  metrics: null,
})

/** What counts for the plan; services being deleted still do. */
export function usageOf(services: readonly ServiceState[]): Usage {
  const counted = services.filter(isVisible)
  const shared = counted.filter(({ size }) => size === 'shared').length
  return { shared, standard: counted.length - shared }
}
