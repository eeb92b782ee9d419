import { operations as cloud } from '../../shared/cloud/contract.ts'
import { operations as clob } from '../../shared/exchange/contract-clob.ts'
import { operations as data } from '../../shared/exchange/contract-data.ts'
import { operations as gamma } from '../../shared/exchange/contract-gamma.ts'
import { operations as jobs } from '../../shared/jobs/contract.ts'
import type { OpenApiMount } from '../../shared/kernel/contract/openapi.ts'
import { operations as managedService } from '../../shared/managed-service/contract.ts'

/** Every table of operations and where the gateway mounts it, for the documents that are built from them. */
export const mounts: readonly (OpenApiMount & { readonly version?: string })[] = [
  // The seed states the version of the management API; the others have none of their own.
  { prefix: '/cloud/public/api/v1', tag: 'Cloud control plane', operations: cloud, version: '1.0.0' },
  { prefix: '/mst', tag: 'Managed service', operations: managedService },
  { prefix: '/clob', tag: 'Order book', operations: clob },
  { prefix: '/gamma', tag: 'Market metadata', operations: gamma },
  { prefix: '/data', tag: 'Market data', operations: data },
  { prefix: '', tag: 'Jobs', operations: jobs },
]
