import { type LaunchOptions, launch, type Running } from '../../functions/cli/launch.ts'
import { freePortRange } from '../../functions/cli/ports.ts'
import { temporaryFolder } from './started.ts'

export type Launched = Running & {
  readonly port: number
  readonly logged: () => string
  readonly end: () => Promise<void>
}

/** Everything, in this process, on free ports and a folder that goes away. */
export async function launched(
  settings: Readonly<Record<string, string>> = {},
  more: Partial<LaunchOptions> = {},
): Promise<Launched> {
  const folder = temporaryFolder()
  const port = await freePortRange('127.0.0.1', 10)
  const lines: string[] = []
  const running = await launch({
    host: '127.0.0.1',
    port,
    databasePort: port + 9,
    dataFolder: folder.path,
    fresh: false,
    settings,
    log: (line) => lines.push(line),
    ...more,
  })
  return {
    ...running,
    port,
    logged: () => lines.join('\n'),
    end: async () => {
      await running.stop()
      folder.remove()
    },
  }
}
