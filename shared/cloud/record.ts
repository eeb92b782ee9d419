import * as z from 'zod'

/** The closed set of service statuses (seed row cloud.status.closed-set), in the order of the seed. */
export const serviceStatuses = [
  'QUEUED',
  'DELETING',
  'CONFIGURING',
  'READY',
  'DELETED',
  'UNSTABLE',
  'PAUSING',
  'PAUSED',
  'RESUMING',
  'UPGRADING',
  'OPTIMIZING',
] as const
export const ServiceStatus = z.enum(serviceStatuses).meta({ id: 'ServiceStatus' })
export type ServiceStatus = z.output<typeof ServiceStatus>

export const serviceTypes = ['TIMESERIESDB', 'POSTGRES', 'VECTOR'] as const
export const ServiceType = z.enum(serviceTypes).meta({ id: 'ServiceType' })
export type ServiceType = z.output<typeof ServiceType>

export const environments = ['PROD', 'DEV'] as const
export const Environment = z.enum(environments).meta({ id: 'Environment' })
export type Environment = z.output<typeof Environment>

export const ReplicaSetStatus = z
  .enum(['creating', 'active', 'resizing', 'deleting', 'error'])
  .meta({ id: 'ReplicaSetStatus' })
export type ReplicaSetStatus = z.output<typeof ReplicaSetStatus>

/** RFC 3339: the official client refuses a whole answer with any other form. Ours end in Z; an upstream may give an offset. */
const Timestamp = z.iso.datetime({ offset: true })

export const Endpoint = z.looseObject({ host: z.string(), port: z.int().min(1).max(65_535) }).meta({ id: 'Endpoint' })
export type Endpoint = z.output<typeof Endpoint>

const Metadata = z.looseObject({ environment: Environment })
const ConnectionPooler = z.looseObject({ endpoint: Endpoint })
const VpcEndpoint = z.looseObject({ host: z.string(), port: z.int(), vpc_id: z.string() })

/** A size: both null for the shared size, which has no cores of its own. */
const sizeMembers = { cpu_millis: z.int().nullable(), memory_gbs: z.int().nullable() }

const Resource = z
  .looseObject({ id: z.string(), spec: z.looseObject({ ...sizeMembers, volume_type: z.string() }) })
  .meta({ id: 'Resource' })

export const ReadReplicaSet = z
  .looseObject({
    id: z.string(),
    name: z.string(),
    status: ReplicaSetStatus,
    nodes: z.int(),
    ...sizeMembers,
    metadata: Metadata,
    endpoint: Endpoint,
    /** Present while the pooler is on. */
    connection_pooler: ConnectionPooler.optional(),
  })
  .meta({ id: 'ReadReplicaSet' })
export type ReadReplicaSet = z.output<typeof ReadReplicaSet>

const serviceMembers = {
  service_id: z.string(),
  project_id: z.string(),
  name: z.string(),
  region_code: z.string(),
  service_type: ServiceType,
  status: ServiceStatus,
  created: Timestamp,
  /** True in PAUSING and PAUSED. */
  paused: z.boolean(),
  resources: z.array(Resource),
  endpoint: Endpoint,
  metadata: Metadata,
  ha_replicas: z.looseObject({ sync_replica_count: z.int(), replica_count: z.int() }),
  /** Present while the pooler is on; the official client takes presence for "on". */
  connection_pooler: ConnectionPooler.optional(),
  /** Present while attached to a VPC, in both spellings: older clients read the second. */
  vpc_endpoint: VpcEndpoint.optional(),
  vpcEndpoint: VpcEndpoint.optional(),
  /** Of a fork (`is_standby` false) or of a replica set seen as a service (true). */
  forked_from: z.looseObject({ project_id: z.string(), service_id: z.string(), is_standby: z.boolean() }).optional(),
  read_replica_sets: z.array(ReadReplicaSet),
  metrics: z.looseObject({ memory_mb: z.int(), storage_mb: z.int(), milli_cpu: z.int().nullable() }).nullable(),
}

/** A database service as every read shows it (seed row cloud.record.service; members beyond the seed: tiger-cli `openapi.yaml`). */
export const Service = z.looseObject(serviceMembers).meta({ id: 'Service' })
export type Service = z.output<typeof Service>

/** The answer to create and fork, the only two that carry the password. */
export const CreatedService = z
  .looseObject({ ...serviceMembers, initial_password: z.string() })
  .meta({ id: 'CreatedService' })
export type CreatedService = z.output<typeof CreatedService>

export const Project = z.looseObject({ id: z.string(), name: z.string() }).meta({ id: 'Project' })
export type Project = z.output<typeof Project>

const ApiKeyInfo = z.looseObject({
  public_key: z.string(),
  name: z.string(),
  created: Timestamp,
  project: z.looseObject({ id: z.string(), name: z.string(), plan_type: z.string() }),
  issuing_user: z.looseObject({ id: z.string(), name: z.string(), email: z.email() }),
})

/** Who a key is (tiger-cli `openapi.yaml`, AuthInfo). The key stands in both spellings: older clients read the second. */
export const AuthInfo = z
  .looseObject({ type: z.literal('apiKey'), api_key: ApiKeyInfo, apiKey: ApiKeyInfo })
  .meta({ id: 'AuthInfo' })
export type AuthInfo = z.output<typeof AuthInfo>
