import { DurableObject } from 'cloudflare:workers'
import { authenticate, type Caller } from '../../shared/cloud/caller.ts'
import type { ServiceSpec } from '../../shared/cloud/create.ts'
import { defaultDurations, parseTimeScale, scaleDurations } from '../../shared/cloud/machine.ts'
import { type Outcome, outcomeOf } from '../../shared/cloud/outcome.ts'
import { checkPlan, type Plan } from '../../shared/cloud/plan.ts'
import { newPassword, newService, type ServiceState, usageOf } from '../../shared/cloud/service.ts'
import { sha256, utf8 } from '../../shared/kernel/bytes.ts'
import type { Clock, RandomBytes } from '../../shared/kernel/clock.ts'
import { isValid, type KnownToken } from '../../shared/managed-service/token.ts'
import { Directory } from './directory.ts'
import type { SandboxBindings } from './env.ts'
import { Services } from './services.ts'

/**
 * The object of a project: the one writer of its services. Nothing runs between calls; each call first takes the steps
 * that are due.
 *
 * A key must be looked up before its project is known, and users and tokens belong to no project. So one more object of
 * this class, under a name of its own, is the directory: it holds keys, users, tokens and what a key needs to know of
 * its project. It is one object because every caller must see a revocation at once, and it does nothing but look-ups.
 */
export class Project extends DurableObject<SandboxBindings> {
  readonly #clock: Clock = () => Date.now()
  readonly #randomBytes: RandomBytes = (count) => crypto.getRandomValues(new Uint8Array(count))
  #openedServices: Services | undefined
  #openedDirectory: Directory | undefined

  // Tables are made by the first call that needs them, so that a project has no directory and the directory no services.
  get #services(): Services {
    this.#openedServices ??= new Services(this.ctx.storage)
    return this.#openedServices
  }

  async #directory(): Promise<Directory> {
    this.#openedDirectory ??= new Directory(this.ctx.storage)
    await this.#openedDirectory.furnish(this.#clock())
    return this.#openedDirectory
  }

  /** Of the directory: the caller behind a key pair, undefined when it is refused. */
  async authenticate(accessKey: string, secretDigest: Uint8Array): Promise<Caller | undefined> {
    const directory = await this.#directory()
    return authenticate(directory.findKey(accessKey), secretDigest, this.#clock())
  }

  /** Of the directory: a token that is known and still valid, with its user. */
  async findToken(tokenDigest: Uint8Array<ArrayBuffer>): Promise<KnownToken | undefined> {
    const directory = await this.#directory()
    const known = directory.findToken(tokenDigest)
    return known && isValid(known, this.#clock()) ? known : undefined
  }

  /** Services oldest first. */
  listServices(): ServiceState[] {
    return this.#services.list(this.#clock())
  }

  findService(serviceId: string): ServiceState | undefined {
    return this.#services.find(serviceId, this.#clock())
  }

  /**
   * Creates a service. It is stored before this answers: the runtime holds the answer back until the write is safe.
   *
   * Refuses with `PLAN_LIMIT`.
   */
  async createService(
    projectId: string,
    plan: Plan,
    spec: ServiceSpec,
  ): Promise<Outcome<{ service: ServiceState; password: string }>> {
    const password = newPassword(this.#randomBytes)
    const passwordDigest = await sha256(utf8(password))
    const durations = scaleDurations(defaultDurations, parseTimeScale(this.env.TIME_SCALE))
    // From here to the end nothing waits, so that no other create can come between the count and the insert.
    return outcomeOf(() => {
      const nowMs = this.#clock()
      checkPlan(plan, usageOf(this.#services.all(nowMs)), spec)
      const service = newService(projectId, spec, { nowMs, durations, randomBytes: this.#randomBytes })
      this.#services.add(service, passwordDigest)
      return { service, password }
    })
  }
}

const directoryName = 'directory'

/** The one object that knows keys, users and tokens. */
export const directoryOf = ({ PROJECT }: SandboxBindings): DurableObjectStub<Project> =>
  PROJECT.getByName(directoryName)

/** The object of one project. The prefix keeps a project from ever being the directory. */
export const projectOf = ({ PROJECT }: SandboxBindings, projectId: string): DurableObjectStub<Project> =>
  PROJECT.getByName(`project:${projectId}`)
