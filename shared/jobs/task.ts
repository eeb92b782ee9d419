import * as z from 'zod'
import { parseJsonPath } from './json-path.ts'
import { parseRoutine } from './routine.ts'

const jsonPath = z
  .string()
  .max(256)
  .refine((text) => parseJsonPath(text) !== undefined, { error: 'a JSON path of one value, such as $.market.id' })

const routineName = z.string().refine((text) => parseRoutine(text) !== undefined, {
  error: 'the name of a routine with its schema, such as public.my_job',
})

const DocumentsSink = z.strictObject({ kind: z.literal('documents'), key: jsonPath.optional() })
const TicksSink = z.strictObject({
  kind: z.literal('ticks'),
  symbol: jsonPath,
  price: jsonPath,
  time: jsonPath.optional(),
})
const RowsSink = z.strictObject({
  kind: z.literal('rows'),
  table: routineName,
  key: z.array(z.string().min(1)).min(1),
  columns: z.record(z.string(), jsonPath).optional(),
})

/** Where a poll puts what it gets; without one, documents. */
export const Sink = z.discriminatedUnion('kind', [DocumentsSink, TicksSink, RowsSink], {
  error: 'one of the kinds documents, ticks, rows',
})
export type Sink = z.output<typeof Sink>

const Pages = z.strictObject({
  by: z.enum(['offset', 'cursor', 'link'], { error: 'offset, cursor or link' }),
  limit: z.int().min(1).max(10_000).optional().meta({ description: 'Items of a page, sent as `limit`' }),
  max: z.int().min(1).max(1_000).optional().meta({ description: 'Pages at most; 10 without it' }),
})
export type Pages = z.output<typeof Pages>

/** Upstreams that answer plain requests; the others are sockets. */
export const pollUpstreams = ['cloud', 'mst', 'clob', 'gamma', 'data'] as const
export type PollUpstream = (typeof pollUpstreams)[number]

const path = z
  .string()
  .max(2_048)
  .regex(/^\/(?![/\\])[^\s\\#]*$/, { error: 'a path that starts with one slash, such as /markets?closed=false' })
  .refine((text) => !/\/(\.|%2e){1,2}(\/|\?|$)/i.test(text), { error: 'a path without . and .. segments' })

const pollMembers = {
  upstream: z.enum(pollUpstreams, { error: `one of ${pollUpstreams.join(', ')}` }).optional(),
  path: path.optional(),
  url: z.string().max(2_048).optional(),
  pages: Pages.optional(),
  sink: Sink.default({ kind: 'documents' }),
}

const wantsOneSource = (
  task: { upstream?: unknown; path?: unknown; url?: unknown },
  context: z.RefinementCtx,
): void => {
  const miss = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message })
  if (task.url !== undefined) {
    if (task.upstream !== undefined) miss('upstream', 'either url, or upstream with path')
    else if (task.path !== undefined) miss('path', 'either url, or upstream with path')
  } else if (task.upstream === undefined) miss('upstream', `one of ${pollUpstreams.join(', ')}, or url instead`)
  else if (task.path === undefined) miss('path', 'a path of the upstream, such as /markets?closed=false')
}

export const SqlTask = z
  .strictObject({ kind: z.literal('sql'), routine: routineName, config: z.json().optional() })
  .meta({ description: 'Calls a function or procedure as (job_id integer, config jsonb)' })

const PollTaskInput = z.strictObject({ kind: z.literal('poll'), ...pollMembers }).superRefine(wantsOneSource)

export const Task = z.discriminatedUnion('kind', [SqlTask, PollTaskInput], { error: 'one of the kinds sql, poll' })
export type Task = z.output<typeof Task>

/** The stored form: the config of a job whose routine is `tidegate.poll`; made in SQL it may leave `kind` out. */
export const PollTask = z
  .strictObject({ kind: z.literal('poll').default('poll'), ...pollMembers })
  .superRefine(wantsOneSource)
export type PollTask = z.output<typeof PollTask>

/** The routine whose jobs are polls. */
export const pollRoutine = { schema: 'tidegate', name: 'poll' } as const
