import { execFileSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { AppError } from '../../../../shared/kernel/errors.ts'
import { readTar } from './tar.ts'

/** The database folder cannot be used. The message names it and says what to do. */
export class DatabaseFolderError extends AppError {
  override readonly name = 'DatabaseFolderError'
  readonly code = 'database_folder.unusable'
  readonly status = 500
  override readonly fault = 'platform'
}

/** Major version of the engine's data files. */
const majorVersion = '18'

/** Places inside a database folder. */
export const placesOf = (folder: string) => ({
  /** Files of the engine. */
  cluster: join(folder, 'cluster'),
  /** Stands while the cluster is being made; what stands beside it is then incomplete. */
  unfinished: join(folder, 'cluster.unfinished'),
  lock: join(folder, 'lock'),
})

/**
 * Makes the folder if need be, for this user only.
 *
 * @throws {DatabaseFolderError}
 */
export function ensureFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (!statSync(folder).isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' })
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    chmodSync(folder, 0o700)
  } catch (cause) {
    throw unusable(folder, cause)
  }
}

/** What the system said about a folder, and what to do about it. */
export function unusable(folder: string, cause: unknown): DatabaseFolderError {
  const { code = String(cause) } = cause as NodeJS.ErrnoException
  const why: Record<string, string> = {
    EACCES: `user ${userName()} may not use it; change its owner or its rights`,
    EPERM: `user ${userName()} may not use it; change its owner or its rights`,
    EROFS: 'its disk is read-only',
    ENOSPC: 'its disk is full; make room',
    ENOTDIR: 'a file stands in the way; remove it',
    EEXIST: 'a file stands in the way; remove it',
    ENOENT: 'it cannot be made there',
  }
  const message = `the database folder ${folder} cannot be used (${code}): ${why[code] ?? 'the system refused it'}, or choose another folder`
  return new DatabaseFolderError(message, { folder, errno: code }, { cause })
}

/**
 * Makes the cluster from the template when the folder has none; the template is built when it is missing or unreadable.
 *
 * @returns whether it was made now
 * @throws {DatabaseFolderError}
 */
export function ensureCluster(folder: string, template: string): boolean {
  const { cluster, unfinished } = placesOf(folder)
  try {
    if (existsSync(unfinished)) rmSync(cluster, { recursive: true, force: true })
    if (existsSync(join(cluster, 'PG_VERSION'))) {
      refuseOtherVersion(folder, cluster)
      // Sorts that spilled to disk when their engine was ended: a postmaster removes them at its start, and there is none.
      rmSync(join(cluster, 'base', 'pgsql_tmp'), { recursive: true, force: true })
      return false
    }
    if (existsSync(cluster) && readdirSync(cluster).length > 0) {
      throw new DatabaseFolderError(
        `the database folder ${folder} is damaged: ${cluster} has files but no PG_VERSION; restore it, or remove it to start empty`,
        { folder },
      )
    }
    writeFileSync(unfinished, '', { mode: 0o600 })
    fill(cluster, template)
    rmSync(unfinished)
    return true
  } catch (error) {
    if (error instanceof AppError) throw error
    throw unusable(folder, error)
  }
}

/** Takes a cluster that was just made and that the engine cannot open away, with the template it came from. */
export function discardCluster(folder: string, template: string): void {
  const { cluster } = placesOf(folder)
  rmSync(cluster, { recursive: true, force: true })
  rmSync(template, { force: true })
}

function refuseOtherVersion(folder: string, cluster: string): void {
  const found = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
  if (found === majorVersion) return
  throw new DatabaseFolderError(
    `the database folder ${folder} has data of PostgreSQL ${found}, this engine is PostgreSQL ${majorVersion}; ` +
      'dump it with the version that made it and restore the dump into another folder',
    { folder, expected: majorVersion, given: found },
  )
}

function fill(cluster: string, template: string): void {
  for (let attempt = 1; ; attempt++) {
    rmSync(cluster, { recursive: true, force: true })
    mkdirSync(cluster, { recursive: true, mode: 0o700 })
    try {
      if (!existsSync(template)) buildTemplate(template)
      extract(gunzipSync(readFileSync(template)), cluster)
      return
    } catch (error) {
      // A template cut off or damaged is built anew, once. What the disk refuses (ENOSPC, ...) is not the template's fault.
      if (attempt > 1 || (error as NodeJS.ErrnoException).syscall !== undefined) throw error
      rmSync(template, { force: true })
    }
  }
}

function extract(archive: Buffer, cluster: string): void {
  let complete = false
  for (const { path, content } of readTar(archive)) {
    const target = join(cluster, path)
    if (content === undefined) {
      mkdirSync(target, { recursive: true, mode: 0o700 })
      continue
    }
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
    writeFileSync(target, content, { mode: 0o600 })
    complete ||= path === 'PG_VERSION'
  }
  if (!complete) throw new Error('damaged archive: it has no PG_VERSION')
}

/** Builds the template in a process of its own, whose memory (0.7 GB) is then free again. */
function buildTemplate(template: string): void {
  const script = fileURLToPath(new URL('./build-template.ts', import.meta.url).href)
  try {
    execFileSync(process.execPath, [script, template], { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' })
  } catch (cause) {
    const { stderr = '' } = cause as { stderr?: string }
    throw new DatabaseFolderError(
      `a new database cannot be made: ${lastLine(stderr) || String(cause)}`,
      { template },
      { cause },
    )
  }
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? ''

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown') // a container may run under an id without a name
  }
}
