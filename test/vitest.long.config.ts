import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** `npm run test:long`: what takes minutes. `KILL_ROUNDS` and the like say how much of it. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url).href),
    include: ['test/long/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 1_800_000,
    hookTimeout: 120_000,
  },
})
