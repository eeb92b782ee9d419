import { withBasic } from '../../shared/kernel/auth/basic.ts'
import type { Credential } from '../../shared/kernel/auth/credential.ts'
import { withL2 } from '../../shared/kernel/auth/l2.ts'
import { withToken } from '../../shared/kernel/auth/token.ts'
import { AppError } from '../../shared/kernel/errors.ts'
import { bound, remote, type Send, withTimeout } from '../../shared/kernel/http/send.ts'
import { configOf, type GatewayBindings, type UpstreamName } from './env.ts'

/** How long an upstream may take until its headers; the official clients give up after 30 s. */
const timeoutMs = 25_000

/** An upstream as the gateway sees it: an address to put paths behind, and a way to send there. */
export type Upstream = {
  readonly name: UpstreamName
  /** `http(s)://host[/prefix]` without a slash at the end. */
  readonly base: string
  /** The path prefix of `base`: empty, or `/prefix`. */
  readonly basePath: string
  readonly isSandbox: boolean
  readonly send: Send
}

class NoSandboxError extends AppError {
  override readonly name = 'NoSandboxError'
  readonly code = 'upstream.no_sandbox'
  readonly status = 500
  override readonly fault = 'platform'
}

class NoCredentialError extends AppError {
  override readonly name = 'NoCredentialError'
  readonly code = 'upstream.no_credential'
  readonly status = 500
  override readonly fault = 'platform'
}

/** The seed says that the management base address ends so; a configured one may leave it out. */
const baseSuffixes: Partial<Record<UpstreamName, string>> = { CLOUD: '/public/api/v1' }

/** The upstream of this name, without credentials. */
export function upstreamOf(env: GatewayBindings, name: UpstreamName): Upstream {
  const address = configOf(env).upstreams[name]
  const suffix = baseSuffixes[name] ?? ''
  if (address === 'sandbox') {
    if (!env.SANDBOX)
      throw new NoSandboxError(`UPSTREAM_${name} is "sandbox", but this deployment has no sandbox`, { name })
    const send = withTimeout(bound(env.SANDBOX), name, timeoutMs)
    return { name, base: `http://${sandboxHost(name)}${suffix}`, basePath: suffix, isSandbox: true, send }
  }
  const path = address.pathname.replace(/\/+$/, '')
  const basePath = path.endsWith(suffix) ? path : path + suffix
  const scheme = address.protocol.replace(/^ws/, 'http')
  return {
    name,
    base: `${scheme}//${address.host}${basePath}`,
    basePath,
    isSandbox: false,
    send: withTimeout(remote(), name, timeoutMs),
  }
}

/** The sandbox tells its upstreams apart by host name. */
export const sandboxHost = (name: UpstreamName): string => `${name.toLowerCase().replace('_', '-')}.sandbox`

/** The gateway's own credential for an upstream, from the Worker's secrets. */
export function credentialFor(env: GatewayBindings, name: UpstreamName): Credential {
  const credential = configOf(env).credentials[name]
  if (!credential) {
    throw new NoCredentialError(`the gateway has no credential for ${name}; set the secret CREDENTIAL_${name}`, {
      name,
    })
  }
  return credential
}

/** Sends with the gateway's credential for this upstream; as it is where the upstream wants none. */
export function signedSend(env: GatewayBindings, upstream: Upstream): Send {
  if (!configOf(env).credentials[upstream.name]) return upstream.send
  const credential = credentialFor(env, upstream.name)
  if (credential.kind === 'basic') {
    return withBasic(upstream.send, { accessKey: credential.access_key, secretKey: credential.secret_key })
  }
  if (credential.kind === 'token') {
    return withToken(upstream.send, { scheme: configOf(env).mstScheme, token: credential.token })
  }
  const { address, api_key: apiKey, secret, passphrase } = credential
  return withL2(upstream.send, { address, apiKey, secret, passphrase }, Date.now, upstream.basePath)
}
