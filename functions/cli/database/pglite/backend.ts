import { randomInt } from 'node:crypto'
import { finished } from 'node:stream/promises'
import { setImmediate as nextRound } from 'node:timers/promises'
import type { DatabaseBackend, DatabaseSession, Loan } from '../backend.ts'
import { embeddedName } from '../names.ts'
import { fatalError, SqlError } from '../sql-error.ts'
import type { Startup } from '../wire/startup.ts'
import type { EngineOptions } from './engine-messages.ts'
import { parseDurationMs } from './observe.ts'
import { parseOptions } from './options.ts'
import { type Limits, PgliteSession } from './session.ts'
import { Switchboard } from './switchboard.ts'

/** Parameters of a start-up that need no look by the engine. */
const always = new Map([['client_encoding', /^['"]?(utf-?8|unicode)['"]?$/i]])

/**
 * The embedded engine as a database.
 *
 * @throws {DatabaseFolderError} {@link DatabaseFolderLockedError} {@link EngineStartError}
 */
export async function openPglite(options: EngineOptions, log: (line: string) => void): Promise<DatabaseBackend> {
  const board = new Switchboard(options, log)
  const { engine } = await board.engine()
  const limits: Limits = {
    statementMs: options.queryTimeoutMs,
    idleInTransactionMs: options.idleInTransactionTimeoutMs,
  }
  const sessions = new Map<number, PgliteSession>()
  let lastProcessId = engine.pid

  const add = (settings: ReadonlyMap<string, string>): PgliteSession => {
    lastProcessId = (lastProcessId % 0x7fffffff) + 1
    const identity = { processId: lastProcessId, secretKey: randomInt(1, 0x7fffffff) }
    const session = new PgliteSession(board, identity, limitsOf(settings, limits), settings)
    sessions.set(identity.processId, session)
    session.on('error', () => undefined) // told to the client, or nobody is there
    session.once('close', () => sessions.delete(identity.processId))
    return session
  }

  return {
    async open(startup: Startup): Promise<DatabaseSession> {
      requireDatabase(startup)
      const settings = settingsOf(startup)
      const reported = await tryOut(board, settings)
      const session = add(settings)
      const parameters = new Map([...engine.parameters, ...reported])
      parameters.set('application_name', settings.get('application_name') ?? '')
      return { stream: session, parameters, key: session }
    },

    async lend(startup: Startup): Promise<Loan> {
      requireDatabase(startup)
      const settings = settingsOf(startup)
      settings.delete('application_name') // nobody can see it: the request has the engine for itself
      await tryOut(board, settings)
      const session = add(settings)
      return {
        send: (messages) => session.end(messages),
        answers: session,
        cancel: () => session.cancel(),
        giveBack: (status) => {
          // With the end of its input the session ends by itself, and rolls back.
          if (status === undefined) session.destroy()
          else session.resume()
        },
      }
    },

    cancel({ processId, secretKey }) {
      const session = sessions.get(processId)
      if (session?.secretKey === secretKey) session.cancel()
    },

    enginePid: () => board.enginePid,

    async close() {
      // Goodbyes that have been sent are read first: their sessions end without an error.
      for (let round = 0; round < 2; round++) await nextRound()
      const ends = [...sessions.values()].map(async (session) => {
        session.terminate(fatalError('57P01', 'terminating connection due to administrator command'))
        if (!session.closed) await finished(session).catch(() => undefined)
      })
      await Promise.race([Promise.all(ends), new Promise((resolve) => setTimeout(resolve, 1_000).unref())])
      for (const session of sessions.values()) session.destroy()
      await board.close()
    },
  }
}

function requireDatabase({ database }: Startup): void {
  if (database !== embeddedName)
    throw fatalError('3D000', `database "${database}" does not exist`, {
      hint: `The only database here is "${embeddedName}".`,
    })
}

/** Run-time parameters that a client asks for, those that make no difference left out. */
function settingsOf({ options, settings }: Startup): Map<string, string> {
  const all = new Map([...settings].map(([name, value]) => [name.toLowerCase(), value]))
  for (const [name, value] of parseOptions(options)) all.set(name, value)
  for (const [name, form] of always) if (form.test(all.get(name) ?? '')) all.delete(name)
  return all
}

const limitsOf = (settings: ReadonlyMap<string, string>, { statementMs, idleInTransactionMs }: Limits): Limits => ({
  statementMs: parseDurationMs(settings.get('statement_timeout') ?? '') ?? statementMs,
  idleInTransactionMs:
    parseDurationMs(settings.get('idle_in_transaction_session_timeout') ?? '') ?? idleInTransactionMs,
})

/**
 * Has the engine look at parameters of a start-up. Not when there are none of note, since that takes a turn of its own.
 *
 * @returns the parameters it reports of them
 * @throws {SqlError} it does not take one
 */
async function tryOut(board: Switchboard, settings: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
  const asked = new Map([...settings].filter(([name]) => name !== 'application_name'))
  if (asked.size === 0) return new Map()
  const { error, parameters } = await board.tryOut(asked).catch((cause: unknown) => {
    throw cause instanceof SqlError ? cause : fatalError('57P03', 'the database cannot be opened')
  })
  if (error) throw new SqlError({ ...error, severity: 'FATAL' })
  return parameters
}
