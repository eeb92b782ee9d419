import { pollUrlFault } from '../../shared/jobs/allowed-url.ts'
import { type Document, defaultMaxPages, firstUrl, readPage } from '../../shared/jobs/poll.ts'
import { PollTask } from '../../shared/jobs/task.ts'
import { toTimestamp } from '../../shared/kernel/clock.ts'
import { AppError } from '../../shared/kernel/errors.ts'
import { remote, type Send, withTimeout } from '../../shared/kernel/http/send.ts'
import type { Sql } from '../../shared/kernel/sql/client.ts'
import { latestEtag, storeDocuments } from '../../shared/store/documents.ts'
import type { JobRow } from '../../shared/store/jobs.ts'
import { configOf, type GatewayBindings, type UpstreamName } from '../gateway/env.ts'
import { signedSend, upstreamOf } from '../gateway/upstream.ts'

const timeoutMs = 25_000
const maxRedirects = 5
/** A page is put into one statement, and the database's HTTP endpoint takes 10 MiB. */
const maxPageBytes = 8 * 1024 * 1024
const maxStatementCharacters = 4 * 1024 * 1024

export type PollOutput = {
  readonly pages: number
  readonly bytes: number
  /** Of the last answer; 304: nothing has changed. */
  readonly status: number
  readonly documents: number
  readonly rows_changed: number
  /** Items that were left out since nothing stands at the key's path. */
  readonly without_key?: number
}

export class PollConfigError extends AppError {
  override readonly name = 'PollConfigError'
  readonly code = 'jobs.poll_config'
  readonly status = 400
}

export class PollRefusedError extends AppError {
  override readonly name = 'PollRefusedError'
  readonly code = 'jobs.poll_refused'
  readonly status = 400
}

export class PollAnswerError extends AppError {
  override readonly name = 'PollAnswerError'
  readonly code = 'jobs.poll_answer'
  readonly status = 502
  override readonly fault = 'upstream'
}

/** Where a poll goes: how to send there, which URLs belong to it, and how a page is called in the store. */
type Source = {
  readonly label: string
  readonly firstUrl: string
  /** The path or URL of the task, under which its documents stand. */
  readonly path: string
  readonly send: Send
  readonly followsRedirects: boolean
  /** @throws {PollRefusedError} the URL is not of this source */
  readonly check: (url: string) => void
  readonly nameOf: (url: string) => string
}

/**
 * Fetches the pages of a poll and stores what has changed.
 *
 * @param outside sends to URLs of the allow list
 */
export async function runPoll(
  env: GatewayBindings,
  sql: Sql,
  job: JobRow,
  run: { readonly runId: string; readonly clock: () => number; readonly outside?: Send; readonly signal: AbortSignal },
): Promise<PollOutput> {
  const task = readTask(job)
  const source = sourceOf(env, task, run.outside ?? remote())
  const keyPath = task.sink.kind === 'documents' ? task.sink.key : undefined
  const etag = task.pages ? undefined : await latestEtag(sql, job.job_id, source.path)
  const maxPages = task.pages ? (task.pages.max ?? defaultMaxPages) : 1
  const output = { pages: 0, bytes: 0, status: 0, documents: 0, rows_changed: 0, without_key: 0 }
  let url: string | undefined = firstUrl(source.firstUrl, task.pages)
  while (url !== undefined && output.pages < maxPages && !run.signal.aborted) {
    const response = await get(source, url, etag)
    output.status = response.status
    if (response.status === 304) break
    const { text, bytes } = await readText(response, run.signal)
    const page = await pageOf(source, { url, text, link: response.headers.get('link') }, keyPath, task.pages)
    for (const documents of batches(page.documents)) {
      output.rows_changed += await storeDocuments(
        sql,
        {
          jobId: job.job_id,
          runId: run.runId,
          upstream: source.label,
          path: source.path,
          status: response.status,
          etag: response.headers.get('etag'),
          fetchedAt: toTimestamp(run.clock()),
        },
        documents,
      )
    }
    output.pages += 1
    output.bytes += bytes
    output.documents += page.documents.length
    output.without_key += page.withoutKey
    url = page.next
    if (url !== undefined) source.check(url)
  }
  const { without_key, ...counts } = output
  return { ...counts, ...(without_key > 0 && { without_key }) }
}

function readTask(job: JobRow): PollTask {
  const parsed = PollTask.safeParse(job.config === null ? {} : JSON.parse(job.config))
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'config'}: ${message}`)
    throw new PollConfigError(`the config of the job is no poll: ${faults.join('; ')}`)
  }
  if (parsed.data.sink.kind !== 'documents') {
    throw new PollConfigError(`sink.kind: ${parsed.data.sink.kind} is not supported yet, documents is`)
  }
  return parsed.data
}

function sourceOf(env: GatewayBindings, task: PollTask, outside: Send): Source {
  if (task.url !== undefined) {
    const { url } = task
    const check = (target: string) => {
      const fault = pollUrlFault(target, configOf(env).jobsAllowedHosts)
      if (fault !== undefined) throw new PollRefusedError(`${withoutQuery(target)} is not polled: expected ${fault}`)
    }
    check(url)
    const send = withTimeout(outside, new URL(url).hostname, timeoutMs)
    const label = new URL(url).hostname
    return { label, firstUrl: url, path: url, send, followsRedirects: true, check, nameOf: (target) => target }
  }
  const name = (task.upstream ?? '').toUpperCase() as UpstreamName
  const upstream = upstreamOf(env, name)
  const path = task.path ?? '/'
  const base = new URL(upstream.base)
  const check = (target: string) => {
    const { origin, pathname } = new URL(target)
    // `/../x` would leave the prefix of the upstream, and the credential must not go to another origin.
    if (origin !== base.origin || !pathname.startsWith(`${upstream.basePath}/`)) {
      throw new PollRefusedError(`${pathname} leads out of the upstream ${name}`)
    }
  }
  const first = upstream.base + path
  check(first)
  const nameOf = (target: string) => {
    const { pathname, search } = new URL(target)
    return pathname.slice(upstream.basePath.length) + search
  }
  const send = signedSend(env, upstream)
  return { label: name.toLowerCase(), firstUrl: first, path, send, followsRedirects: false, check, nameOf }
}

const withoutQuery = (url: string): string => url.replace(/[?#].*$/, '')

/** One answer: 2xx or 304. A redirect of an upstream is not followed (it would carry the credential elsewhere). */
async function get(source: Source, url: string, etag: string | undefined): Promise<Response> {
  let target = url
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const headers = new Headers({ accept: 'application/json', 'user-agent': 'tidegate-jobs' })
    if (etag !== undefined) headers.set('if-none-match', etag)
    const response = await source.send(new Request(target, { headers, redirect: 'manual' }))
    if (response.ok || response.status === 304) return response
    await response.body?.cancel()
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || location === null || !source.followsRedirects) {
      throw new PollAnswerError(`${source.label} answered ${response.status}`, { status: response.status })
    }
    if (!URL.canParse(location, target)) throw new PollAnswerError(`${source.label} redirects to no URL`)
    target = new URL(location, target).href
    source.check(target)
  }
  throw new PollAnswerError(`${source.label} redirects more than ${maxRedirects} times`)
}

async function readText(response: Response, signal: AbortSignal): Promise<{ text: string; bytes: number }> {
  if (!response.body) return { text: '', bytes: 0 }
  const reader = response.body.getReader()
  const stop = () => void reader.cancel().catch(() => undefined)
  signal.addEventListener('abort', stop)
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  let text = ''
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return { text: text + decoder.decode(), bytes }
      bytes += value.byteLength
      if (bytes > maxPageBytes) {
        stop()
        throw new PollAnswerError(`a page is larger than ${maxPageBytes} bytes; ask for smaller ones with pages.limit`)
      }
      text += decoder.decode(value, { stream: true })
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    if (cause instanceof TypeError) throw new PollAnswerError('the answer is not UTF-8 or broke off', {}, { cause })
    throw cause
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

async function pageOf(
  source: Source,
  answer: { url: string; text: string; link: string | null },
  keyPath: string | undefined,
  pages: PollTask['pages'],
) {
  try {
    return await readPage(answer, { documentKey: source.nameOf(answer.url), keyPath, pages })
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new PollAnswerError(`${source.label} answered no JSON`, {}, { cause })
    throw cause
  }
}

/** Documents in portions that fit into a statement. */
function batches(documents: readonly Document[]): Document[][] {
  const result: Document[][] = []
  let size = Number.POSITIVE_INFINITY
  for (const document of documents) {
    size += document.body.length + document.key.length + 100
    if (size > maxStatementCharacters) {
      result.push([])
      size = document.body.length + document.key.length + 100
    }
    result.at(-1)?.push(document)
  }
  return result
}
