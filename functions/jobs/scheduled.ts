import type { GatewayBindings } from '../gateway/env.ts'
import { runDueJobs } from './runner.ts'

/** The cron trigger of every minute (`* * * * *` in wrangler.toml). */
export const scheduled: ExportedHandlerScheduledHandler<GatewayBindings> = async (controller, env) => {
  // A tick is never before the time it was scheduled for, also where the two clocks differ.
  const aheadMs = Math.max(0, controller.scheduledTime - Date.now())
  await runDueJobs(env, () => Date.now() + aheadMs)
}
