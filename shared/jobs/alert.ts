import type { RunOutput } from './contract.ts'

/** What a failure alert posts: enough to find the run, nothing of its task. */
export type Alert = {
  readonly type: 'job.failed'
  readonly job: { readonly id: number; readonly name: string }
  readonly run: Pick<RunOutput, 'run_id' | 'outcome' | 'attempt' | 'error'>
  readonly failures_in_a_row: number
  /** The job has reached max_retries and runs no more by itself. */
  readonly switched_off: boolean
}

/** Whether a failed run is told: from `after` failures in a row on, and always when the job was switched off. */
export const wantsAlert = (
  { url, after }: { url: string | null; after: number },
  { failuresInARow, switchOff }: { failuresInARow: number; switchOff: boolean },
): boolean => url !== null && failuresInARow > 0 && (switchOff || failuresInARow >= after)
