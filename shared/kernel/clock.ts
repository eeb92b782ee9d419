/** Milliseconds since the Unix epoch. An argument everywhere, so that tests and the sandbox can move time. */
export type Clock = () => number

/** `count` random bytes. */
export type RandomBytes = (count: number) => Uint8Array<ArrayBuffer>

/** RFC 3339 in UTC with milliseconds, the one output form of times in JSON. */
export const toTimestamp = (milliseconds: number): string => new Date(milliseconds).toISOString()
