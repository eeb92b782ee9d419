import { operations } from '../../../shared/exchange/contract-data.ts'
import { toDataError } from '../../../shared/exchange/errors.ts'
import { readBearer } from '../middleware/caller.ts'
import { proxiedMount } from '../mount.ts'

export const dataRoutes = proxiedMount({
  prefix: '/data',
  upstream: 'DATA',
  operations,
  errors: toDataError,
  readCredential: readBearer,
  bodyLimitBytes: 1024 * 1024,
})
