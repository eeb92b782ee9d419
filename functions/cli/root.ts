import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** A path of this checkout, absolute. */
export const fromRoot = (path: string): string => join(root, path)
