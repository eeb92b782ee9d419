// The upstream of every subject: 150 bytes of JSON over kept-alive connections.
import { createServer } from 'node:http'

const body = JSON.stringify([{ service_id: 'k3w9x0p7ab', name: 'ticks', status: 'READY', filler: 'x'.repeat(80) }])
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port))
