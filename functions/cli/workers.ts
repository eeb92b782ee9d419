import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { bindingsOf, bundleOf, type ScriptName, scripts } from './build.ts'
import { mountPorts } from './ports.ts'
import { fromRoot } from './root.ts'

export type WorkersOptions = {
  readonly host: string
  /** The gateway's port; the mounts' own ports follow it. */
  readonly port: number
  readonly stateFolder: string
  /** Variables and secrets of each script. */
  readonly bindings: Readonly<Record<ScriptName, Readonly<Record<string, string>>>>
  readonly log: (line: string) => void
}

export type Workers = {
  /** Runs the gateway's cron handler as the platform would. */
  readonly scheduled: (cron: string, at: Date) => Promise<void>
  readonly crons: readonly string[]
  readonly stop: () => Promise<void>
}

type Built = { readonly options: Record<string, unknown>; readonly crons: readonly string[] }

/**
 * Runs the three scripts' production bundles in Miniflare, on sockets of the runtime itself: through the development
 * proxy they would answer at a twenty-fifth of the speed.
 */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const { host, port, stateFolder } = options
  const built = new Map(scripts.map(({ name }) => [name, JSON.parse(readFileSync(bindingsOf(name), 'utf8')) as Built]))
  const worker = (name: ScriptName) => ({
    ...built.get(name)?.options,
    modules: [{ type: 'ESModule' as const, path: 'worker.js', contents: readFileSync(bundleOf(name), 'utf8') }],
    bindings: options.bindings[name],
  })
  if (process.platform !== 'win32') process.env.MINIFLARE_WORKERD_PATH = watchdog(stateFolder)
  const before = signals.map((signal) => [signal, process.listeners(signal)] as const)
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      host,
      port: 0, // the proxy of Miniflare itself: not used, but always there
      resourcePersistencePath: stateFolder,
      handleStructuredLogs: ({ message }) => options.log(message),
      workers: [
        {
          ...worker('gateway'),
          unsafeDirectSockets: [
            { host, port, entrypoint: 'MainEntry' },
            ...mountPorts.map(({ offset, entrypoint }) => ({ host, port: port + offset, entrypoint })),
          ],
        },
        worker('relay'),
        worker('sandbox'),
      ] as Parameters<typeof convertV4MiniflareOptions>[0] extends { workers: infer W } ? W : never,
    }),
  )
  // Miniflare ends the process at once on a signal; ending in order is the launcher's work.
  for (const [signal, listeners] of before) {
    for (const listener of process.listeners(signal)) if (!listeners.includes(listener)) process.off(signal, listener)
  }
  await miniflare.ready
  const gateway = await miniflare.getWorker(String(built.get('gateway')?.options.name))
  return {
    crons: built.get('gateway')?.crons ?? [],
    scheduled: async (cron, scheduledTime) => {
      await gateway.scheduled({ cron, scheduledTime })
    },
    stop: () => miniflare.dispose(),
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * A stand-in for the runtime's program that ends it when the process that started it is gone: after a `kill -9` the
 * runtime would live on, hold the ports and answer.
 */
function watchdog(folder: string): string {
  const program = createRequire(fromRoot('package.json'))('workerd').default as string
  const path = join(folder, 'workerd-with-watchdog.sh')
  writeFileSync(
    path,
    `#!/bin/sh
parent=$PPID
(while kill -0 $parent 2>/dev/null; do sleep 0.5; done; kill -9 $$ 2>/dev/null) </dev/null >/dev/null 2>&1 3>&- &
exec '${program}' "$@"
`,
  )
  chmodSync(path, 0o755)
  return path
}
