import type { ConnectionSettings } from './connection.ts'

/** What the gateway tells a relay of a subscriber, in the header {@link subscriberHeader}. */
export type Subscriber = {
  readonly settings: ConnectionSettings
  /** As asked for; the relay rejects what is none. */
  readonly symbols: readonly string[]
  /** Subprotocols were offered, but none that we speak: the socket is opened only to say so. */
  readonly badSubprotocol: boolean
}

export const subscriberHeader = 'x-tidegate-subscriber'

/** The subprotocol of native clients. */
export const subprotocol = 'feed.v1'
