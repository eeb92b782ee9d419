import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../../../shared/kernel/errors.ts'

/** Another process has the database folder open. Two engines on one folder lose each other's writes without a word. */
export class DatabaseFolderLockedError extends AppError {
  override readonly name = 'DatabaseFolderLockedError'
  readonly code = 'database_folder.locked'
  readonly status = 409
}

/** A process for as long as it lives: ids are used again, start times of one id are not. */
type Process = { readonly pid: number; readonly startedAt: string }

type Holder = {
  /** The engine, which has the files open. */
  readonly engine: Process
  /** The process that started the engine, and without which it ends. */
  readonly owner: Process
  readonly host: string
}

const pollMs = 50
/** An engine whose owner has died notices within milliseconds; one that hangs in the kernel is not waited for longer. */
const endingWaitMs = 5_000
/** A lock file without content is one being written, unless it has been so for this long. */
const unreadableMs = 2_000
/** The holder touches the file this often, which tells holders on another host apart from those that are gone. */
export const heartbeatMs = 5_000
const silentMs = 4 * heartbeatMs
/** Clearing an old lock away takes a moment; whoever died in it does not block others for longer. */
const clearingMs = 10_000

/**
 * Takes the lock file for this process (the engine), or takes it over from one that was killed.
 *
 * @param ownerPid the process without which this one ends
 * @returns releases the lock, if it still is this process's
 * @throws {DatabaseFolderLockedError} names the folder and the process
 */
export async function takeLock(path: string, ownerPid: number): Promise<() => void> {
  const self: Holder = { engine: identify(process.pid), owner: identify(ownerPid), host: hostId() }
  const text = `${JSON.stringify(self)}\n`
  for (const startedAtMs = Date.now(); ; await sleep(pollMs)) {
    try {
      writeFileSync(path, text, { flag: 'wx', mode: 0o600 })
      return () => {
        if (readText(path) === text) rmSync(path, { force: true })
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const found = readText(path)
    const state = found === undefined ? 'ending' : judge(path, found)
    if (state === 'gone') clear(path, found)
    else if (state === 'held' || Date.now() - startedAtMs > endingWaitMs) throw lockedError(path, found)
  }
}

/** Says that the holder lives. Called from time to time. */
export function touchLock(path: string): void {
  try {
    const now = new Date()
    utimesSync(path, now, now)
  } catch {
    // The folder was removed under a running engine; its next file access tells.
  }
}

function judge(path: string, text: string): 'held' | 'ending' | 'gone' {
  const holder = parse(text)
  if (!holder) return ageMs(path) > unreadableMs ? 'gone' : 'ending'
  // Processes of another host, or of another container on this one, cannot be looked up.
  if (holder.host !== hostId()) return ageMs(path) > silentMs ? 'gone' : 'held'
  if (!lives(holder.engine)) return 'gone'
  return lives(holder.owner) ? 'held' : 'ending'
}

/** Removes a lock whose holder is gone. One process at a time: the second would remove the first one's new lock. */
function clear(path: string, seen: string | undefined): void {
  const guard = `${path}.clearing`
  try {
    mkdirSync(guard)
  } catch {
    if (ageMs(guard) > clearingMs) rmdirQuietly(guard)
    return // someone else is at it; look again
  }
  try {
    if (readText(path) === seen) rmSync(path, { force: true })
  } finally {
    rmdirQuietly(guard)
  }
}

function lockedError(path: string, text: string | undefined): DatabaseFolderLockedError {
  const folder = dirname(path)
  const holder = text === undefined ? undefined : parse(text)
  if (!holder)
    return new DatabaseFolderLockedError(
      `the database folder ${folder} is being opened by another process; try again`,
      {
        folder,
      },
    )
  // The engine of an owner that has died is about to end by itself; when it does not, it is the one to stop.
  const { pid } = holder.host !== hostId() || lives(holder.owner) ? holder.owner : holder.engine
  const where = holder.host === hostId() ? '' : ` on ${holder.host.split('/')[0]}`
  return new DatabaseFolderLockedError(
    `the database folder ${folder} is in use by process ${pid}${where}; stop that one, or choose another folder`,
    { folder, pid, engine_pid: holder.engine.pid },
  )
}

function parse(text: string): Holder | undefined {
  try {
    const holder = JSON.parse(text) as Holder
    return Number.isInteger(holder.engine.pid) && Number.isInteger(holder.owner.pid) ? holder : undefined
  } catch {
    return undefined
  }
}

const identify = (pid: number): Process => ({ pid, startedAt: startOf(pid) ?? '' })

function lives({ pid, startedAt }: Process): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const now = startOf(pid)
  return startedAt === '' || now === undefined || startedAt === now
}

/** When a process started, in whatever unit the system has; undefined where it cannot be told. */
function startOf(pid: number): string | undefined {
  try {
    if (process.platform === 'win32') return undefined
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env: { LC_ALL: 'C' } }).trim()
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A zombie has ended; only its parent has not looked yet (proc(5): state is the third field, start the 22nd).
    return fields[0] === 'Z' ? 'ended' : fields[19]
  } catch {
    return undefined
  }
}

/** This machine since it booted: process ids mean nothing anywhere else, nor after a restart. */
function hostId(): string {
  return `${hostname()}/${readText('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}`
}

function ageMs(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs
  } catch {
    return 0 // gone in the meantime; the next look tells
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function rmdirQuietly(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // removed by another, which is as good
  }
}
