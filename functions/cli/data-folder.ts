import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

export class DataFolderError extends Error {
  override readonly name = 'DataFolderError'
}

/** A data folder that this process alone uses, until `release()`. */
export type DataFolder = {
  readonly path: string
  readonly file: (name: string) => string
  readonly release: () => void
}

/**
 * Takes a data folder for this process: two starts on one folder would interleave their writes, and nothing below
 * refuses that.
 *
 * @throws {DataFolderError} it cannot be written, or another process holds it
 */
export function takeDataFolder(folder: string): DataFolder {
  const path = resolve(folder)
  const file = (name: string) => join(path, name)
  try {
    makeFolder(path)
  } catch (cause) {
    throw new DataFolderError(`the data folder ${path} cannot be made (${codeOf(cause)}); choose another with --data`, {
      cause,
    })
  }
  const lock = file('lock')
  for (let attempt = 0; ; attempt++) {
    try {
      const descriptor = openSync(lock, 'wx', 0o600)
      writeSync(descriptor, `${process.pid}\n${startOf(process.pid) ?? ''}\n`)
      closeSync(descriptor)
      return { path, file, release: () => rmSync(lock, { force: true }) }
    } catch (cause) {
      if (codeOf(cause) !== 'EEXIST') {
        throw new DataFolderError(
          `the data folder ${path} cannot be written (${codeOf(cause)}); choose another with --data`,
          { cause },
        )
      }
      const holder = holderOf(lock)
      if (holder !== undefined || attempt > 2) {
        throw new DataFolderError(
          `the data folder ${path} is in use by process ${holder ?? 'unknown'}; stop that one, or choose another folder with --data`,
        )
      }
      rmSync(lock, { force: true, recursive: true }) // left by a process that was killed
    }
  }
}

/** Makes a folder and those above it, one by one: Node's own `recursive` never returns where nothing can be made (/proc/x). */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  const above = dirname(path)
  if (above !== path) makeFolder(above)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

/** Empties the folder but for the lock. */
export function emptyDataFolder({ file }: DataFolder): void {
  for (const name of ['key', 'state', 'postgres', 'database-password', 'log'])
    rmSync(file(name), { recursive: true, force: true })
}

/** The process that holds a lock, when it still is the one that took it: ids are used again. */
function holderOf(lock: string): number | undefined {
  const [pidText = '', start = ''] = readText(lock).split('\n')
  const pid = Number(pidText)
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return undefined
  }
  const now = startOf(pid)
  return start === '' || now === undefined || start === now ? pid : undefined
}

/**
 * When a process started, in the kernel's ticks (proc(5), field 22 of stat); undefined where there is no /proc. A zombie
 * has ended, however long its parent takes to notice.
 */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' || state === 'X' ? 'ended' : fields[18]
  } catch {
    return undefined
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '' // gone since, or not a file: nobody holds it
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error)
