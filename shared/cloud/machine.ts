import { AppError } from '../kernel/errors.ts'
import { ConflictError } from './errors.ts'
import type { ServiceStatus } from './record.ts'

/** Every way out of a status. The seed names the statuses; the ways are shaped by the waiters of the published clients. */
export const exits = {
  QUEUED: ['CONFIGURING', 'DELETING'],
  CONFIGURING: ['READY', 'UNSTABLE', 'DELETING'],
  READY: ['CONFIGURING', 'PAUSING', 'UPGRADING', 'OPTIMIZING', 'UNSTABLE', 'DELETING'],
  UNSTABLE: ['READY', 'CONFIGURING', 'PAUSING', 'DELETING'],
  PAUSING: ['PAUSED', 'DELETING'],
  PAUSED: ['RESUMING', 'DELETING'],
  RESUMING: ['READY', 'DELETING'],
  UPGRADING: ['READY', 'DELETING'],
  OPTIMIZING: ['READY', 'CONFIGURING', 'PAUSING', 'DELETING'],
  DELETING: ['DELETED'],
  DELETED: [],
} as const satisfies Record<ServiceStatus, readonly ServiceStatus[]>

/**
 * The next status.
 *
 * @throws {ConflictError} `INVALID_STATE`: no way leads from `from` to `to`
 */
export function move(from: ServiceStatus, to: ServiceStatus): ServiceStatus {
  const allowed: readonly ServiceStatus[] = exits[from]
  if (!allowed.includes(to)) throw new ConflictError('INVALID_STATE', `a service that is ${from} cannot become ${to}`)
  return to
}

/** How long a service stays in a status on its way, in milliseconds. */
export type Durations = { readonly queue: number; readonly configure: number }

export const defaultDurations: Durations = { queue: 1_000, configure: 2_000 }

/** Durations times `TIME_SCALE`; 0 makes every step due at once, so the next read shows the end. */
export const scaleDurations = (durations: Durations, timeScale: number): Durations => ({
  queue: durations.queue * timeScale,
  configure: durations.configure * timeScale,
})

export class InvalidTimeScaleError extends AppError {
  override readonly name = 'InvalidTimeScaleError'
  readonly code = 'sandbox.time_scale'
  readonly status = 500
  override readonly fault = 'platform'
}

/**
 * Reads the setting `TIME_SCALE`; nothing means 1.
 *
 * @throws {InvalidTimeScaleError} not a number from 0 up
 */
export function parseTimeScale(text: string | undefined): number {
  if (text === undefined || text === '') return 1
  const scale = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && Number.isFinite(scale)) return scale
  throw new InvalidTimeScaleError(`TIME_SCALE: expected a number from 0 up, such as 0.5, given ${JSON.stringify(text)}`)
}

type Stage = { readonly status: ServiceStatus; readonly stays: keyof Durations }
type Change = { readonly stages: readonly [Stage, ...Stage[]]; readonly end: ServiceStatus }

/** The work a service goes through: the statuses on the way, how long each lasts, and where it ends. */
export const changes = {
  build: {
    stages: [
      { status: 'QUEUED', stays: 'queue' },
      { status: 'CONFIGURING', stays: 'configure' },
    ],
    end: 'READY',
  },
} as const satisfies Record<string, Change>
export type ChangeName = keyof typeof changes

/** A status to take at a moment (milliseconds since the epoch). */
export type Step = { readonly status: ServiceStatus; readonly atMs: number }

/** What the machine knows of a service: its status, and the steps to come in order. */
export type MachineState = { readonly status: ServiceStatus; readonly steps: readonly Step[] }

/** The state in which a piece of work begins at `nowMs`, with the steps that finish it. */
export function begin(name: ChangeName, nowMs: number, durations: Durations): MachineState {
  const { stages, end }: Change = changes[name]
  const steps: Step[] = []
  let atMs = nowMs
  for (const [index, { stays }] of stages.entries()) {
    atMs += durations[stays]
    steps.push({ status: stages[index + 1]?.status ?? end, atMs })
  }
  return { status: stages[0].status, steps }
}

/**
 * Takes every step that is due at `nowMs`, in order. The same state comes back when none is. Applying at one moment
 * and then at a later one equals applying at the later one only.
 */
export function apply<S extends MachineState>(state: S, nowMs: number): S {
  let { status } = state
  let taken = 0
  for (const step of state.steps) {
    if (step.atMs > nowMs) break
    status = move(status, step.status)
    taken++
  }
  return taken === 0 ? state : { ...state, status, steps: state.steps.slice(taken) }
}

/** When the next step is due, null when none is to come. */
export const nextStepAtMs = ({ steps }: MachineState): number | null => steps[0]?.atMs ?? null
