import { measureGateway } from './gateway/gateway.ts'
import { printTable } from './table.ts'
printTable(await measureGateway({ seconds: 3, rounds: 2 })); process.exit(0)
