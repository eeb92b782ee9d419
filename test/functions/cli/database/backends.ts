import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type DatabaseEndpoint, startDatabaseEndpoint } from '../../../../functions/cli/database/endpoint.ts'
import { startPostgres } from '../../../support/postgres.ts'

export const password = 'right horse: bättery/staple'

export type Started = {
  readonly endpoint: DatabaseEndpoint
  readonly url: string
  readonly stop: () => Promise<void>
}

/** A folder that is removed with `remove()`. */
export function temporaryFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'tidegate-database-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

type Limits = { readonly queryTimeoutMs?: number; readonly idleInTransactionTimeoutMs?: number }

async function startPglite(limits: Limits = {}): Promise<Started> {
  const folder = temporaryFolder()
  const endpoint = await startDatabaseEndpoint({
    port: 0,
    password,
    backend: { kind: 'pglite', dataDir: join(folder.path, 'database'), ...limits },
  })
  const stop = async () => {
    await endpoint.close()
    folder.remove()
  }
  return { endpoint, url: endpoint.url, stop }
}

async function startReal(): Promise<Started> {
  const server = await startPostgres()
  const endpoint = await startDatabaseEndpoint({ port: 0, password, backend: { kind: 'postgres', url: server.url } })
  const stop = async () => {
    await endpoint.close()
    await server.remove()
  }
  return { endpoint, url: endpoint.url, stop }
}

/** Both things that can stand behind the endpoint. */
export const backends = [
  { kind: 'pglite' as const, start: startPglite },
  { kind: 'postgres' as const, start: startReal },
]

/** Clients of node-postgres over TCP, ended by `end()`. Errors of lost connections are kept, not thrown. */
export function clients(url: () => string) {
  const open: pg.Client[] = []
  return {
    async connect(config: pg.ClientConfig = {}): Promise<pg.Client & { readonly errors: Error[] }> {
      const client = Object.assign(new pg.Client({ connectionString: url(), ...config }), { errors: [] as Error[] })
      client.on('error', (error) => client.errors.push(error))
      await client.connect()
      open.push(client)
      return client
    },
    async end(): Promise<void> {
      await Promise.all(open.splice(0).map((client) => client.end().catch(() => undefined)))
    },
  }
}

/** What a promise rejects with. */
export const failure = async (promise: Promise<unknown>): Promise<Error & Record<string, unknown>> => {
  try {
    await promise
  } catch (error) {
    return error as Error & Record<string, unknown>
  }
  throw new Error('expected a rejection')
}
