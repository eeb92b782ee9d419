#!/usr/bin/env node
// Runs a tool of node_modules, or a script, on a Node that is new enough. The tools need Node >= 22 and the scripts
// are TypeScript that Node strips itself, while users may have Node 20: then the Node that npm installed from
// `optionalDependencies` takes over. A launcher, since npm 10 links no `.bin/node` when several platforms are listed.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MIN_MAJOR = 24
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

function newEnoughNode() {
  if (Number(process.versions.node.split('.')[0]) >= MIN_MAJOR) return process.execPath
  const { platform, arch } = process
  const prefix = platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'
  const name = `${prefix}-${platform === 'win32' ? 'win' : platform}-${arch}`
  try {
    const manifest = createRequire(join(root, 'package.json')).resolve(`${name}/package.json`)
    return join(dirname(manifest), 'bin', platform === 'win32' ? 'node.exe' : 'node')
  } catch {
    console.error(
      `Tidegate needs Node ${MIN_MAJOR} or newer; this is ${process.versions.node}, and the package ${name} that brings ` +
        'its own is not installed (was npm told to omit optional dependencies?).',
    )
    process.exit(1)
  }
}

const [command, ...args] = process.argv.slice(2)
if (!command) {
  console.error('usage: with-node.mjs <tool or script> [arguments]')
  process.exit(2)
}
const node = newEnoughNode()
const bins = join(root, 'node_modules', '.bin')
const tool = join(bins, command)
const child = spawn(node, [existsSync(tool) ? tool : command, ...args], {
  // The channel tells the child when this process is gone, even by SIGKILL (see `end-with-parent.ts`).
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  env: { ...process.env, PATH: [dirname(node), bins, process.env.PATH].join(delimiter) },
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
// Whoever started this process with a channel of its own wants it to end with itself.
process.on('disconnect', () => child.kill('SIGTERM'))
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 1)))
