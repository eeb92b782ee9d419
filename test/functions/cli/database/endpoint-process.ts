// An endpoint in a process of its own, for tests that kill it: `endpoint-process.ts <folder>`.
import { startDatabaseEndpoint } from '../../../../functions/cli/database/endpoint.ts'

const [dataDir] = process.argv.slice(2)
if (!dataDir) throw new Error('usage: endpoint-process.ts <folder>')
const endpoint = await startDatabaseEndpoint({ port: 0, password: 'p', backend: { kind: 'pglite', dataDir } })
process.send?.({ url: endpoint.url, enginePid: endpoint.enginePid() })
process.on('message', async () => {
  await endpoint.close()
  process.exit(0)
})
