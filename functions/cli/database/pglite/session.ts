// Longer than most: one state machine, whose states would have to be shared between files.
import { Duplex } from 'node:stream'
import { fatalError, type SqlError, sqlError } from '../sql-error.ts'
import { FrameError, FrameReader } from '../wire/frame-reader.ts'
import {
  answer,
  bindFrame,
  closeStatementFrame,
  copyFailFrame,
  describePortalFrame,
  errorFrame,
  executeFrame,
  type Frame,
  flushFrame,
  headerBytes,
  parseFrame,
  queryFrame,
  readCString,
  readError,
  readStatus,
  readTag,
  readyFrame,
  request,
  syncFrame,
  type TransactionStatus,
} from '../wire/frames.ts'
import { type EngineChannel, EngineLostError } from './engine-channel.ts'
import { captureSettings, HandoverError, readPrepared, resetIdentity, run, setStatement } from './handover.ts'
import { announcedTimeoutMs, isTelling, observe, parseDurationMs, readBind, timedStatements } from './observe.ts'
import { SessionMemory } from './session-memory.ts'
import { statementNamed } from './statement-names.ts'
import type { Client, Switchboard } from './switchboard.ts'
import { isCopyMessage, type Owed, Unit } from './unit.ts'

/** In milliseconds; 0: no limit. */
export type Limits = { readonly statementMs: number; readonly idleInTransactionMs: number }

/** A message of a client has to fit into memory, and into the 2 GB of the engine. Copy data comes in many small ones. */
const mostMessageBytes = 128 << 20
/** Messages that wait for their turn, per client, before its socket is no longer read. */
const highInputBytes = 1 << 20
/** Answers that a slow client has not read before the engine is held up. Below it the engine is free for others at once. */
const highOutputBytes = 16 << 20
/** How long a client may hold the engine up by not reading. */
const stallMs = 30_000
/** How long a query of a client that is gone may go on. */
const graceMs = 3_000
/** What `setTimeout` takes. */
const longestTimerMs = 0x7fffffff

const inTransactionTooLong = fatalError('25P03', 'terminating connection due to idle-in-transaction timeout')
const statementTooLong = sqlError('57014', 'canceling statement due to statement timeout')
const temporaryLost = fatalError(
  '57P01',
  'terminating connection: its temporary tables were lost when a query was ended',
)
const canceledByUser = sqlError('57014', 'canceling statement due to user request')

/**
 * A client's session with the embedded engine: a stream of wire messages past the start-up. Writable side: what the
 * client sends; readable side: what it is answered. `end()` says goodbye, `destroy()` is a client that vanished; both
 * roll an open transaction back.
 */
export class PgliteSession extends Duplex implements Client {
  readonly memory: SessionMemory
  readonly processId: number
  readonly secretKey: number
  readonly #board: Switchboard
  readonly #reader = new FrameReader(mostMessageBytes)
  #pending: Frame[] = []
  #pendingBytes = 0
  /** Messages among those pending at which a client expects an answer. */
  #pendingFlushes = 0
  #continueInput: (() => void) | undefined

  /** Waits for the engine to read on. */
  #draining = false

  /** The engine, while it is this session's turn. */
  #channel: EngineChannel | undefined
  #waiting = false
  #unit: Unit | undefined
  #status: TransactionStatus = 'I'
  /** After an error of ours in the middle of an extended query: nothing counts until the client's Sync. */
  #skipping = false
  #limits: Limits
  #limitsDue = false
  /** Texts of prepared statements that {@link observe} wants to see whenever they run, by name. */
  readonly #watched = new Map<string, string>()
  /** Timeouts that portals are going to set. */
  readonly #portalPlans = new Map<string, number | undefined>()

  #inputEnded = false
  /** Nobody reads answers any more. */
  #deaf = false
  #over = false
  #timer: NodeJS.Timeout | undefined
  /** What the timer is for. */
  #timed: SqlError | undefined
  #stall: NodeJS.Timeout | undefined
  #grace: NodeJS.Timeout | undefined

  constructor(
    board: Switchboard,
    identity: { readonly processId: number; readonly secretKey: number },
    limits: Limits,
    startSettings?: ReadonlyMap<string, string>,
  ) {
    super({ readableHighWaterMark: highOutputBytes, writableHighWaterMark: highInputBytes })
    this.#board = board
    this.processId = identity.processId
    this.secretKey = identity.secretKey
    this.#limits = limits
    this.memory = new SessionMemory(startSettings)
  }

  // --- the client's side

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    try {
      for (const frame of this.#reader.read(chunk)) this.#accept(frame)
    } catch (error) {
      if (!(error instanceof FrameError)) throw error
      this.terminate(fatalError('08P01', error.message))
    }
    this.#advance()
    if (this.#pendingBytes < highInputBytes || this.#over) done()
    else this.#continueInput = done
  }

  override _final(done: () => void): void {
    this.#inputEnded = true
    this.#advance()
    // A client that was killed ends its side like one that only has no more to say. It may have what is under way for
    // a while; then the engine, which everybody shares, is taken from it.
    if (!this.#over) this.#grace = setTimeout(() => this.cancel(), graceMs)
    done()
  }

  override _read(): void {
    clearTimeout(this.#stall)
    this.#stall = undefined
    this.#channel?.resume()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#leave()
    done(error)
  }

  /** Ends the session with an error that the client is told. */
  terminate(error: SqlError): void {
    if (this.#over) return
    this.push(errorFrame({ ...error.fields, severity: 'FATAL' }))
    this.#hangUp()
  }

  /** Cancels what is running or waiting; does nothing when nothing is. */
  cancel(): void {
    this.#cancel(canceledByUser)
  }

  #accept(frame: Frame): void {
    const type = frame[0] as number
    if (this.#inputEnded || this.#over) return
    if (type === request.terminate) {
      this.#inputEnded = true
      return
    }
    if (type === request.password) return // one too many of a client that was sure to be asked
    if (this.#skipping) {
      if (type !== request.sync) return
      this.#skipping = false
      this.#output(readyFrame(this.#status))
      return
    }
    if (!knownRequests.has(type)) {
      this.terminate(fatalError('08P01', `invalid frontend message type ${type}`))
      return
    }
    this.#pending.push(frame)
    this.#pendingBytes += frame.byteLength
    if (flushing.has(type)) this.#pendingFlushes++
  }

  #take(): Frame {
    const frame = this.#pending.shift() as Frame
    this.#pendingBytes -= frame.byteLength
    if (flushing.has(frame[0] as number)) this.#pendingFlushes--
    return frame
  }

  /** Sends on what may be sent on, asks for the engine when there is something, ends when there is nothing more. */
  #advance(): void {
    if (this.#over) return
    let blocked = false
    const corked = this.#channel?.engine.socket
    corked?.cork()
    while (this.#pending.length > 0 && !blocked) {
      const type = this.#pending[0]?.[0] as number
      if (!this.#unit && isCopyMessage(type)) {
        this.#take()
        continue
      }
      if (!this.#channel) {
        if (this.#pendingFlushes > 0 || this.#pendingBytes >= highInputBytes) this.#ask()
        break
      }
      const verdict = this.#unit?.admit(type) ?? 'forward'
      if (verdict === 'wait') break
      const frame = this.#take()
      if (verdict === 'drop') continue
      if (verdict === 'refuse') {
        this.terminate(fatalError('08P01', 'a simple query cannot come before the Sync of an extended one'))
        break
      }
      blocked = !this.#forward(type, frame)
    }
    corked?.uncork()
    if (this.#over) return
    if (blocked) this.#awaitDrain()
    this.#watch()
    if (this.#pendingBytes < highInputBytes) {
      const next = this.#continueInput
      this.#continueInput = undefined
      next?.()
    }
    // Messages without a Sync count for nothing when the client leaves after them.
    const unfinished = !this.#channel && !this.#waiting && this.#pendingFlushes === 0
    if (this.#inputEnded && (this.#pending.length === 0 || unfinished)) this.#sayGoodbye()
  }

  #awaitDrain(): void {
    const socket = this.#channel?.engine.socket
    if (!socket || this.#draining) return
    this.#draining = true
    socket.once('drain', () => {
      this.#draining = false
      this.#advance()
    })
  }

  // --- the engine's turn

  #ask(): void {
    if (this.#waiting) return
    this.#waiting = true
    this.#watch()
    this.#board.acquire(this)
  }

  granted(channel: EngineChannel): void {
    if (!this.#waiting || this.#over) {
      this.#board.release(this)
      return
    }
    this.#waiting = false
    this.#stopTimer() // the time in line does not count for the statement
    this.#channel = channel
    channel.attach(this.#sink)
    this.#advance()
    if (!this.#unit && this.#status === 'I') this.#release() // cancelled in the meantime
  }

  refused(error: SqlError): void {
    this.#waiting = false
    this.terminate(error)
  }

  #release(): void {
    if (!this.#channel) return
    this.#channel = undefined
    this.#stopTimer()
    this.#board.release(this)
  }

  /** @returns false when the engine's socket is full */
  #forward(type: number, frame: Frame): boolean {
    const channel = this.#channel as EngineChannel
    if (!this.#unit && (type === request.query || type === request.functionCall))
      return this.#forwardSimple(channel, type, frame)
    this.#unit ??= new Unit(false)
    const unit = this.#unit
    if (unit.copying) unit.copying = type === request.copyData
    else if (type === request.sync) unit.closed = true
    else if (type === request.execute) {
      unit.executing++
      const timeoutMs = this.#portalPlans.get(portalOf(frame))
      unit.plan.push(timeoutMs)
      unit.timed ||= timeoutMs !== undefined || this.#limits.statementMs > 0
      // The engine keeps its answers until it has nothing to do; each statement's end is to be seen when it comes.
      if (unit.timed) return channel.write(Buffer.concat([frame, flushFrame]))
    } else if (aboutNames.has(type)) this.#alignName(channel, unit, type, frame)
    return channel.write(frame)
  }

  #forwardSimple(channel: EngineChannel, type: number, frame: Frame): boolean {
    const text = type === request.query ? frame.toString('utf8', headerBytes, frame.byteLength - 1) : ''
    const seen = observe(text, [], this.memory)
    // Before the unit begins, since this is an exchange of its own.
    if (seen.names && this.#status !== 'E') this.#alignAllNames(channel)
    this.memory.statements.delete('') // a Query destroys the unnamed statement
    const statements = timedStatements(text, this.#limits.statementMs > 0)
    const plan = (statements ?? [text]).map((statement) => announcedTimeoutMs(statement))
    this.#unit = new Unit(true, { plan, translated: statements !== undefined })
    this.#unit.note(seen)
    return channel.write(statements ? oneByOne(statements) : frame)
  }

  /** Makes the name that a message uses mean in the engine what it means to this client. */
  #alignName(channel: EngineChannel, unit: Unit, type: number, frame: Frame): void {
    const name = statementNamed(frame)
    const { names } = this.#board
    if (type === request.bind) this.#noteBind(channel, unit, name ?? '', frame)
    if (name === '') {
      // It lasts until the next one, so other clients, and the endpoint itself, may have destroyed it since the last unit.
      const mine = this.memory.statements.get('')
      if (type === request.parse) unit.hasUnnamed = true
      else if (!unit.hasUnnamed) this.#inject(channel, unit, mine ?? closeStatementFrame(''))
      unit.hasUnnamed ||= mine !== undefined
    } else if (name !== undefined) {
      for (const injected of names.aligning(name, this.memory.statements.get(name)))
        this.#inject(channel, unit, injected)
    }
    if (type === request.parse) {
      this.#noteParse(name ?? '', frame)
      unit.owed.push({ kind: 'parse', name, frame, injected: false })
    } else if (type === request.close) unit.owed.push({ kind: 'close', name, frame, injected: false })
  }

  /** Sends a message of our own in front of the client's; its answer is kept from the client. */
  #inject(channel: EngineChannel, unit: Unit, frame: Frame): void {
    const kind = frame[0] === request.parse ? 'parse' : 'close'
    unit.owed.push({ kind, name: statementNamed(frame), frame, injected: true })
    this.#board.names.aligned([frame]) // so that the next message of the unit does not ask for it again
    channel.write(frame)
  }

  #noteParse(name: string, frame: Frame): void {
    const { text } = readCString(frame, readCString(frame, headerBytes).next)
    if (isTelling(text)) this.#watched.set(name, text)
    else this.#watched.delete(name)
  }

  #noteBind(channel: EngineChannel, unit: Unit, name: string, frame: Frame): void {
    if (this.#watched.size === 0 && this.#portalPlans.size === 0) return
    const { portal, values } = readBind(frame)
    const text = this.#watched.get(name)
    this.#portalPlans.delete(portal)
    if (text === undefined) return
    const seen = observe(text, values, this.memory)
    unit.note(seen)
    if (seen.limits) this.#portalPlans.set(portal, announcedTimeoutMs(text, values))
    if (!seen.names || this.#status === 'E') return
    for (const injected of this.#board.names.aligningAll(this.memory.statements)) this.#inject(channel, unit, injected)
  }

  #alignAllNames(channel: EngineChannel): void {
    const { names } = this.#board
    const frames = names.aligningAll(this.memory.statements)
    if (frames.length === 0) return
    names.aligned(frames)
    channel.exchange(Buffer.concat([...frames, syncFrame])).then(({ error }) => {
      if (error) this.#settleNames(false) // a statement cannot be made any more, say its table is gone
    }, ignoreLoss)
  }

  // --- the engine's answers

  readonly #sink = {
    bulk: (bytes: Buffer) => this.#output(bytes),
    frame: (type: number, frame: Frame) => this.#answered(type, frame),
  }

  #answered(type: number, frame: Frame): void {
    const unit = this.#unit
    if (!unit) {
      this.#output(frame)
      return
    }
    switch (type) {
      case answer.readyForQuery:
        this.#unit = undefined
        this.#status = readStatus(frame)
        this.#output(frame)
        this.#unitDone(unit)
        return
      case answer.bindComplete:
      case answer.noData:
        if (unit.translated) return
        break
      case answer.parseComplete:
      case answer.closeComplete:
        if (unit.translated || !this.#settleOwed(unit, type === answer.parseComplete ? 'parse' : 'close')) return
        break
      case answer.commandComplete:
        this.#noteTag(unit, readTag(frame))
        this.#statementDone(unit)
        break
      case answer.emptyQuery:
      case answer.portalSuspended:
        this.#statementDone(unit)
        break
      case answer.copyIn:
        unit.copying = true
        if (!unit.simple) unit.closed = false // the Sync that came with the Execute is read as part of the copy, and ignored
        if (this.#over) this.#endUnit(unit)
        break
      case answer.error:
        unit.failed = true
        unit.copying = false
        unit.executing = 0
        if (unit.replacement) {
          this.#output(errorFrame(unit.replacement.fields))
          unit.replacement = undefined
          return
        }
        if (readError(frame).severity !== 'ERROR') {
          // The engine ends after this; the client has been told.
          this.#output(frame)
          this.#hangUp()
          return
        }
        break
    }
    this.#output(frame)
    if (type === answer.copyIn || type === answer.error) this.#advance()
    else this.#watch()
  }

  /** @returns whether the answer is the client's */
  #settleOwed(unit: Unit, kind: Owed['kind']): boolean {
    const owed = unit.owed[0]
    if (owed?.kind !== kind) return true
    unit.owed.shift()
    const { name, frame, injected } = owed
    if (injected) return false
    if (name === undefined) return true // a portal
    const { statements } = this.memory
    if (kind === 'close') {
      this.#board.names.closed(name)
      statements.delete(name)
    } else if (!this.#inputEnded) {
      const kept = Buffer.from(frame) // a copy, since the original keeps what was read with it
      this.#board.names.made(name, kept)
      statements.set(name, kept)
    } else this.#board.names.made(name, frame)
    return true
  }

  #statementDone(unit: Unit): void {
    if (unit.executing > 0) unit.executing--
    const timeoutMs = unit.plan.shift()
    if (timeoutMs !== undefined) this.#limits = { ...this.#limits, statementMs: timeoutMs }
    this.#stopTimer() // the next statement has the whole time again
  }

  #noteTag(unit: Unit, tag: string): void {
    const { memory } = this
    const verb = tag.split(' ', 1)[0] as string
    if (verb === 'SET' || verb === 'RESET' || verb === 'DISCARD' || verb === 'DO' || verb === 'CALL') {
      memory.settingsTouched = true
    }
    if (verb === 'DO' || verb === 'CALL' || verb === 'DECLARE') memory.objectsTouched = true
    if (verb === 'PREPARE' || verb === 'DEALLOCATE' || verb === 'DISCARD') {
      memory.preparedTouched = true
      unit.names = true
    }
    // These take what belongs to all: what the others lost is brought back, or they are told.
    if (verb === 'DISCARD' || tag === 'CLOSE CURSOR ALL') {
      memory.objectsTouched = true
      if (verb === 'DISCARD') memory.listenSteps.push({ listen: false, channel: undefined })
    }
  }

  #unitDone(unit: Unit): void {
    if (this.#over) {
      this.#depart()
      return
    }
    const channel = this.#channel as EngineChannel
    const isIdle = this.#status === 'I'
    if (isIdle) this.#portalPlans.clear()
    if (unit.owed.length > 0) this.#settleNames(false) // an error came before them
    if (unit.names) this.#settleNames(true)
    if (this.#status !== 'E') {
      if (unit.resetsIdentity) run(channel, resetIdentity).catch(ignoreLoss)
      if (unit.resets.size > 0) this.#applyStartSettings(channel, unit.resets)
      if (this.#limitsDue || unit.limits) this.#readLimits(channel)
      this.#limitsDue = (this.#limitsDue || unit.limits) && !isIdle // SET LOCAL ends with the transaction
    } else this.#limitsDue ||= unit.limits
    if (!isIdle) {
      this.#advance()
      return
    }
    if (this.#inputEnded && this.#pending.length === 0) {
      this.#sayGoodbye()
      return
    }
    // At once, since the engine may be ended before the next turn: then they are set in the new one.
    if (this.memory.settingsTouched) captureSettings(channel, this.memory).catch(ignoreLoss)
    this.#release() // also when more is waiting: it is the others' turn first
    this.#advance()
  }

  #readLimits(channel: EngineChannel): void {
    const query = `select pg_catalog.current_setting('statement_timeout'), pg_catalog.current_setting('idle_in_transaction_session_timeout')`
    channel.exchange(queryFrame(query)).then(({ results }) => {
      const [statement, idle] = results[0]?.[0] ?? []
      this.#limits = {
        statementMs: parseDurationMs(statement ?? '') ?? this.#limits.statementMs,
        idleInTransactionMs: parseDurationMs(idle ?? '') ?? this.#limits.idleInTransactionMs,
      }
      this.#stopTimer()
      this.#watch()
    }, ignoreLoss)
  }

  /** RESET goes back to what the start-up asked for. */
  #applyStartSettings(channel: EngineChannel, names: ReadonlySet<string>): void {
    const settings = [...this.memory.startSettings].filter(([name]) => names.has(name) || names.has('all'))
    if (settings.length > 0) run(channel, setStatement(new Map(settings))).catch(ignoreLoss)
  }

  /**
   * Asks the engine which prepared statements it has.
   *
   * @param removed the client itself has removed those that are gone
   */
  #settleNames(removed: boolean): void {
    if (!this.#channel || this.#status === 'E') return
    readPrepared(this.#channel).then(({ byProtocol, bySql }) => {
      const gone = this.#board.names.retain(new Set(byProtocol))
      if (removed) for (const name of gone) this.memory.statements.delete(name)
      this.memory.prepared = bySql
    }, ignoreLoss)
  }

  #output(bytes: Buffer): void {
    if (this.#deaf) return
    if (this.push(bytes) || !this.#channel) return
    this.#channel.pause()
    this.#stall ??= setTimeout(() => this.destroy(), stallMs)
  }

  notify(notification: Frame): void {
    this.#output(notification)
  }

  // --- limits

  /** Keeps the timer that fits: for a statement that runs or waits in line, or for a client that holds the engine idle. */
  #watch(): void {
    if (this.#over) return
    const unit = this.#unit
    // A copy counts as a statement as long as it takes, and as an idle client when statements may take for ever.
    const copying = unit?.copying === true && this.#limits.statementMs > 0
    const working = this.#waiting || unit?.computing === true || copying
    const idle = !working && this.#channel !== undefined && (unit !== undefined || this.#status !== 'I')
    const error = idle ? inTransactionTooLong : working ? statementTooLong : undefined
    if (error === this.#timed && error === statementTooLong) return // its time runs on
    this.#stopTimer()
    const limitMs = idle ? this.#limits.idleInTransactionMs : this.#limits.statementMs
    if (!error || limitMs === 0) return
    const allowanceMs = idle ? 0 : this.#board.warmUpLeftMs
    this.#timed = error
    const expire = () => {
      this.#stopTimer()
      if (this.#waiting && this.#board.isStarting) {
        this.#watch()
        return
      }
      if (error === inTransactionTooLong) this.terminate(error)
      else this.#cancel(error)
    }
    this.#timer = setTimeout(expire, Math.min(limitMs + allowanceMs, longestTimerMs))
  }

  #stopTimer(): void {
    clearTimeout(this.#timer)
    this.#timed = undefined
  }

  #cancel(error: SqlError): void {
    if (this.#waiting) {
      this.#waiting = false
      this.#board.withdraw(this)
      this.#failPending(error)
      return
    }
    const unit = this.#unit
    if (!unit || !this.#channel) return
    if (unit.copying) {
      // The engine waits for the client, so it can be told.
      unit.copying = false
      unit.failed = true
      unit.replacement = error
      this.#channel.write(copyFailFrame(error.message))
    } else if (unit.computing) this.#board.abort(this, error)
  }

  /** Answers the first query that waits with an error, as if it had run. */
  #failPending(error: SqlError): void {
    this.#output(errorFrame(error.fields))
    this.#skipping = true
    while (this.#pending.length > 0 && this.#skipping) {
      const type = this.#take()[0] as number
      if (type !== request.sync && type !== request.query && type !== request.functionCall) continue
      this.#skipping = false
      this.#output(readyFrame(this.#status))
    }
    this.#advance()
  }

  engineLost(error: SqlError): void {
    const unit = this.#unit
    this.#unit = undefined
    this.#channel = undefined
    this.#stopTimer()
    clearTimeout(this.#stall)
    this.#stall = undefined
    if (this.#over) {
      this.#depart()
      return
    }
    if (error.fields.severity === 'FATAL') {
      this.terminate(error)
      return
    }
    this.#output(errorFrame(error.fields))
    if (this.memory.diesWithEngine) {
      this.terminate(temporaryLost)
      return
    }
    if (this.#status === 'I') {
      this.#failed(unit)
      this.#board.release(this)
      this.#advance()
      return
    }
    // The transaction is gone with the engine; the client finds it failed, and ends it as it would anywhere.
    this.#status = 'E'
    this.#reenterFailedTransaction().then(
      () => {
        this.#failed(unit)
        this.#advance()
      },
      () =>
        this.terminate(fatalError('57P01', 'terminating connection: the database engine could not be started again')),
    )
  }

  async #reenterFailedTransaction(): Promise<void> {
    const channel = await this.#board.resume(this)
    await run(channel, 'begin')
    await channel.exchange(queryFrame('select 1/0'))
    if (this.#over) throw new EngineLostError('the client has left')
    this.#channel = channel
    channel.attach(this.#sink)
  }

  /** Ends a unit with an error of ours, already told: at once, or at the client's Sync. */
  #failed(unit: Unit | undefined): void {
    if (unit && !unit.closed) this.#skipping = true
    else this.#output(readyFrame(this.#status))
    while (this.#skipping && this.#pending.length > 0) {
      if (this.#take()[0] !== request.sync) continue
      this.#skipping = false
      this.#output(readyFrame(this.#status))
    }
  }

  stateLost(error: SqlError): void {
    this.terminate(error)
  }

  // --- the end

  /** The client has said all, and has been answered. */
  #sayGoodbye(): void {
    if (this.#waiting || this.#unit?.computing) return
    this.#hangUp()
  }

  #hangUp(): void {
    if (this.#over) return
    this.push(null)
    this.#leave()
  }

  /** Nobody listens any more: what runs is ended, what is open rolled back. */
  #leave(): void {
    if (this.#over) return
    this.#over = true
    this.#deaf = true
    this.#stopTimer()
    clearTimeout(this.#stall)
    this.#pending = []
    this.#pendingBytes = 0
    this.#pendingFlushes = 0
    this.#continueInput?.()
    this.#continueInput = undefined
    if (this.#waiting) {
      this.#waiting = false
      this.#board.withdraw(this)
    }
    if (!this.#channel || !this.#unit) {
      this.#depart()
      return
    }
    this.#channel.resume()
    this.#endUnit(this.#unit)
    clearTimeout(this.#grace)
    this.#grace = setTimeout(() => this.#board.abort(this, canceledByUser), graceMs)
  }

  /** Brings a unit to its ReadyForQuery without the client, as one that failed. */
  #endUnit(unit: Unit): void {
    if (unit.copying) this.#channel?.write(copyFailFrame('the client has left'))
    unit.copying = false
    if (unit.closed) return
    unit.closed = true
    this.#channel?.write(Buffer.concat([parseFrame('', 'the client has left before its Sync'), syncFrame]))
  }

  #depart(): void {
    clearTimeout(this.#grace)
    if (this.#channel && this.#status !== 'I') this.#channel.exchange(queryFrame('rollback')).catch(ignoreLoss)
    this.#channel = undefined
    this.#status = 'I'
    this.#board.retire(this)
  }
}

/** A script as messages that do the same, in one implicit transaction, but show the end of each statement. */
const oneByOne = (statements: readonly string[]): Buffer =>
  Buffer.concat([
    ...statements.flatMap((statement) => [
      parseFrame('', statement),
      bindFrame('', []),
      describePortalFrame(),
      executeFrame(),
      flushFrame,
    ]),
    syncFrame,
  ])

const portalOf = (execute: Frame): string => readCString(execute, headerBytes).text

/** The engine's end is told to the session by other means. */
const ignoreLoss = (error: unknown): void => {
  if (!(error instanceof EngineLostError || error instanceof HandoverError)) throw error
}

const knownRequests = new Set<number>([
  request.query,
  request.parse,
  request.bind,
  request.describe,
  request.execute,
  request.close,
  request.sync,
  request.flush,
  request.functionCall,
  request.copyData,
  request.copyDone,
  request.copyFail,
])
const flushing = new Set<number>([request.query, request.sync, request.flush, request.functionCall])
const aboutNames = new Set<number>([request.parse, request.bind, request.describe, request.close])
