import { decodeValues, encode, fromBase64Strict } from '../../shared/feed/codec.ts'
import type { SavedSymbol } from '../../shared/feed/hub.ts'
import { toBase64 } from '../../shared/kernel/bytes.ts'

/** A row of an object's storage holds at most 2 MB. */
const symbolsPerRow = 2000

type Row = Omit<SavedSymbol, 'values' | 'volume'> & { readonly values: string; readonly volume: string | undefined }

/** Keeps the counters and last values of a hub over a restart of its object. */
export class SavedState {
  readonly #storage: DurableObjectStorage

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    storage.sql.exec('create table if not exists state (part integer primary key, body text not null)')
  }

  read(): SavedSymbol[] {
    const rows = this.#storage.sql.exec<{ body: string }>('select body from state order by part').toArray()
    return rows.flatMap(({ body }) => (JSON.parse(body) as Row[]).map(fromRow))
  }

  write(symbols: readonly SavedSymbol[]): void {
    this.#storage.transactionSync(() => {
      this.#storage.sql.exec('delete from state')
      for (let at = 0; at < symbols.length; at += symbolsPerRow) {
        const body = JSON.stringify(symbols.slice(at, at + symbolsPerRow).map(toRow))
        this.#storage.sql.exec('insert into state (part, body) values (?, ?)', at / symbolsPerRow, body)
      }
    })
  }
}

const toRow = ({ values, volume, ...rest }: SavedSymbol): Row => {
  return { ...rest, values: toBase64(encode(values)), volume: volume === undefined ? undefined : String(volume) }
}

/** Minus infinity, which JSON writes as null, is the time of a symbol that had no tick with a price yet. */
const fromRow = ({ values, volume, newestMs, seenMs, good, ...rest }: Row): SavedSymbol => ({
  ...rest,
  values: decodeValues(fromBase64Strict(values)),
  volume: volume === undefined ? undefined : readInteger(volume),
  newestMs: newestMs ?? Number.NEGATIVE_INFINITY,
  seenMs: seenMs ?? Number.NEGATIVE_INFINITY,
  good,
})

const readInteger = (text: string): number | bigint => {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}
