import { fatalError, type SqlError } from '../sql-error.ts'
import { type Frame, headerBytes, queryFrame, readCString, syncFrame } from '../wire/frames.ts'
import { EngineChannel, EngineLostError, type Exchange } from './engine-channel.ts'
import type { EngineOptions } from './engine-messages.ts'
import { EngineProcess } from './engine-process.ts'
import {
  captureSettings,
  dropStatements,
  HandoverError,
  hideStatements,
  inspect,
  quoteName,
  resetSettings,
  restoreStatements,
  run,
  setStatement,
  showStatements,
  wipeStatements,
} from './handover.ts'
import type { SessionMemory } from './session-memory.ts'
import { StatementNames } from './statement-names.ts'

/** A client in line for the engine. */
export type Client = {
  readonly memory: SessionMemory
  readonly processId: number
  /** It is this client's turn, until it calls `release`. */
  readonly granted: (channel: EngineChannel) => void
  /** Its turn cannot come: the engine does not open. */
  readonly refused: (error: SqlError) => void
  /** The engine ended during its turn. */
  readonly engineLost: (error: SqlError) => void
  /** The engine ended, and with it what the client had left there. */
  readonly stateLost: (error: SqlError) => void
  readonly notify: (notification: Frame) => void
}

type Turn =
  | { readonly client: Client }
  /** Work of the switchboard itself, between turns. */
  | { readonly job: (channel: EngineChannel) => Promise<void>; readonly failed?: (error: unknown) => void }

/** After a failed start the next is not tried at once. */
const restartWaitMs = 1_000
/** A turn that an engine died in, before its client had said anything, is tried again this often. */
const mostAttempts = 3
/**
 * Its first statements compile the engine and read the catalog. Without this, a timeout shorter than that would end each
 * new engine before it has done anything.
 */
const warmUpMs = 1_500
/** How often, while there is work, the engine's log is looked at; single-user engines write no checkpoints by themselves. */
const checkpointEveryMs = 10_000
const checkpointBytes = 48 << 20

const died = fatalError('57P01', 'terminating connection: the database engine ended and was started again')
const stopping = fatalError('57P01', 'terminating connection due to administrator command')

/**
 * Hands the one engine out to clients: first come, first served, from a client's first message until it is idle outside
 * a transaction. Between turns it takes what the last client set out of the engine, and puts what the next one has set in.
 * It starts the engine again when that has died, or when a query was ended with it.
 */
export class Switchboard {
  readonly names = new StatementNames()
  readonly #options: EngineOptions
  readonly #log: (line: string) => void
  readonly #clients = new Set<Client>()
  readonly #turns: Turn[] = []
  #channel: EngineChannel | undefined
  #starting: Promise<EngineChannel> | undefined
  #failure: { readonly error: unknown; readonly atMs: number } | undefined
  /** Whose turn it is. */
  #holder: Client | undefined
  /** Whose settings are in the engine. */
  #current: Client | undefined
  #preparing = false
  #closing = false
  /** Why the engine is being ended on purpose. */
  #reason: SqlError | undefined
  #openedAtMs = 0
  #checkpointLookAtMs = Date.now() + checkpointEveryMs

  /** @param log takes a line about an engine that died by itself */
  constructor(options: EngineOptions, log: (line: string) => void) {
    this.#options = options
    this.#log = log
  }

  /**
   * The engine, opened when it is not.
   *
   * @throws {AppError} why it cannot be opened
   */
  engine(): Promise<EngineChannel> {
    if (this.#closing) return Promise.reject(new EngineLostError('the database endpoint is closing'))
    if (this.#channel) return Promise.resolve(this.#channel)
    if (this.#failure && Date.now() - this.#failure.atMs < restartWaitMs) return Promise.reject(this.#failure.error)
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined
    })
    return this.#starting
  }

  /** The engine is being opened, or has just been: who waits for it is not late by its own fault. */
  get isStarting(): boolean {
    return this.#channel === undefined || this.warmUpLeftMs > 0
  }

  /** How much slower than usual an engine that was just opened may be, in all. */
  get warmUpLeftMs(): number {
    return Math.max(0, this.#openedAtMs + warmUpMs - Date.now())
  }

  get enginePid(): number | undefined {
    return this.#channel?.engine.pid
  }

  /** Joins the line. */
  acquire(client: Client): void {
    this.#clients.add(client)
    this.#turns.push({ client })
    this.#next()
  }

  /** Leaves the line. */
  withdraw(client: Client): void {
    const at = this.#turns.findIndex((turn) => 'client' in turn && turn.client === client)
    if (at >= 0) this.#turns.splice(at, 1)
    if (this.#holder === client) this.release(client)
  }

  /** The turn ends; the client is idle, outside a transaction. */
  release(client: Client): void {
    if (this.#holder !== client) return
    this.#channel?.detach()
    this.#holder = undefined
    const { memory } = client
    if (memory.listenSteps.length > 0) this.#turns.unshift({ job: (channel) => this.#settleChannels(channel, client) })
    this.#planCheckpoint()
    this.#next()
  }

  /** The client is gone, its turn over: what it left in the engine goes too. */
  retire(client: Client): void {
    if (!this.#clients.delete(client)) return
    if (this.#holder === client) {
      this.#channel?.detach()
      this.#holder = undefined
      this.#planCheckpoint()
    }
    if (this.#channel) this.#sweep(this.#channel, client)
    this.#next()
  }

  #sweep(channel: EngineChannel, client: Client): void {
    const { memory } = client
    const inEngine = [...memory.statements.keys()].some((name) => this.names.has(name))
    const isBusy = this.#holder !== undefined || this.#preparing
    if (this.#current === client && !isBusy && !inEngine && !memory.preparedTouched && !this.#someoneStays()) {
      // The common case, every request over HTTP: nobody has anything to keep, and the answer need not be awaited.
      this.#current = undefined
      run(channel, wipeStatements).catch((error: unknown) => this.#distrust(error))
    } else if (this.#current === client || memory.staysInEngine || inEngine) {
      this.#turns.unshift({ job: (open) => this.#clear(open, client) })
    }
  }

  /**
   * Sets parameters as a client wants them from its start on, looks what the engine says, and sets them back.
   *
   * @throws {AppError | EngineLostError}
   */
  tryOut(settings: ReadonlyMap<string, string>): Promise<Exchange> {
    return new Promise((resolve, reject) => {
      const job = async (channel: EngineChannel) => {
        if (this.#current) await this.#takeOut(channel, this.#current)
        const outcome = await channel.exchange(queryFrame(setStatement(settings)))
        await run(channel, resetSettings)
        resolve(outcome)
      }
      this.#turns.push({ job, failed: reject })
      this.#next()
    })
  }

  /** Ends the engine in the middle of the client's query, which then fails with `error`. */
  abort(client: Client, error: SqlError): void {
    if (this.#holder !== client || !this.#channel || this.#reason) return
    this.#reason = error
    void this.#channel.engine.kill()
  }

  /**
   * The engine for a client that holds the turn and whose engine was ended, with its settings put in.
   *
   * @throws {Error} it does not open
   */
  async resume(client: Client): Promise<EngineChannel> {
    const channel = await this.engine()
    await this.#putIn(channel, client)
    this.#current = client
    return channel
  }

  /** Ends the engine properly; no turn comes any more. Clients are to be ended before. */
  async close(): Promise<void> {
    this.#closing = true
    for (const turn of this.#turns.splice(0)) refuse(turn, stopping)
    const channel = this.#channel ?? (await this.#starting?.catch(() => undefined))
    this.#channel = undefined
    await channel?.engine.close()
  }

  #next(): void {
    if (this.#holder || this.#preparing || this.#closing) return
    const turn = this.#turns.shift()
    if (!turn) return
    const channel = this.#channel
    if (channel && 'client' in turn && this.#isReadyFor(turn.client)) {
      this.#grant(channel, turn.client)
      return
    }
    this.#preparing = true
    void this.#prepare(turn).then((go) => {
      this.#preparing = false
      if (go) go()
      else this.#next()
    })
  }

  #isReadyFor(client: Client): boolean {
    return this.#current === client || (this.#current === undefined && client.memory.isBlank)
  }

  #grant(channel: EngineChannel, client: Client): void {
    this.#current = client
    this.#holder = client
    client.granted(channel)
  }

  async #prepare(turn: Turn): Promise<(() => void) | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        const channel = await this.engine()
        if ('job' in turn) {
          await turn.job(channel)
          return undefined
        }
        const { client } = turn
        if (!this.#isReadyFor(client)) {
          if (this.#current) await this.#takeOut(channel, this.#current)
          await this.#putIn(channel, client)
        }
        if (this.#channel !== channel) throw new EngineLostError('the database engine has ended')
        if (!this.#clients.has(client)) return undefined // left while this was going on
        return () => this.#grant(channel, client)
      } catch (error) {
        if (error instanceof HandoverError) await this.#distrust(error)
        if (this.#closing) {
          refuse(turn, stopping)
          return undefined
        }
        if ((error instanceof EngineLostError || error instanceof HandoverError) && attempt < mostAttempts) continue
        refuse(turn, unavailable(error))
        return undefined
      }
    }
  }

  /** Takes what a live client has set out of the engine. */
  async #takeOut(channel: EngineChannel, client: Client): Promise<void> {
    const { memory } = client
    if (!this.#clients.has(client)) return this.#clear(channel, client)
    if (memory.settingsTouched) await captureSettings(channel, memory)
    const { results } = await run(channel, resetSettings, 'select pg_catalog.pg_my_temp_schema()')
    const temporarySchema = results.at(-1)?.[0]?.[0]
    // A routine can make temporary tables without a statement that shows it; the schema shows that one has been made.
    const touched = memory.objectsTouched || memory.temporaryTouched || memory.preparedTouched
    const has = memory.relations.length > 0 || memory.prepared.length > 0
    if (touched || has || temporarySchema !== '0') {
      const left = await inspect(channel)
      const others = new Set(
        this.#others(client).flatMap(({ memory: { relations } }) => relations.map(({ oid }) => oid)),
      )
      const held = new Set(this.#others(client).flatMap(({ memory: { cursors } }) => cursors))
      memory.relations = left.relations.filter(({ oid }) => !others.has(oid))
      memory.cursors = left.cursors.filter((name) => !held.has(name))
      memory.prepared = [...left.prepared]
      const statements = [
        ...hideStatements(memory.relations),
        ...memory.prepared.map(({ name }) => `deallocate ${quoteName(name)}`),
      ]
      if (statements.length > 0) await run(channel, ...statements)
      for (const { name } of memory.prepared) this.names.closed(name)
      memory.objectsTouched = false
      memory.temporaryTouched = false
      memory.preparedTouched = false
    }
    this.#current = undefined
  }

  async #putIn(channel: EngineChannel, { memory }: Client): Promise<void> {
    if (memory.relations.length > 0) await run(channel, ...showStatements(memory.relations))
    await this.#close(
      channel,
      memory.prepared.map(({ name }) => name),
    )
    const statements = restoreStatements(memory)
    if (statements.length === 0) return
    try {
      await run(channel, ...statements)
    } catch (error) {
      if (!(error instanceof HandoverError)) throw error
      // One of them cannot be set any more, say a role that was dropped: the rest still is.
      for (const statement of statements)
        await run(channel, statement).catch((fault: unknown) => {
          if (!(fault instanceof HandoverError)) throw fault
        })
    }
  }

  /** Removes what a client that is gone has left. */
  async #clear(channel: EngineChannel, client: Client): Promise<void> {
    const { memory } = client
    const own = [...memory.statements].filter(([name]) => this.names.has(name))
    const shared = new Set(this.#others(client).flatMap((other) => [...other.memory.statements.keys()]))
    await this.#close(
      channel,
      own.flatMap(([name]) => (shared.has(name) ? [] : name)),
    )
    const statements: string[] = []
    if (this.#current === client) {
      await run(channel, resetSettings)
      const left = await inspect(channel)
      const others = new Set(
        this.#others(client).flatMap(({ memory: { relations } }) => relations.map(({ oid }) => oid)),
      )
      const held = new Set(this.#others(client).flatMap(({ memory: { cursors } }) => cursors))
      statements.push(
        ...dropStatements(
          left.relations.filter(({ oid }) => !others.has(oid)),
          false,
        ),
        ...left.cursors.filter((name) => !held.has(name)).map((name) => `close ${quoteName(name)}`),
        ...left.prepared.map(({ name }) => `deallocate ${quoteName(name)}`),
      )
      for (const { name } of left.prepared) this.names.closed(name)
      this.#current = undefined
    } else {
      statements.push(
        ...dropStatements(memory.relations, true),
        ...memory.cursors.map((name) => `close ${quoteName(name)}`),
      )
    }
    if (statements.length > 0) await run(channel, ...statements)
    memory.relations = []
    memory.cursors = []
    if (memory.channels.size > 0 || memory.listenSteps.length > 0) {
      memory.channels.clear()
      memory.listenSteps = []
      await this.#listenForAll(channel)
    }
  }

  /** Closes statements of the extended protocol. */
  async #close(channel: EngineChannel, names: readonly string[]): Promise<void> {
    const closes = names.flatMap((name) => this.names.aligning(name, undefined))
    if (closes.length === 0) return
    await channel.exchange(Buffer.concat([...closes, syncFrame]))
    this.names.aligned(closes)
  }

  /** Brings a client's LISTENs and UNLISTENs to what the engine says of them. */
  async #settleChannels(channel: EngineChannel, { memory }: Client): Promise<void> {
    for (const { listen, channel: name } of memory.listenSteps.splice(0)) {
      if (name === undefined) memory.channels.clear()
      else if (listen) memory.channels.add(name)
      else memory.channels.delete(name)
    }
    const { results } = await run(channel, 'select pg_catalog.pg_listening_channels()')
    const open = new Set(results[0]?.map(([name]) => name))
    // A LISTEN that was rolled back is not there.
    for (const name of memory.channels) if (!open.has(name)) memory.channels.delete(name)
    await this.#listenForAll(channel)
  }

  /** The engine listens to what some client listens to. */
  async #listenForAll(channel: EngineChannel): Promise<void> {
    const wanted = new Set([...this.#clients].flatMap(({ memory }) => [...memory.channels]))
    await run(channel, 'unlisten *', ...[...wanted].map((name) => `listen ${quoteName(name)}`))
  }

  /** A notification goes to those who listen, as coming from the client at work. */
  #notify(notification: Frame): void {
    const name = readCString(notification, headerBytes + 4).text
    const copy = Buffer.from(notification)
    if (this.#current) copy.writeInt32BE(this.#current.processId, headerBytes)
    for (const client of this.#clients)
      if (client.memory.channels.has(name) || this.#listensNow(client, name)) client.notify(copy)
  }

  /** LISTEN and NOTIFY in one turn: the channels are settled after it. */
  #listensNow(client: Client, name: string): boolean {
    return (
      client === this.#holder && client.memory.listenSteps.some(({ listen, channel }) => listen && channel === name)
    )
  }

  #others(client: Client): Client[] {
    return [...this.#clients].filter((other) => other !== client)
  }

  #someoneStays(): boolean {
    for (const { memory } of this.#clients) if (memory.staysInEngine) return true
    return false
  }

  #planCheckpoint(): void {
    const nowMs = Date.now()
    if (nowMs < this.#checkpointLookAtMs) return
    this.#checkpointLookAtMs = nowMs + checkpointEveryMs
    this.#turns.push({
      job: async (channel) => {
        if (this.#current) await this.#takeOut(channel, this.#current)
        const { results } = await run(
          channel,
          'select pg_catalog.pg_current_wal_lsn() - redo_lsn from pg_catalog.pg_control_checkpoint()',
        )
        if (Number(results[0]?.[0]?.[0]) > checkpointBytes) await run(channel, 'checkpoint')
      },
    })
  }

  async #start(): Promise<EngineChannel> {
    try {
      const engine = await EngineProcess.start(this.#options)
      const channel = new EngineChannel(engine, (notification) => this.#notify(notification))
      // The first statement of an engine repeats all parameters; that is nothing for a client.
      await run(channel, 'select 1')
      void engine.exited.then(({ status, diagnostics }) => this.#ended(channel, status, diagnostics))
      this.#channel = channel
      this.#openedAtMs = Date.now()
      this.#failure = undefined
      if ([...this.#clients].some(({ memory }) => memory.channels.size > 0)) await this.#listenForAll(channel)
      return channel
    } catch (error) {
      this.#failure = { error, atMs: Date.now() }
      throw error
    }
  }

  #ended(channel: EngineChannel, status: string, diagnostics: string): void {
    if (this.#channel !== channel) return
    const reason = this.#reason
    this.#reason = undefined
    this.#channel = undefined
    this.#current = undefined
    this.names.clear()
    if (!reason)
      this.#log(`the database engine ended (${status}) and is started again${diagnostics && `: ${diagnostics}`}`)
    const holder = this.#holder
    for (const client of [...this.#clients]) {
      if (client === holder || !client.memory.diesWithEngine) continue
      client.stateLost(died)
    }
    // Opened again at once, not when the next client comes.
    this.engine().catch(() => undefined)
    holder?.engineLost(reason ?? died)
  }

  /** What keeps clients apart has failed: only a new engine is sure to be clean. */
  async #distrust(error: unknown): Promise<void> {
    if (!(error instanceof HandoverError)) return // the engine has ended, which is told elsewhere
    this.#log(`the database engine is started again: ${error.message}`)
    this.#reason = died
    await this.#channel?.engine.kill()
  }
}

function refuse(turn: Turn, error: SqlError): void {
  if ('client' in turn) turn.client.refused(error)
  else turn.failed?.(error)
}

const unavailable = (error: unknown): SqlError =>
  fatalError('57P03', `the database cannot be opened: ${error instanceof Error ? error.message : String(error)}`)
