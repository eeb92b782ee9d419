import { encode } from './codec.ts'
import { framesOf, type Item } from './conflate.ts'
import type { Base, Connection, ConnectionSettings, Form, SubscriptionOptions } from './connection.ts'
import type { Values } from './fields.ts'
import { floatToJson, type JsonForm, toJson } from './json.ts'
import { frames } from './protocol.ts'
import { streamerFrame } from './streamer.ts'

/** What a window keeps of a symbol: its merged values, and the fields that the window's ticks brought. */
export type TickData = { readonly values: Values; readonly frame: Values }

export type Send = { readonly do: 'send'; readonly to: readonly string[]; readonly data: string | Uint8Array }

/** Connections of a stream with equal symbols: they share each frame. */
type Group = { readonly symbols: ReadonlySet<string>; readonly members: Set<Connection> }

/** Bytes of one frame; an item alone may be longer. */
const mostFrameBytes = 64 * 1024

/**
 * Connections whose items are written alike: same interval, fields and form. An item is encoded once for all of them,
 * a frame once for those with the same symbols.
 */
export class Stream {
  readonly intervalMs: number
  readonly #form: Form
  readonly #merge: boolean
  readonly #extremes: boolean
  readonly #json: JsonForm
  readonly #groups = new Map<string, Group>()
  /** Groups that hold each symbol. */
  readonly #wanted = new Map<string, number>()
  /** The newest item of each symbol that this stream sent. */
  readonly #sent = new Map<string, Base>()

  constructor(settings: ConnectionSettings, options: SubscriptionOptions) {
    this.intervalMs = options.interval
    this.#form = settings.form
    this.#merge = settings.merge
    this.#extremes = options.extremes
    this.#json = { fields: options.fields, names: settings.names, int64: settings.int64 }
  }

  static keyOf({ form, merge, names, int64 }: ConnectionSettings, options: SubscriptionOptions): string {
    const { interval, fields, extremes } = options
    if (form !== 'json') return `${interval} ${form} ${merge}`
    return `${interval} json ${names} ${int64} ${extremes} ${fields.join()}`
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0
  }

  /** Joins the group of these symbols. Join the new one before leaving the old, or what was sent is forgotten. */
  join(connection: Connection, symbols: readonly string[]): string {
    const key = symbols.toSorted().join()
    const known = this.#groups.get(key)
    const group = known ?? { symbols: new Set(symbols), members: new Set() }
    if (!known) {
      this.#groups.set(key, group)
      for (const symbol of group.symbols) this.#wanted.set(symbol, (this.#wanted.get(symbol) ?? 0) + 1)
    }
    group.members.add(connection)
    return key
  }

  leave(connection: Connection, key: string): void {
    const group = this.#groups.get(key)
    group?.members.delete(connection)
    if (group?.members.size !== 0) return
    this.#groups.delete(key)
    for (const symbol of group.symbols) {
      const count = (this.#wanted.get(symbol) ?? 1) - 1
      if (count > 0) this.#wanted.set(symbol, count)
      else {
        this.#wanted.delete(symbol)
        this.#sent.delete(symbol)
      }
    }
  }

  wants(symbol: string): boolean {
    return this.#wanted.has(symbol)
  }

  /** What a connection of this stream has of a symbol, unless it is ahead or behind by itself. */
  sent(symbol: string): Base | undefined {
    return this.#sent.get(symbol)
  }

  forget(symbol: string): void {
    this.#sent.delete(symbol)
  }

  /** A complete item for a snapshot, and what the connection then has. */
  snapshotItem(s: string, q: number, e: string, values: Values): { readonly text: string; readonly base: Base } {
    const d = this.#write(values)
    return { text: `{"s":${JSON.stringify(s)},"q":${q},"e":${JSON.stringify(e)},"n":1,"f":1,"d":${d}}`, base: { q, d } }
  }

  /** The newest values as an update, for a connection that has an older item by itself. */
  catchUpItem(s: string, q: number, n: number, values: Values): { readonly text: string; readonly base: Base } {
    const d = this.#write(values)
    return { text: `{"s":${JSON.stringify(s)},"q":${q},"n":${n},"d":${d}}`, base: { q, d } }
  }

  /** One bare message, for a connection whose form has nothing else. */
  bareFrame(values: Values): string | Uint8Array {
    const bytes = encode(values)
    if (this.#form === 'raw') return bytes
    return streamerFrame(bytes, this.#form === 'base64' ? 1 : 2)
  }

  /** The frames that these items make, each with all connections that get it. */
  deliver(items: readonly Item<TickData>[], nowMs: number): Send[] {
    return this.#form === 'json' ? this.#deliverJson(items, nowMs) : this.#deliverBare(items)
  }

  #deliverJson(items: readonly Item<TickData>[], nowMs: number): Send[] {
    const written = items.filter(({ s }) => this.wants(s)).map((item) => this.#written(item))
    const sends: Send[] = []
    for (const { symbols, members } of this.#groups.values()) {
      const ours = written.filter(({ item }) => symbols.has(item.s))
      if (ours.length === 0) continue
      const sharing: Connection[] = []
      for (const member of members) {
        if (!isApart(member, ours)) sharing.push(member)
        else {
          const own = ours.flatMap((one) => this.#ownText(member, one) ?? [])
          sends.push(...framed([member], own, nowMs))
        }
      }
      const shared = ours.flatMap(({ text }) => text ?? [])
      if (sharing.length > 0) sends.push(...framed(sharing, shared, nowMs))
    }
    return sends
  }

  /**
   * An item as the group gets it: without text when no selected field changed, so that its ticks count in the next one.
   * The count is the distance of numbers, not the window's own, since windows whose item nobody saw count too.
   */
  #written(item: Item<TickData>): Written {
    const before = this.#sent.get(item.s)
    const d = this.#write(item.late ? item.data.frame : item.data.values)
    // A late item shows an old tick, after which the newest one is still what the group has.
    const kept = item.late ? before?.d : d
    if (before && !item.late && before.d === d) return { item, shown: d, d: kept, text: undefined }
    const n = before ? item.q - before.q : item.n
    // At once: the next item may be of the same symbol, and is written against this one.
    this.#sent.set(item.s, { q: item.q, d: kept })
    return { item, shown: d, d: kept, text: this.#itemText(item, n, d, false) }
  }

  /** The text of an item for a connection that is not where its group is. */
  #ownText(connection: Connection, written: Written): string | undefined {
    const { item, shown, d, text } = written
    const base = connection.fresh.get(item.s)
    if (base === undefined) return text
    if (base === null) {
      // Its first item is complete, also when what brings it is a late tick.
      const values = this.#write(item.data.values)
      this.#settle(connection, written, { q: item.q, d: values })
      return this.#itemText({ ...item, n: 1 }, 1, values, true)
    }
    if (item.q <= base.q) return undefined
    if (!item.late && base.d === shown) return undefined
    this.#settle(connection, written, { q: item.q, d: item.late ? base.d : d })
    return this.#itemText(item, item.q - base.q, shown, false)
  }

  /** A connection that got this item is with its group, if that got it too. */
  #settle(connection: Connection, { item, text }: Written, base: Base): void {
    if (text !== undefined && !item.late) connection.fresh.delete(item.s)
    else connection.fresh.set(item.s, base)
  }

  #itemText({ s, q, hi, lo, late }: Item<TickData>, n: number, d: string, complete: boolean): string {
    let text = `{"s":${JSON.stringify(s)},"q":${q},"n":${n}`
    if (complete) text += ',"f":1'
    if (this.#extremes && hi !== undefined && lo !== undefined) {
      text += `,"hi":${JSON.stringify(floatToJson(hi))},"lo":${JSON.stringify(floatToJson(lo))}`
    }
    if (late && !complete) text += ',"late":1'
    return `${text},"d":${d}}`
  }

  #write(values: Values): string {
    return JSON.stringify(toJson(values, this.#json))
  }

  /** One message a frame. Merged readers never see a late tick: they would take it for the newest. */
  #deliverBare(items: readonly Item<TickData>[]): Send[] {
    const sends: Send[] = []
    for (const item of items) {
      if (!this.wants(item.s) || (item.late && this.#merge)) continue
      const data = this.bareFrame(this.#merge ? item.data.values : item.data.frame)
      const to: string[] = []
      for (const { symbols, members } of this.#groups.values()) {
        if (!symbols.has(item.s)) continue
        for (const member of members) {
          const base = member.fresh.get(item.s)
          member.fresh.delete(item.s)
          if (base && item.q <= base.q) continue
          member.seen++
          to.push(member.settings.id)
        }
      }
      if (to.length > 0) sends.push({ do: 'send', to, data })
    }
    return sends
  }
}

type Written = {
  readonly item: Item<TickData>
  /** JSON of the item's fields. */
  readonly shown: string
  /** JSON of the newest fields in order that a reader of the item has. */
  readonly d: string | undefined
  readonly text: string | undefined
}

const isApart = ({ fresh }: Connection, written: readonly Written[]): boolean =>
  fresh.size > 0 && written.some(({ item }) => fresh.has(item.s))

/** Items in as many frames as the limits on a frame need. */
function framed(members: readonly Connection[], texts: readonly string[], nowMs: number): Send[] {
  const sends: Send[] = []
  for (const part of cut(texts)) {
    for (const member of members) member.seen++
    sends.push({ do: 'send', to: members.map(({ settings }) => settings.id), data: frames.u(nowMs, part) })
  }
  return sends
}

/** Cuts by number of items and by bytes; an item is nearly all ASCII, so its length stands for its bytes. */
export function* cut(texts: readonly string[]): Generator<readonly string[]> {
  for (const part of framesOf(texts)) {
    let from = 0
    let bytes = 0
    for (const [index, text] of part.entries()) {
      if (bytes + text.length > mostFrameBytes && index > from) {
        yield part.slice(from, index)
        from = index
        bytes = 0
      }
      bytes += text.length
    }
    yield part.slice(from)
  }
}
