import type { Context } from 'hono'
import { operations } from '../../../shared/exchange/contract-clob.ts'
import { toClobError } from '../../../shared/exchange/errors.ts'
import { withL1 } from '../../../shared/kernel/auth/l1.ts'
import type { Operation } from '../../../shared/kernel/contract/operation.ts'
import { AppError } from '../../../shared/kernel/errors.ts'
import type { Send } from '../../../shared/kernel/http/send.ts'
import type { GatewayEnv } from '../app-env.ts'
import { readSigned } from '../middleware/caller.ts'
import { proxiedMount } from '../mount.ts'
import { credentialFor, signedSend, type Upstream } from '../upstream.ts'

class NoWalletError extends AppError {
  override readonly name = 'NoWalletError'
  readonly code = 'upstream.no_wallet'
  readonly status = 500
  override readonly fault = 'platform'
}

/** Creating and deriving API keys wants the wallet's signature (L1), everything else that is not public an API key's (L2). */
function sign(c: Context<GatewayEnv>, upstream: Upstream, operation: Operation): Send {
  if (operation.auth !== 'l1') return signedSend(c.env, upstream)
  const credential = credentialFor(c.env, 'CLOB')
  if (credential.kind !== 'l2' || !credential.private_key) {
    throw new NoWalletError(
      'the gateway holds no wallet for the order-book service; give CREDENTIAL_CLOB a private_key',
    )
  }
  return withL1(upstream.send, { privateKey: credential.private_key, chainId: credential.chain_id }, Date.now)
}

export const clobRoutes = proxiedMount({
  prefix: '/clob',
  upstream: 'CLOB',
  operations,
  errors: toClobError,
  readCredential: readSigned,
  bodyLimitBytes: 1024 * 1024,
  sign,
})
