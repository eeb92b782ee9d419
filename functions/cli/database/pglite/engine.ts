// The engine process: PGlite behind a socket that speaks the wire protocol, as a PostgreSQL backend process does. It
// reads and writes that socket blocking, from inside the engine. So a COPY streams, a slow reader holds the engine up
// instead of filling memory, and the parent can end a query only from outside: the engine has no timers and no signals.
import { readSync, writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { PGlite, protocol } from '@electric-sql/pglite'
import { AppError } from '../../../../shared/kernel/errors.ts'
import { embeddedName } from '../names.ts'
import { FrameReader } from '../wire/frame-reader.ts'
import { answer, type Frame, headerBytes, readCString } from '../wire/frames.ts'
import { discardCluster, ensureCluster, ensureFolder, placesOf, unusable } from './cluster.ts'
import { descriptors, type EngineOptions, type EngineReport, engineDiedStatus } from './engine-messages.ts'
import { takeLock } from './lock-file.ts'

/** Thrown through the engine when the parent closed the socket between two messages. */
class ParentClosed extends Error {}

/** Exit status by which the engine reports a `longjmp` to its main loop: an SQL error, not a failure (pglitec.c). */
const longJump = 100

/** Names that PGlite 0.5.14 exports from its module; its own loop in `execProtocolRawSync` uses the same. */
type EngineModule = {
  readonly HEAPU8: Uint8Array
  addFunction(callback: (pointer: number, length: number) => number, signature: string): number
  _pgl_set_rw_cbs(read: number, write: number): void
  _PostgresMainLoopOnce(): void
  _PostgresMainLongJmp(): void
  _PostgresSendReadyForQueryIfNecessary(): void
  _pgl_pq_flush(): void
  _pq_buffer_remaining_data(): number
  stackSave(): number
  stackRestore(pointer: number): void
}

const report = (message: EngineReport): Promise<void> =>
  new Promise((resolve) => process.send?.(message, () => resolve()) ?? resolve())

// The terminal's interrupt goes to the whole group; the parent decides when the engine ends, and how.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('disconnect', () => process.exit(0)) // the parent died while this process was still starting
process.umask(0o077)

process.once('message', async (options: EngineOptions) => {
  try {
    const { database, parameters, release } = await open(options)
    await report({ kind: 'ready', parameters: [...parameters] })
    try {
      serve(database)
    } catch (error) {
      if (!(error instanceof ParentClosed)) throw error
    }
    await database.close() // writes a checkpoint, so that the next open has nothing to recover
    release()
    process.exit(0)
  } catch (error) {
    const { code, message, details } =
      error instanceof AppError ? error : { code: 'database_engine.failed', message: String(error), details: {} }
    await report({ kind: 'failed', code, message, details })
    console.error(error)
    process.exit(engineDiedStatus)
  }
})

async function open(options: EngineOptions) {
  const { folder, template } = options
  const { cluster, lock } = placesOf(folder)
  ensureFolder(folder)
  let release: () => void
  try {
    release = await takeLock(lock, process.ppid)
  } catch (error) {
    throw error instanceof AppError ? error : unusable(folder, error)
  }
  new Worker(fileURLToPath(new URL('./lifeline.ts', import.meta.url).href), { workerData: { lock } }).unref()
  try {
    const isNew = ensureCluster(folder, template)
    return { ...(await start(cluster, options, isNew ? template : undefined)), release }
  } catch (error) {
    release()
    throw error
  }
}

/** @param madeFrom the template, when the cluster is new: one that the engine cannot open is made anew, once */
async function start(cluster: string, options: EngineOptions, madeFrom: string | undefined): Promise<Started> {
  try {
    const database = await PGlite.create(cluster, { database: embeddedName, startParams: startParameters(options) })
    // PGlite throws from here, through the engine. Null makes it an SQL error ("could not execute command").
    database.handleExternalCmd = () => 0
    const hello = await database.execProtocolRaw(
      protocol.serialize.startup({ user: embeddedName, database: embeddedName }),
    )
    return { database, parameters: readParameters(hello) }
  } catch (error) {
    if (madeFrom === undefined) throw error
    discardCluster(options.folder, madeFrom)
    ensureCluster(options.folder, madeFrom)
    return start(cluster, options, undefined)
  }
}

type Started = { readonly database: PGlite; readonly parameters: ReadonlyMap<string, string> }

const startParameters = ({ queryTimeoutMs, idleInTransactionTimeoutMs }: EngineOptions): string[] => {
  const settings: Record<string, string | number> = {
    exit_on_error: 'false',
    log_checkpoints: 'false',
    // One process: no workers of any kind.
    max_worker_processes: 0,
    max_parallel_workers: 0,
    max_parallel_workers_per_gather: 0,
    max_parallel_maintenance_workers: 0,
    io_method: 'sync',
    // Nobody replicates: less is written ahead.
    wal_level: 'minimal',
    max_wal_senders: 0,
    min_wal_size: '8MB',
    max_wal_size: '64MB',
    // Measured with `--stack-size=3900`: at 700 kB a recursion can exhaust the host's stack, which kills the engine,
    // before this limit turns it into an SQL error.
    max_stack_depth: '300kB',
    // Not obeyed by the engine: kept here so that SHOW and RESET tell the truth. The parent enforces them.
    statement_timeout: queryTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
  }
  // -F: no fsync. A killed process loses nothing, since its writes are the system's; a power cut may.
  return ['--single', '-F', '-j', ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

function readParameters(hello: Uint8Array): Map<string, string> {
  const parameters = new Map<string, string>()
  for (const frame of new FrameReader(1 << 20).read(Buffer.from(hello))) {
    if (frame[0] === answer.parameterStatus) parameters.set(...readPair(frame))
  }
  return parameters.set('session_authorization', embeddedName)
}

function readPair(frame: Frame): [string, string] {
  const name = readCString(frame, headerBytes)
  return [name.text, readCString(frame, name.next).text]
}

/** Runs the engine's main loop until the parent closes the socket. */
function serve(database: PGlite): never {
  const engine = database.Module as unknown as EngineModule
  const read = engine.addFunction((pointer, length) => {
    const count = retried(() => readSync(descriptors.wire, engine.HEAPU8, pointer, length, null))
    if (count === 0) throw new ParentClosed()
    return count
  }, 'ipi')
  const write = engine.addFunction((pointer, length) => {
    for (let done = 0; done < length; )
      done += retried(() => writeSync(descriptors.wire, engine.HEAPU8, pointer + done, length - done))
    return length
  }, 'ipi')
  engine._pgl_set_rw_cbs(read, write)
  for (;;) {
    const stack = engine.stackSave()
    try {
      engine._PostgresMainLoopOnce()
    } catch (error) {
      if ((error as { status?: unknown }).status !== longJump) throw error
      engine.stackRestore(stack)
      engine._PostgresMainLongJmp()
    }
    engine._PostgresSendReadyForQueryIfNecessary()
    // Answers to messages that came together leave together.
    if (engine._pq_buffer_remaining_data() <= 0) engine._pgl_pq_flush()
  }
}

/** A blocking socket can still answer "try again" when a signal comes in between. */
function retried(call: () => number): number {
  for (;;) {
    try {
      return call()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EPIPE' || code === 'ECONNRESET') throw new ParentClosed()
      if (code !== 'EAGAIN' && code !== 'EINTR') throw error
    }
  }
}
