import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Runs a script in a process of its own; resolves with the port that it sends once it listens. */
export async function startChild(script: URL, ...args: readonly string[]): Promise<{ port: number; stop: () => void }> {
  const child: ChildProcess = fork(fileURLToPath(script.href), [...args])
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve(Number(message)))
    child.once('exit', (code) => reject(new Error(`${script.pathname} ended with ${code}`)))
  })
  return { port, stop: () => child.kill('SIGKILL') }
}
