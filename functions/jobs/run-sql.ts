import { joinError, type RunError } from '../../shared/jobs/finish.ts'
import { quoteIdentifier, quoteLiteral, quoteRoutine } from '../../shared/jobs/routine.ts'
import { AppError } from '../../shared/kernel/errors.ts'
import type { Sql } from '../../shared/kernel/sql/client.ts'
import type { JobRow } from '../../shared/store/jobs.ts'

/** The database's own limit comes first; this is for a connection that hangs. */
export const hangMs = 5_000
const maxNotices = 100

export type RoutineOutput = { readonly notices: readonly string[] }

/** The job's routine is not there (any more). */
export class MissingRoutineError extends AppError {
  override readonly name = 'MissingRoutineError'
  readonly code = 'jobs.routine_missing'
  readonly status = 404
}

/**
 * Runs the routine of a job as its owner. Separate statements on one connection, never a transaction: the routine may
 * COMMIT. The run's id is in the setting `tidegate.run_id`, for tasks that must not repeat what an earlier try has done.
 *
 * @param limitMs the database ends the statement after this long
 */
export async function runRoutine(
  sql: Sql,
  job: JobRow,
  { runId, limitMs, onStart }: { runId: string; limitMs: number; onStart: (pid: number) => void },
): Promise<RoutineOutput> {
  return sql.interactive(async (client) => {
    try {
      return await call(client, job, { runId, limitMs, onStart })
    } finally {
      // Behind a pooler, or on an engine with one backend, the next client would be the owner, with these limits.
      await client.query('reset role').catch(() => undefined)
      await client.query('reset all').catch(() => undefined)
    }
  })
}

type Client = Parameters<Parameters<Sql['interactive']>[0]>[0]

async function call(
  client: Client,
  job: JobRow,
  { runId, limitMs, onStart }: { runId: string; limitMs: number; onStart: (pid: number) => void },
): Promise<RoutineOutput> {
  const notices: string[] = []
  client.on('notice', (notice) => {
    if (notices.length < maxNotices && notice.message) notices.push(notice.message.slice(0, 1_000))
  })
  const { rows: started } = await client.query<{ pid: number; role: string }>(
    'select pg_backend_pid() as pid, current_user::text as role',
  )
  onStart(Number(started[0]?.pid))
  // SET takes no parameters, and set_config() is not seen by an endpoint that keeps the settings of each client.
  await client.query(`set application_name = ${quoteLiteral(job.application_name)}`)
  await client.query(`set tidegate.run_id = ${quoteLiteral(runId)}`)
  const workMem = workMemOf(job.config)
  if (workMem !== undefined) await client.query(`set work_mem = ${quoteLiteral(workMem)}`)
  // Never with more rights than the owner has: not being a member of that role is an error, no reason to go on.
  if (started[0]?.role !== job.owner) await client.query(`set role ${quoteIdentifier(job.owner)}`)
  const routine = { schema: job.proc_schema, name: job.proc_name }
  const { rows: found } = await client.query<{ prokind: string }>(
    `select p.prokind
       from pg_proc p
       join pg_namespace n on n.oid = p.pronamespace
      where n.nspname = $1::text and p.proname = $2::text and p.prokind in ('f', 'p') and p.provariadic = 0
        and p.pronargs >= 2 and p.pronargs - p.pronargdefaults <= 2
        and p.proargtypes[0] = 'integer'::regtype and p.proargtypes[1] = 'jsonb'::regtype
      order by p.pronargs
      limit 1`,
    [routine.schema, routine.name],
  )
  if (!found[0]) {
    throw new MissingRoutineError(
      `function or procedure "${routine.schema}.${routine.name}(integer, jsonb)" does not exist`,
    )
  }
  const verb = found[0].prokind === 'p' ? 'call' : 'select'
  await client.query(`set statement_timeout = ${Math.floor(limitMs)}`)
  await client.query(`${verb} ${quoteRoutine(routine)}($1::integer, $2::jsonb)`, [job.job_id, job.config])
  return { notices }
}

function workMemOf(config: string | null): string | undefined {
  const parsed: unknown = config === null ? undefined : JSON.parse(config)
  const workMem = (parsed as { work_mem?: unknown } | null | undefined)?.work_mem
  return typeof workMem === 'string' ? workMem : undefined
}

/** An error of the database as a run's error: message, detail and hint, whoever has wrapped it. */
export function sqlErrorOf(error: unknown): RunError | undefined {
  if (error instanceof MissingRoutineError) {
    const hint = 'Custom job actions must accept (integer, jsonb) arguments.'
    const text = joinError([error.message, hint])
    return { code: '42883', message: error.message, hint, sqlState: '42883', text }
  }
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { code, detail, hint } = at as { code?: unknown; detail?: unknown; hint?: unknown }
    if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) continue
    const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
    return {
      code,
      message: at.message,
      sqlState: code,
      text: joinError([at.message, text(detail), text(hint)]),
      ...(text(hint) !== undefined && { hint: text(hint) as string }),
    }
  }
  return undefined
}
