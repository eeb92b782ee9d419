import { sandboxKeys } from '../../shared/cloud/scenery.ts'
import { sandboxTrader } from '../../shared/exchange/scenery.ts'
import { sandboxTokens } from '../../shared/managed-service/scenery.ts'

/** The pairs that the sandbox's scenery starts with: publicly known, good for nothing else. */
export const sandboxCredentials = {
  CLOUD: { kind: 'basic', access_key: sandboxKeys.admin.accessKey, secret_key: sandboxKeys.admin.secretKey },
  MST: { kind: 'token', token: sandboxTokens.active },
  CLOB: {
    kind: 'l2',
    address: sandboxTrader.address,
    api_key: sandboxTrader.apiKey,
    secret: sandboxTrader.secret,
    passphrase: sandboxTrader.passphrase,
    private_key: sandboxTrader.privateKey,
  },
}

/** The same as settings of the gateway, by name. */
export const credentialSettings: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(sandboxCredentials).map(([name, value]) => [`CREDENTIAL_${name}`, JSON.stringify(value)]),
)
