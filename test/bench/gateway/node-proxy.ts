// Peer: a Node process with http-proxy that adds the same Basic header.
import { Agent, createServer } from 'node:http'
import httpProxy from 'http-proxy'

const proxy = httpProxy.createProxyServer({
  target: `http://127.0.0.1:${process.argv[2]}`,
  agent: new Agent({ keepAlive: true, maxSockets: 128 }),
  headers: { authorization: 'Basic YTpi' },
})
proxy.on('error', (error) => console.error(error.message))
const server = createServer((request, response) => proxy.web(request, response))
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port))
