import * as z from 'zod'
import { defineOperations } from '../kernel/contract/operation.ts'
import { publicUrlFault } from './allowed-url.ts'
import { parseInstant } from './instant.ts'
import { SqlTask, Task } from './task.ts'

const instant = z.string().refine((text) => parseInstant(text) !== undefined, {
  error: 'an RFC 3339 time with a zone, such as 2026-01-05T00:00:00Z',
})

const Every = z.strictObject({
  every: z
    .string()
    .max(200)
    .meta({ description: 'Postgres interval text, at least 1 s', examples: ['10 s'] }),
  fixed: z
    .boolean()
    .optional()
    .meta({ description: 'true: slots counted from `start`; else an interval after each end' }),
  start: instant.optional().meta({ description: 'First start, and origin of fixed slots' }),
})

export const ScheduleInput = z
  .union([z.string().max(200), Every], {
    error: 'a cron text of five fields, or {"every": interval, "fixed"?, "start"?}',
  })
  .meta({ id: 'JobSchedule' })
export type ScheduleInput = z.output<typeof ScheduleInput>

const timeZone = z.string().max(100)

const Alert = z.strictObject({
  url: z
    .string()
    .max(2_048)
    .superRefine((text, context) => {
      const expected = publicUrlFault(text)
      if (expected !== undefined) context.addIssue({ code: 'custom', message: expected })
    }),
  after_failures: z.int().min(1).max(1_000_000).default(1),
})

const members = {
  name: z
    .string()
    .refine((text) => Array.from(text).length >= 1 && Array.from(text).length <= 63 && !text.includes('\0'), {
      error: 'a text of 1 to 63 characters',
    }),
  schedule: ScheduleInput,
  time_zone: timeZone.nullable().optional().meta({ description: 'IANA zone of the schedule; UTC without it' }),
  task: Task,
  scheduled: z.boolean().optional().meta({ description: 'false: never started by itself' }),
  max_runtime: z.string().max(200).optional().meta({ description: 'Interval; 0 is the most there is, 14 minutes' }),
  max_retries: z.int().min(-1).max(2_147_483_647).optional().meta({ description: '-1: without end' }),
  retry_period: z.string().max(200).optional().meta({ description: 'Interval, 5 minutes without it' }),
  alert: Alert.nullable().optional(),
}

export const JobInput = z.strictObject(members).meta({ id: 'JobInput' })
export type JobInput = z.output<typeof JobInput>

export const JobPatch = z.strictObject(members).partial().meta({ id: 'JobPatch' })
export type JobPatch = z.output<typeof JobPatch>

const outcomes = ['running', 'succeeded', 'failed', 'crashed', 'timed_out'] as const
const Outcome = z.enum(outcomes, { error: `one of ${outcomes.join(', ')}` })

const Job = z
  .looseObject({
    id: z.int(),
    name: z.string(),
    schedule: ScheduleInput,
    time_zone: z.string().nullable(),
    task: z.union([SqlTask, z.looseObject({ kind: z.literal('poll') })]),
    scheduled: z.boolean(),
    max_runtime: z.string(),
    max_retries: z.int(),
    retry_period: z.string(),
    alert: Alert.nullable(),
    kind: z.enum(['sql', 'poll']),
    state: z.enum(['scheduled', 'running', 'paused']),
    next_start: z.string().nullable(),
    last_run: z
      .looseObject({
        run_id: z.string(),
        outcome: Outcome,
        started_at: z.string(),
        finished_at: z.string().nullable(),
      })
      .nullable(),
    totals: z.looseObject({ runs: z.int(), successes: z.int(), failures: z.int(), crashes: z.int() }),
    owner: z.string().nullable().meta({ description: 'Id of the key that made it; of a job made in SQL the role' }),
  })
  .meta({ id: 'Job' })
export type JobOutput = z.input<typeof Job>

const Run = z
  .looseObject({
    run_id: z.string(),
    job_id: z.int(),
    attempt: z.int(),
    outcome: Outcome,
    due_at: z.string(),
    started_at: z.string(),
    finished_at: z.string().nullable(),
    duration_ms: z.number().nullable(),
    error: z.looseObject({ code: z.string(), message: z.string(), hint: z.string().optional() }).optional(),
    output: z.unknown().optional(),
  })
  .meta({ id: 'JobRun' })
export type RunOutput = z.input<typeof Run>

const id = z
  .string()
  .regex(/^\d{1,18}$/, { error: 'the number of a job' })
  .transform(Number)
const jobId = z.object({ id })

const cursor = z
  .string()
  .regex(/^\d{1,18}$/, { error: 'the next_cursor of a page' })
  .optional()
const limit = z
  .string()
  .regex(/^([1-9]\d?|1\d\d|200)$/, { error: 'a number from 1 to 200' })
  .default('50')
  .transform(Number)

const listOf = <S extends z.ZodType>(item: S) =>
  z.looseObject({ data: z.array(item), next_cursor: z.string().nullable() })

export const operations = defineOperations({
  createJob: {
    method: 'POST',
    path: '/jobs',
    auth: 'key',
    kind: 'create',
    scope: 'jobs:write',
    summary: 'Register a job',
    body: JobInput,
    response: { 201: Job },
  },
  getJobs: {
    method: 'GET',
    path: '/jobs',
    auth: 'key',
    kind: 'read',
    scope: 'jobs:read',
    summary: 'List jobs',
    query: z.object({
      q: z.string().max(200).optional().meta({ description: 'Part of the name' }),
      state: z.enum(['scheduled', 'running', 'paused'], { error: 'one of scheduled, running, paused' }).optional(),
      kind: z.enum(['sql', 'poll'], { error: 'one of sql, poll' }).optional(),
      limit,
      cursor,
    }),
    response: { 200: listOf(Job) },
  },
  previewSchedule: {
    method: 'POST',
    path: '/jobs/preview',
    auth: 'key',
    kind: 'read',
    scope: 'jobs:read',
    summary: 'The next times of a schedule, without making a job',
    body: z.strictObject({
      schedule: ScheduleInput,
      time_zone: timeZone.nullable().optional(),
      from: instant.optional(),
      count: z.int().min(1).max(50).default(5),
    }),
    response: { 200: z.looseObject({ times: z.array(z.string()) }) },
  },
  getJob: {
    method: 'GET',
    path: '/jobs/{id}',
    auth: 'key',
    kind: 'read',
    scope: 'jobs:read',
    summary: 'Read a job',
    params: jobId,
    response: { 200: Job },
  },
  updateJob: {
    method: 'PATCH',
    path: '/jobs/{id}',
    auth: 'key',
    kind: 'set',
    scope: 'jobs:write',
    summary: 'Change members of a job',
    params: jobId,
    body: JobPatch,
    response: { 200: Job },
  },
  deleteJob: {
    method: 'DELETE',
    path: '/jobs/{id}',
    auth: 'key',
    kind: 'delete',
    scope: 'jobs:write',
    summary: 'Delete a job; its history stays',
    params: jobId,
    response: { 204: null },
  },
  runJob: {
    method: 'POST',
    path: '/jobs/{id}/run',
    auth: 'key',
    kind: 'create',
    scope: 'jobs:write',
    summary: 'Run a job now, whether it is scheduled or not',
    params: jobId,
    body: z.strictObject({ wait_seconds: z.number().min(0).max(25).default(0) }).prefault({}),
    response: { 200: Run, 202: Run },
  },
  pauseJob: {
    method: 'POST',
    path: '/jobs/{id}/pause',
    auth: 'key',
    kind: 'set',
    scope: 'jobs:write',
    summary: 'Switch automatic runs off',
    params: jobId,
    response: { 200: Job },
  },
  resumeJob: {
    method: 'POST',
    path: '/jobs/{id}/resume',
    auth: 'key',
    kind: 'set',
    scope: 'jobs:write',
    summary: 'Switch automatic runs on; slots missed meanwhile are left out',
    params: jobId,
    response: { 200: Job },
  },
  getRuns: {
    method: 'GET',
    path: '/jobs/{id}/runs',
    auth: 'key',
    kind: 'read',
    scope: 'jobs:read',
    summary: 'List the runs of a job, newest first',
    params: jobId,
    query: z.object({ outcome: Outcome.optional(), limit, cursor }),
    response: { 200: listOf(Run) },
  },
  getRun: {
    method: 'GET',
    path: '/runs/{run_id}',
    auth: 'key',
    kind: 'read',
    scope: 'jobs:read',
    summary: 'Read a run with its output',
    params: z.object({ run_id: z.string() }),
    response: { 200: Run },
  },
})
