/** A file of a tar archive; folders have no content. */
export type TarEntry = { readonly path: string; readonly content: Buffer | undefined }

const blockBytes = 512

/**
 * Entries of a POSIX ustar archive, in order: files and folders with plain names, which is what an engine's dump holds.
 *
 * @throws {Error} the archive is cut off, damaged, or reaches outside its folder
 */
export function* readTar(archive: Buffer): Generator<TarEntry> {
  for (let at = 0; at + blockBytes <= archive.byteLength; ) {
    const header = archive.subarray(at, at + blockBytes)
    if (header.every((byte) => byte === 0)) return
    if (checksum(header) !== octal(header, 148, 8)) throw new Error(`damaged archive: bad header at byte ${at}`)
    const path = [text(header, 345, 155), text(header, 0, 100)].filter(Boolean).join('/').replace(/^\/+/, '')
    if (path.split('/').includes('..')) throw new Error(`damaged archive: entry ${path}`)
    const size = octal(header, 124, 12)
    const end = at + blockBytes + size
    if (end > archive.byteLength) throw new Error('damaged archive: it is cut off')
    const type = String.fromCharCode(header[156] as number)
    if (type === '5') yield { path, content: undefined }
    else if (type === '0' || type === '\0') yield { path, content: archive.subarray(at + blockBytes, end) }
    else throw new Error(`damaged archive: entry ${path} of type ${type}`)
    at = end + ((blockBytes - (size % blockBytes)) % blockBytes)
  }
  throw new Error('damaged archive: it has no end')
}

const text = (header: Buffer, at: number, length: number): string => {
  const field = header.subarray(at, at + length)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end < 0 ? length : end)
}

const octal = (header: Buffer, at: number, length: number): number =>
  Number.parseInt(text(header, at, length).trim() || '0', 8)

/** Sum of the header's bytes with the checksum itself taken as blanks. */
const checksum = (header: Buffer): number =>
  header.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 0x20 : byte), 0)
