import manifest from '../../package.json'

/** The version of this build, as package.json states it. */
export const version: string = manifest.version
