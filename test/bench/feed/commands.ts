import { createServer, type Server } from 'node:http'
import { json } from 'node:stream/consumers'

/** What a child does when it is told to: each takes and gives JSON. */
export type Commands = { readonly [name: string]: (body: never) => Promise<unknown> }

/** Serves the commands on a free port of loopback and tells the parent its number. The child ends with its parent. */
export function serveCommands(commands: Commands): Server {
  const server = createServer(async (request, response) => {
    try {
      const command = commands[request.url?.slice(1) ?? '']
      if (!command) throw new Error(`no command ${request.url}`)
      response.end(JSON.stringify((await command((await json(request)) as never)) ?? null))
    } catch (error) {
      response.writeHead(500).end(error instanceof Error ? error.message : String(error))
    }
  })
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port))
  process.on('disconnect', () => process.exit(0))
  return server
}

/**
 * Calls the commands of a child.
 *
 * @throws {Error} what the child says, or that it is gone
 */
export const callerOf =
  <C extends Commands>(name: string, port: number) =>
  async <K extends keyof C & string>(command: K, body: Parameters<C[K]>[0]): Promise<Awaited<ReturnType<C[K]>>> => {
    const request = fetch(`http://127.0.0.1:${port}/${command}`, { method: 'POST', body: JSON.stringify(body) })
    const response = await request.catch((cause: unknown) => {
      throw new Error(`${name} ended during "${command}"`, { cause })
    })
    if (!response.ok) throw new Error(`${name}: ${await response.text()}`)
    return (await response.json()) as Awaited<ReturnType<C[K]>>
  }
