import * as z from 'zod'
import { defineOperations } from '../kernel/contract/operation.ts'

/** The data service: what users hold and did. */
export const operations = defineOperations({
  getDataHealth: {
    method: 'GET',
    path: '/',
    auth: 'none',
    kind: 'read',
    scope: 'markets:read',
    summary: 'Whether the data service is up',
    response: { 200: z.looseObject({ data: z.literal('OK') }) },
  },
})
