/** Longer lists do not fit into the 16 KiB that are kept with a sleeping socket. */
const mostAttachedLength = 12_000

type Attachment = readonly string[] | { readonly key: string } | null

/** The symbols that each relay wants, kept so that they survive the sleep of the object. */
export class RelayWishes {
  readonly #storage: DurableObjectStorage
  readonly #known = new WeakMap<WebSocket, ReadonlySet<string>>()

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
  }

  of(relay: WebSocket): ReadonlySet<string> {
    const known = this.#known.get(relay)
    if (known) return known
    const attachment = relay.deserializeAttachment() as Attachment
    const list = isList(attachment) ? attachment : this.#storage.kv.get<string[]>(attachment?.key ?? '')
    const read = new Set(list ?? [])
    this.#known.set(relay, read)
    return read
  }

  set(relay: WebSocket, symbols: ReadonlySet<string>): void {
    this.#known.set(relay, symbols)
    const list = [...symbols]
    if (list.join().length <= mostAttachedLength) {
      this.#dropStored(relay)
      relay.serializeAttachment(list)
      return
    }
    const key = this.#keyOf(relay) ?? `relay:${crypto.randomUUID()}`
    this.#storage.kv.put(key, list)
    relay.serializeAttachment({ key })
  }

  delete(relay: WebSocket): void {
    this.#dropStored(relay)
    this.#known.set(relay, new Set())
    relay.serializeAttachment([])
  }

  #dropStored(relay: WebSocket): void {
    const key = this.#keyOf(relay)
    if (key !== undefined) this.#storage.kv.delete(key)
  }

  #keyOf(relay: WebSocket): string | undefined {
    const attachment = relay.deserializeAttachment() as Attachment
    return isList(attachment) ? undefined : attachment?.key
  }
}

const isList = (attachment: Attachment): attachment is readonly string[] => Array.isArray(attachment)
