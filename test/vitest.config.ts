import { fileURLToPath } from 'node:url'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { kCurrentWorker } from 'miniflare'
import { defineConfig } from 'vitest/config'
import { credentialSettings } from '../functions/cli/sandbox-credentials.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url).href)
const compatibilityDate = '2026-09-15'

export default defineConfig({
  test: {
    root: at('..'),
    reporters: ['default', at('./support/seed-rows-reporter.ts')],
    coverage: { provider: 'istanbul', include: ['shared/**', 'functions/**'], reportsDirectory: at('./out/coverage') },
    projects: [
      {
        test: {
          name: 'node',
          root: at('..'),
          include: ['test/{shared,house,sql}/**/*.test.ts', 'test/functions/cli/**/*.test.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        // One runtime for all files, its storage wiped after each test: 2 s instead of 14 s for twenty files.
        plugins: [
          cloudflareTest(({ inject }) => ({
            main: at('./functions/worker.ts'),
            wrangler: { configPath: at('../wrangler.toml') },
            miniflare: {
              compatibilityDate,
              bindings: {
                DATABASE_URL: inject('databaseUrl'),
                ANONYMOUS: '1',
                SANDBOX_CONTROL: '1',
                ...credentialSettings,
              },
              serviceBindings: { SANDBOX: { name: kCurrentWorker, entrypoint: 'Sandbox' } },
              // The plugin renames the main script, and a binding across scripts cannot name it: here one script has
              // every object. The real topology is what test/e2e runs.
              durableObjects: {
                RELAY: { className: 'FeedRelay', useSQLite: true },
                HUB: { className: 'FeedHub', useSQLite: true },
                LIMITER: { className: 'Limiter', useSQLite: true },
                PROJECT: { className: 'Project', useSQLite: true },
                VENUE: { className: 'Venue', useSQLite: true },
              },
            },
          })),
        ],
        test: {
          name: 'workers',
          root: at('..'),
          include: ['test/functions/{gateway,feed,relay,jobs,sandbox,http}/**/*.test.ts'],
          globalSetup: at('./support/embedded-database.ts'),
          setupFiles: at('./support/reset.ts'),
          isolate: false,
          maxWorkers: 1,
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'e2e',
          root: at('..'),
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
