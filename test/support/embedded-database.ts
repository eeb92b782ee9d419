import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startDatabaseEndpoint } from '../../functions/cli/database/endpoint.ts'
import { readMigrations } from '../../functions/cli/launch.ts'
import { createSql } from '../../shared/kernel/sql/client.ts'
import { migrate } from '../../shared/kernel/sql/migrate.ts'

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string
  }
}

/** One embedded database with the whole schema, for all runtime tests; each makes rows of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-test-'))
  const database = await startDatabaseEndpoint({
    port: 0,
    host: '127.0.0.1',
    password: 'runtime-tests',
    backend: { kind: 'pglite', dataDir: join(folder, 'postgres') },
  })
  await migrate(createSql(database.url), readMigrations())
  project.provide('databaseUrl', database.url)
  return async () => {
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
