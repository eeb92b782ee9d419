import type { RelayBindings } from './relay.ts'

export { FeedRelay } from './relay.ts'

/** The script exists for its object; nothing is served here. */
export default {
  fetch: () => new Response(null, { status: 404 }),
} satisfies ExportedHandler<RelayBindings>
