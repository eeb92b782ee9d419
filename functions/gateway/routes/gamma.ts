import { operations } from '../../../shared/exchange/contract-gamma.ts'
import { toGammaError } from '../../../shared/exchange/errors.ts'
import { readBearer } from '../middleware/caller.ts'
import { proxiedMount } from '../mount.ts'

export const gammaRoutes = proxiedMount({
  prefix: '/gamma',
  upstream: 'GAMMA',
  operations,
  errors: toGammaError,
  readCredential: readBearer,
  bodyLimitBytes: 1024 * 1024,
})
