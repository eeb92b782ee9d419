import { measureGateway } from './gateway/gateway.ts'
import { printTable } from './table.ts'

printTable(await measureGateway({ seconds: 3, rounds: 1 }))
process.exit(0)
