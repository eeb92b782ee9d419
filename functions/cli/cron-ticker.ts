import { Cron } from 'croner'

/**
 * Fires cron triggers on this machine as the platform does in production: five fields, UTC. A firing that fails is told
 * to `onError`, and the next one comes all the same. Returns what stops it.
 */
export function startCronTicker(
  crons: readonly string[],
  fire: (cron: string, at: Date) => Promise<void>,
  onError: (error: unknown) => void,
): () => void {
  const jobs = crons.map(
    (cron) =>
      new Cron(cron, { mode: '5-part', timezone: 'UTC', unref: true }, async (job: Cron) => {
        await fire(cron, job.currentRun() ?? new Date()).catch(onError)
      }),
  )
  return () => {
    for (const job of jobs) job.stop()
  }
}
