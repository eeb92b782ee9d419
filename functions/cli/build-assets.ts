// Writes the static assets of the gateway: the OpenAPI documents, one for all mounts and one for each.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { toOpenApi } from '../../shared/kernel/contract/openapi.ts'
import { mounts } from './mounts.ts'
import { fromRoot } from './root.ts'

const folder = fromRoot('dist/assets')

function write(path: string, document: unknown): void {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(document))
}

const { version, description } = manifest
write('openapi.json', toOpenApi({ title: 'Tidegate', version, description }, mounts))
for (const mount of mounts) {
  if (mount.prefix === '') continue
  const info = { title: mount.tag, version: mount.version ?? version, description: `${mount.tag}, through Tidegate.` }
  write(`${mount.prefix}/openapi.json`, toOpenApi(info, [mount]))
}
