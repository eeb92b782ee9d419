// npm run bench [-- --smoke]: ratios of Tidegate against peers that run on the same machine in the same minute. It
// prints, and never judges: absolute figures of one machine say little, ratios some.
import { measureFeed } from './feed/feed.ts'
import { measureGateway } from './gateway/gateway.ts'
import type { Row } from './table.ts'
import { printTable } from './table.ts'

const smoke = process.argv.includes('--smoke')
const rows: Row[] = [
  ...(await measureGateway({ seconds: smoke ? 1 : 5, rounds: smoke ? 1 : 3 })),
  ...(await measureFeed({ clients: smoke ? [50] : [100, 1_000], frames: smoke ? 20 : 200 })),
]
printTable(rows)
process.exit(0)
