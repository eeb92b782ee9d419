import type { Batch } from '../../shared/feed/batch.ts'
import { createSql, DatabaseDownError } from '../../shared/kernel/sql/client.ts'
import { findTicks, type StoredKey, storeTicks } from '../../shared/store/feed.ts'

/** Ticks that wait in the object's storage while the database is away; more are dropped and counted. */
const mostQueuedTicks = 100_000
const retryBaseMs = 250
const retryMostMs = 10_000

/**
 * Writes batches in order, one at a time. While the database is away they wait in the object's storage and go out
 * oldest first; repeating one is harmless, so nothing has to be known about a write whose answer was lost.
 */
export class TickWriter {
  readonly #storage: DurableObjectStorage
  readonly #databaseUrl: string
  #failures = 0
  #retryMs = 0
  #queuedTicks: number
  #dropped = 0
  /** Writes go one after the other. */
  #turn: Promise<unknown> = Promise.resolve()
  #turns = 0

  constructor(storage: DurableObjectStorage, databaseUrl: string) {
    this.#storage = storage
    this.#databaseUrl = databaseUrl
    storage.sql.exec(
      'create table if not exists batches (id integer primary key autoincrement, ticks integer not null, body text not null)',
    )
    this.#queuedTicks = storage.sql.exec<{ n: number }>('select coalesce(sum(ticks), 0) as n from batches').one().n
  }

  get queuedTicks(): number {
    return this.#queuedTicks
  }

  /** Ticks that were dropped because too many waited. */
  get dropped(): number {
    return this.#dropped
  }

  get isBusy(): boolean {
    return this.#turns > 0
  }

  /** When to try again; undefined when nothing waits. */
  get retryMs(): number | undefined {
    return this.#queuedTicks > 0 && !this.isBusy ? this.#retryMs : undefined
  }

  /** Stores batches, or queues them; does not throw for a database that is away. */
  write(batches: readonly Batch[]): Promise<void> {
    return this.#inTurn(async () => {
      for (const [index, batch] of batches.entries()) {
        if (this.#queuedTicks > 0 || !(await this.#store(batch))) return this.#enqueue(batches.slice(index))
      }
    })
  }

  /** Sends what waits, oldest first, until all is stored or the database fails again. */
  drain(): Promise<void> {
    return this.#inTurn(() => this.#drain())
  }

  /** Those of the ticks that are stored; none while the database is away, when its own key keeps repeats out. */
  async known(keys: readonly StoredKey[]): Promise<readonly StoredKey[]> {
    try {
      return await findTicks(createSql(this.#databaseUrl), keys)
    } catch (error) {
      if (error instanceof DatabaseDownError) return []
      throw error
    }
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#turns++
    const done = this.#turn.then(work).finally(() => {
      this.#turns--
    })
    this.#turn = done.catch(() => undefined)
    return done
  }

  async #drain(): Promise<void> {
    for (;;) {
      const [row] = this.#storage.sql.exec<{ id: number; ticks: number; body: string }>(
        'select id, ticks, body from batches order by id limit 1',
      )
      if (!row) return
      if (!(await this.#store(JSON.parse(row.body) as Batch))) return
      this.#storage.sql.exec('delete from batches where id = ?', row.id)
      this.#queuedTicks -= row.ticks
    }
  }

  /** False when the database is away. A batch that it refuses would be refused for ever: it is dropped, and said so. */
  async #store(batch: Batch): Promise<boolean> {
    try {
      await storeTicks(createSql(this.#databaseUrl), batch)
      this.#failures = 0
      return true
    } catch (error) {
      if (error instanceof DatabaseDownError) {
        const mostMs = Math.min(retryMostMs, retryBaseMs * 2 ** this.#failures++)
        this.#retryMs = Date.now() + Math.random() * mostMs
        return false
      }
      this.#dropped += batch.ticks.length
      const { hub, no } = batch
      console.error(JSON.stringify({ level: 'error', message: 'a batch was refused', hub, no, error: String(error) }))
      return true
    }
  }

  #enqueue(batches: readonly Batch[]): void {
    for (const batch of batches) {
      const ticks = Math.max(1, batch.ticks.length)
      if (this.#queuedTicks + ticks > mostQueuedTicks) {
        this.#dropped += batch.ticks.length
        continue
      }
      this.#storage.sql.exec('insert into batches (ticks, body) values (?, ?)', ticks, JSON.stringify(batch))
      this.#queuedTicks += ticks
    }
  }
}
