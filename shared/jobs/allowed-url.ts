/** Names that the public DNS does not serve, or that lead back to the own network. */
const reserved = /(^|\.)(localhost|local|internal|localdomain|home\.arpa|lan|intranet|test|invalid|onion)$/

/**
 * What a URL of a user must be before anything is sent there: https on its own port, a public host name, no user in it.
 * Undefined: it is well; else what was expected.
 */
export function publicUrlFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'an https URL'
  const url = new URL(text)
  if (url.protocol !== 'https:') return 'an https URL'
  if (url.username !== '' || url.password !== '') return 'a URL without user and password'
  if (url.port !== '') return 'a URL on the port of https'
  const host = url.hostname.replace(/\.$/, '')
  // The URL parser has already turned 0x7f.1, 2130706433 and the like into dotted decimals.
  if (/^[\d.]+$/.test(host) || host.startsWith('[')) return 'a URL with a host name, not an address'
  if (!host.includes('.') || reserved.test(host)) return 'a URL with a public host name'
  return undefined
}

/** As {@link publicUrlFault}, and the host must be one of the allowed names, exactly. */
export function pollUrlFault(text: string, allowedHosts: readonly string[]): string | undefined {
  const fault = publicUrlFault(text)
  if (fault !== undefined) return fault
  const { hostname } = new URL(text)
  return allowedHosts.some((host) => host.toLowerCase() === hostname)
    ? undefined
    : 'a URL whose host is on the allow list'
}
