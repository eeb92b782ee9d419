import type { Duplex } from 'node:stream'
import type { DatabaseBackend } from '../backend.ts'
import { type Credentials, greet, refuse, welcomeFrames } from './startup.ts'

/** A client has this long to say who it is. */
const greetingMs = 60_000

/** Serves one client that speaks the wire protocol, from its start-up to its end. Never rejects. */
export async function serveWire(client: Duplex, backend: DatabaseBackend, credentials: Credentials): Promise<void> {
  client.on('error', () => client.destroy()) // "close" follows
  const timer = setTimeout(() => client.destroy(), greetingMs)
  try {
    const greeting = await greet(client, credentials)
    if (greeting.kind === 'cancel') backend.cancel(greeting.key)
    if (greeting.kind !== 'session') {
      client.end()
      client.resume()
      return
    }
    clearTimeout(timer)
    const { stream, parameters, key } = await backend.open(greeting.startup)
    client.write(welcomeFrames(parameters, key))
    join(client, stream)
  } catch (error) {
    refuse(client, error)
  } finally {
    clearTimeout(timer)
  }
}

/** Connects a client with its session: what one says the other hears, and neither outlives the other. */
function join(client: Duplex, session: Duplex): void {
  session.on('error', () => session.destroy())
  // A client that has gone; one that has said goodbye ends its side first, which `pipe` passes on.
  client.once('close', () => session.destroy())
  session.once('close', () => {
    if (!client.writableEnded) client.end()
    client.resume() // what it still says is not heard, and must not keep its end from being seen
  })
  if (client.destroyed) {
    session.destroy()
    return
  }
  client.pipe(session)
  session.pipe(client)
}
