import { apply, nextStepAtMs } from '../../shared/cloud/machine.ts'
import { isVisible, type ServiceState } from '../../shared/cloud/service.ts'

// The state is one document: what a service is changes as a whole. Beside it stand the columns that are asked for.
const schema = `
  create table if not exists services (
    service_id      text primary key,
    status          text not null,
    next_step_at_ms integer,
    created_at_ms   integer not null,
    state           text not null,
    password_digest blob not null
  );
  create index if not exists services_next_step on services (next_step_at_ms) where next_step_at_ms is not null;
`

/** The services of one project, in the storage of its object. Every method first takes the steps that are due. */
export class Services {
  readonly #storage: DurableObjectStorage
  readonly #sql: SqlStorage

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#sql = storage.sql
    this.#sql.exec(schema)
  }

  /** Services that reads show, oldest first. */
  list(nowMs: number): ServiceState[] {
    return this.all(nowMs).filter(isVisible)
  }

  /** All services, the deleted ones too, oldest first. */
  all(nowMs: number): ServiceState[] {
    this.#takeDueSteps(nowMs)
    return this.#sql
      .exec<{ state: string }>('select state from services order by created_at_ms, service_id')
      .toArray()
      .map(({ state }) => parseState(state))
  }

  /** The service with this id, undefined when there is none or it was deleted. */
  find(serviceId: string, nowMs: number): ServiceState | undefined {
    this.#takeDueSteps(nowMs)
    const [row] = this.#sql.exec<{ state: string }>('select state from services where service_id = ?', serviceId)
    const state = row && parseState(row.state)
    return state && isVisible(state) ? state : undefined
  }

  /** @param passwordDigest SHA-256 of the master password, the only trace of it that stays */
  add(state: ServiceState, passwordDigest: Uint8Array<ArrayBuffer>): void {
    this.#sql.exec(
      'insert into services values (?, ?, ?, ?, ?, ?)',
      state.serviceId,
      state.status,
      nextStepAtMs(state),
      state.createdAtMs,
      JSON.stringify(state),
      passwordDigest,
    )
  }

  #takeDueSteps(nowMs: number): void {
    this.#storage.transactionSync(() => {
      const due = this.#sql
        .exec<{ state: string }>('select state from services where next_step_at_ms <= ?', nowMs)
        .toArray()
      for (const row of due) {
        const seen = parseState(row.state)
        const next = apply(seen, nowMs)
        // Only where the seen status still holds: whoever changed it has decided what comes next.
        this.#sql.exec(
          'update services set status = ?, next_step_at_ms = ?, state = ? where service_id = ? and status = ?',
          next.status,
          nextStepAtMs(next),
          JSON.stringify(next),
          seen.serviceId,
          seen.status,
        )
      }
    })
  }
}

const parseState = (text: string): ServiceState => JSON.parse(text) as ServiceState
