import type { GatewayBindings } from '../gateway/env.ts'

/** Host names that polls by URL may reach: the comma list JOBS_ALLOWED_HOSTS, none without it. */
export const allowedHosts = (env: GatewayBindings): string[] =>
  String((env as { readonly JOBS_ALLOWED_HOSTS?: string }).JOBS_ALLOWED_HOSTS ?? '')
    .split(',')
    .flatMap((host) => host.trim().toLowerCase() || [])
