import { operations } from '../../../shared/cloud/contract.ts'
import { toCloudError } from '../../../shared/cloud/errors.ts'
import { readBasic } from '../middleware/caller.ts'
import { proxiedMount } from '../mount.ts'

export const cloudRoutes = proxiedMount({
  prefix: '/cloud/public/api/v1',
  upstream: 'CLOUD',
  operations,
  errors: toCloudError,
  readCredential: readBasic,
  bodyLimitBytes: 64 * 1024,
})
