// A thread of the engine process, which itself is mostly inside a query: ends the process when its parent is gone, and
// touches the lock file so that holders on other hosts can tell it lives.
import { Socket } from 'node:net'
import { workerData } from 'node:worker_threads'
import { descriptors } from './engine-messages.ts'
import { heartbeatMs, touchLock } from './lock-file.ts'

const { lock } = workerData as { readonly lock: string }

const parent = new Socket({ fd: descriptors.lifeline, readable: true, writable: false })
parent.on('error', () => undefined) // followed by "close"
parent.on('close', () => process.kill(process.pid, 'SIGKILL'))
parent.resume()
setInterval(() => touchLock(lock), heartbeatMs)
