import type { SandboxBindings } from './env.ts'
import type { Venue } from './venue.ts'

export type VenueStub = DurableObjectStub<Venue>

/** The one venue that the order-book, metadata and data services share. */
export const venueOf = ({ VENUE }: SandboxBindings): VenueStub => VENUE.getByName('venue')
