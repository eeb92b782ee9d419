import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'

/** What a server keeps of a password to check it by SCRAM-SHA-256 (RFC 5802, RFC 7677). */
export type ScramVerifier = {
  readonly salt: Buffer
  readonly iterations: number
  readonly storedKey: Buffer
  readonly serverKey: Buffer
}

export const scramMechanism = 'SCRAM-SHA-256'

/** RFC 7677 asks for 4096 at least; the password here is a long random one, so more would only cost time. */
const iterations = 4096

export function scramVerifier(password: string, salt: Buffer = randomBytes(16)): ScramVerifier {
  // NFKC is what SASLprep (RFC 4013) does to passwords of ordinary characters; clients do no more.
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256')
  return { salt, iterations, storedKey: sha256(hmac(salted, 'Client Key')), serverKey: hmac(salted, 'Server Key') }
}

/** One exchange. Each step gives the text to answer, or undefined: the client's text is malformed or proves nothing. */
export class ScramExchange {
  readonly #verifier: ScramVerifier
  readonly #nonce: string
  #clientFirstBare = ''
  #serverFirst = ''
  #gs2Header = ''

  constructor(verifier: ScramVerifier, nonce: string = randomBytes(18).toString('base64')) {
    this.#verifier = verifier
    this.#nonce = nonce
  }

  first(clientFirst: string): string | undefined {
    // "n": no channel binding; "y": the client could, but this server offers none. "p=...": not offered, refused.
    const parts = /^(?<header>[ny],(?:a=[^,]*)?,)(?<bare>n=[^,]*,r=(?<nonce>[!-+\--~]+))(?:,.*)?$/.exec(
      clientFirst,
    )?.groups
    if (!parts) return undefined
    this.#gs2Header = parts.header as string
    this.#clientFirstBare = clientFirst.slice(this.#gs2Header.length)
    const { salt, iterations } = this.#verifier
    this.#serverFirst = `r=${parts.nonce}${this.#nonce},s=${salt.toString('base64')},i=${iterations}`
    return this.#serverFirst
  }

  final(clientFinal: string): string | undefined {
    const parts = /^(?<unproven>c=(?<binding>[^,]*),r=(?<nonce>[^,]*)(?:,.*)?),p=(?<proof>[^,]*)$/.exec(
      clientFinal,
    )?.groups
    if (!parts || this.#serverFirst === '') return undefined
    if (parts.binding !== Buffer.from(this.#gs2Header).toString('base64')) return undefined
    if (!this.#serverFirst.startsWith(`r=${parts.nonce},`)) return undefined
    const message = `${this.#clientFirstBare},${this.#serverFirst},${parts.unproven}`
    const { storedKey, serverKey } = this.#verifier
    const signature = hmac(storedKey, message)
    const proof = Buffer.from(parts.proof as string, 'base64')
    if (proof.byteLength !== signature.byteLength) return undefined
    const clientKey = Buffer.from(proof.map((byte: number, index: number) => byte ^ (signature[index] as number)))
    if (!timingSafeEqual(sha256(clientKey), storedKey)) return undefined
    return `v=${hmac(serverKey, message).toString('base64')}`
  }
}

const sha256 = (data: Uint8Array): Buffer => createHash('sha256').update(data).digest()
const hmac = (key: Uint8Array, text: string): Buffer => createHmac('sha256', key).update(text).digest()
