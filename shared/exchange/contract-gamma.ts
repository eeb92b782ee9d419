import * as z from 'zod'
import { defineOperations } from '../kernel/contract/operation.ts'
import { MetadataMarket } from './metadata-market.ts'

const defaultLimit = 20
/** A larger limit is cut to this without an error. */
const maxLimit = 500

const WholeNumber = z.string().regex(/^\d+$/, { error: 'a whole number, zero or more' }).transform(Number)

const Flag = z
  .enum(['true', 'false', '1', '0'], { error: 'true or false' })
  .transform((word) => word === 'true' || word === '1')

const ListQuery = {
  limit: WholeNumber.optional().transform((limit = defaultLimit) => Math.min(limit, maxLimit)),
  offset: WholeNumber.optional().transform((offset = 0) => offset),
}

/** The metadata service: what can be traded. Read-only. */
export const operations = defineOperations({
  getMarkets: {
    method: 'GET',
    path: '/markets',
    auth: 'none',
    kind: 'read',
    scope: 'markets:read',
    summary: 'Markets, by id ascending; the last page is shorter than its limit',
    query: z.object({ ...ListQuery, tag_id: WholeNumber.optional(), closed: Flag.optional() }),
    response: { 200: z.array(MetadataMarket) },
  },
})
