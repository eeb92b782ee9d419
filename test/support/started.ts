import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePortRange } from '../../functions/cli/ports.ts'
import { fromRoot } from '../../functions/cli/root.ts'

export type Started = {
  readonly child: ChildProcess
  /** What it has printed so far, both streams. */
  readonly output: () => string
  /** The greeting, once it is ready; fails when the process ends before. */
  readonly ready: Promise<Greeting>
  readonly exit: Promise<number>
  /** Ids of the process and all below it. */
  readonly tree: () => Promise<number[]>
  /** `kill -9` of the process and all below it. */
  readonly killTree: () => Promise<void>
}

export type Greeting = {
  readonly url: string
  readonly key: string
  readonly databaseUrl: string
  /** The copy-paste commands, by the number of their heading. */
  readonly lines: ReadonlyMap<number, readonly string[]>
}

/** Ports for one start: nine neighbours for the gateway and its mounts, the tenth for the database. */
export async function freePorts(): Promise<string[]> {
  const port = await freePortRange('127.0.0.1', 10)
  return ['--port', String(port), '--database-port', String(port + 9)]
}

export const temporaryFolder = (): { path: string; remove: () => void } => {
  const path = mkdtempSync(join(tmpdir(), 'tidegate-e2e-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }) }
}

/** Starts Tidegate as `npm start` does. */
export function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Started {
  const child = spawn(
    process.execPath,
    [fromRoot('functions/cli/with-node.mjs'), fromRoot('functions/cli/start.ts'), ...args],
    {
      cwd: fromRoot('.'),
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  )
  let text = ''
  const readers: (() => void)[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      for (const read of readers) read()
    })
  }
  const exit = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)))
  const ready = new Promise<Greeting>((resolve, reject) => {
    readers.push(() => {
      if (text.includes('tidegate.documents"')) resolve(readGreeting(text))
    })
    exit.then((code) => reject(new Error(`ended with ${code} before it was ready:\n${text}`)))
  })
  ready.catch(() => {}) // a start that is meant to fail is judged by its exit
  return {
    child,
    output: () => text,
    ready,
    exit,
    tree: () => processTree(child.pid as number),
    killTree: () => killTree(child.pid as number),
  }
}

function readGreeting(text: string): Greeting {
  const lines = new Map<number, string[]>()
  let heading = 0
  for (const line of text.slice(text.indexOf('Five lines')).split('\n').slice(1)) {
    const [, number] = /^(\d)\. /.exec(line) ?? []
    if (number) heading = Number(number)
    else if (line.trim() !== '') lines.set(heading, [...(lines.get(heading) ?? []), line])
  }
  const find = (form: RegExp) => form.exec(text)?.[1] ?? ''
  return {
    url: find(/is ready at (\S+)/),
    key: find(/(tdg_\w+)/),
    databaseUrl: find(/Postgres\s+(\S+)/),
    lines,
  }
}

const run = promisify(execFile)

export async function processTree(pid: number): Promise<number[]> {
  const { stdout } = await run('ps', ['-eo', 'pid=,ppid='])
  const pairs = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  const below = (parent: number): number[] =>
    pairs.flatMap(([child = 0, of]) => (of === parent ? [child, ...below(child)] : []))
  return [pid, ...below(pid)]
}

/** Processes that end by themselves in between are as dead. */
export async function killTree(pid: number): Promise<void> {
  for (const member of await processTree(pid)) {
    try {
      process.kill(member, 'SIGKILL')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Runs a shell command; gives its output and exit code. */
export const shell = (command: string): Promise<{ code: number; output: string }> =>
  new Promise((resolve) => {
    execFile('sh', ['-c', command], { cwd: fromRoot('.'), timeout: 30_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr }),
    )
  })
