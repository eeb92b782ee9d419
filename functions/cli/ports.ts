import { createServer } from 'node:net'
import type { HostName } from '../gateway/env.ts'

/** The mounts with a port of their own: the gateway's port plus this. */
export const mountPorts = [
  { mount: 'CLOUD', offset: 1, entrypoint: 'CloudEntry' },
  { mount: 'MST', offset: 2, entrypoint: 'ManagedServiceEntry' },
  { mount: 'CLOB', offset: 3, entrypoint: 'ClobEntry' },
  { mount: 'GAMMA', offset: 4, entrypoint: 'GammaEntry' },
  { mount: 'DATA', offset: 5, entrypoint: 'DataEntry' },
  { mount: 'FEED', offset: 6, entrypoint: 'FeedEntry' },
  { mount: 'SPORTS', offset: 7, entrypoint: 'SportsEntry' },
  { mount: 'RTDS', offset: 8, entrypoint: 'RtdsEntry' },
] as const satisfies readonly { mount: HostName; offset: number; entrypoint: string }[]

export class PortError extends Error {
  override readonly name = 'PortError'
}

/**
 * Makes sure that every port is free before anything is started: the runtime's own failure does not say which is not.
 *
 * @throws {PortError} names the port and the flag that moves it
 */
export async function requireFreePorts(host: string, wanted: readonly { port: number; flag: string }[]): Promise<void> {
  for (const { port, flag } of wanted) {
    if (port < 1 || port > 65_535)
      throw new PortError(`port ${port} is not between 1 and 65535; choose another with ${flag}`)
    const fault = await tryToListen(host, port)
    if (fault === 'EADDRINUSE') throw new PortError(`port ${port} on ${host} is in use; choose another with ${flag}`)
    if (fault === 'EACCES')
      throw new PortError(`port ${port} needs more rights than this user has; choose another with ${flag}`)
    if (fault)
      throw new PortError(`cannot listen on ${host}, port ${port} (${fault}); choose another with --host or ${flag}`)
  }
}

const tryToListen = (host: string, port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })

/** The first of `count` neighbouring ports that are free now, for tests. */
export async function freePortRange(host: string, count: number): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    // Below the ports that systems give to outgoing connections (Linux: from 32768), which come and go.
    const first = 20_000 + Math.floor(Math.random() * 120) * 100
    const faults = await Promise.all(Array.from({ length: count }, (_, at) => tryToListen(host, first + at)))
    if (faults.every((fault) => fault === undefined)) return first
  }
  throw new PortError(`no ${count} neighbouring ports are free on ${host}`)
}
