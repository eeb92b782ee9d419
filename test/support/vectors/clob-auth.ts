import {
  clobAuthDigest,
  clobAuthDomainSeparator,
  clobAuthStructHash,
  l1Headers,
  signL1,
  verifyL1,
} from '../../../shared/kernel/auth/l1.ts'
import { l2Headers, l2Message, signL2, verifyL2 } from '../../../shared/kernel/auth/l2.ts'
import { addressOfPrivateKey } from '../../../shared/kernel/auth/wallet.ts'
import { toHex } from '../../../shared/kernel/ids.ts'

type HeaderTexts = Readonly<Record<string, string>>

type Signed = {
  readonly timestamp: number
  readonly method: string
  readonly request_path: string
  readonly body: string | null
}

type Key = { readonly address: string; readonly api_key: string; readonly secret: string; readonly passphrase: string }

/** One case of `test/vectors/clob-auth.json`. */
export type ClobAuthCase = { readonly id: string; readonly note: string } & (
  | {
      readonly kind: 'l2_hmac'
      readonly input: Signed & { readonly secret: string }
      readonly expected: { readonly message: string; readonly signature: string }
    }
  | {
      readonly kind: 'l2_headers'
      readonly input: Signed & Key & { readonly private_key: string }
      readonly expected: { readonly headers: HeaderTexts }
    }
  | {
      readonly kind: 'l2_verify'
      readonly input: {
        readonly stored: Key
        /** Unix seconds. */
        readonly now: number
        readonly request: {
          readonly method: string
          readonly path_and_query: string
          readonly headers: HeaderTexts
          readonly body: string | null
        }
      }
      readonly expected: { readonly valid: boolean }
    }
  | {
      readonly kind: 'l1_clob_auth'
      readonly input: {
        readonly private_key: string
        readonly address: string
        readonly chain_id: number
        readonly timestamp: number
        readonly nonce: number
      }
      readonly expected: {
        readonly domain_separator: string
        readonly struct_hash: string
        readonly digest: string
        readonly signature: string
        readonly headers: HeaderTexts
      }
    }
  | {
      readonly kind: 'l1_verify'
      readonly input: { readonly server_chain_id: number; readonly headers: HeaderTexts }
      readonly expected: { readonly valid: boolean }
    }
)

export class UnknownCaseKindError extends Error {
  override readonly name = 'UnknownCaseKindError'
}

/** Runs one case against the product: what the case expects, and what came out, to be compared whole. */
export async function runClobAuthCase(vector: ClobAuthCase): Promise<{ expected: unknown; got: unknown }> {
  return { expected: vector.expected, got: await run(vector) }
}

async function run(vector: ClobAuthCase): Promise<unknown> {
  switch (vector.kind) {
    case 'l2_hmac': {
      const message = signed(vector.input)
      return {
        message: new TextDecoder().decode(l2Message(message)),
        signature: await signL2(vector.input.secret, message),
      }
    }
    case 'l2_headers': {
      const address = addressOfPrivateKey(vector.input.private_key)
      return { headers: await l2Headers({ ...credential(vector.input), address }, signed(vector.input)) }
    }
    case 'l2_verify': {
      const { request, stored, now } = vector.input
      const { method, path_and_query: path, body } = request
      const headers = new Headers(request.headers)
      return { valid: await verifyL2({ headers, method, path, body }, credential(stored), now * 1000) }
    }
    case 'l1_clob_auth': {
      const { private_key: privateKey, chain_id: chainId, timestamp, nonce } = vector.input
      const auth = { address: addressOfPrivateKey(privateKey), timestamp, nonce }
      return {
        domain_separator: hex(clobAuthDomainSeparator(chainId)),
        struct_hash: hex(clobAuthStructHash(auth)),
        digest: hex(clobAuthDigest(auth, chainId)),
        signature: signL1({ privateKey, chainId }, timestamp, nonce),
        headers: l1Headers({ privateKey, chainId }, timestamp, nonce),
      }
    }
    case 'l1_verify': {
      // The cases name no server time, so they are judged at the time that their header states.
      const headers = new Headers(vector.input.headers)
      const nowMs = Number(headers.get('poly_timestamp')) * 1000
      return { valid: verifyL1(headers, vector.input.server_chain_id, nowMs) !== undefined }
    }
    default:
      throw new UnknownCaseKindError(`no runner for the kind ${JSON.stringify((vector as { kind: unknown }).kind)}`)
  }
}

const signed = ({ timestamp, method, request_path: path, body }: Signed) => ({ timestamp, method, path, body })

const credential = ({ address, api_key: apiKey, secret, passphrase }: Key) => ({ address, apiKey, secret, passphrase })

const hex = (bytes: Uint8Array): string => `0x${toHex(bytes)}`
