import { operations } from '../../../shared/managed-service/contract.ts'
import { toManagedServiceError } from '../../../shared/managed-service/errors.ts'
import { readToken } from '../middleware/caller.ts'
import { proxiedMount } from '../mount.ts'

export const managedServiceRoutes = proxiedMount({
  prefix: '/mst',
  upstream: 'MST',
  operations,
  errors: toManagedServiceError,
  readCredential: readToken(['svcv1', 'aivenv1']),
  bodyLimitBytes: 64 * 1024,
})
