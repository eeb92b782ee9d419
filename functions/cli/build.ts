// Builds what runs in production: the three scripts' bundles and the assets, as `wrangler deploy` would send them.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { fromRoot } from './root.ts'

const run = promisify(execFile)

export const scripts = [
  { name: 'gateway', config: 'wrangler.toml' },
  { name: 'relay', config: 'functions/relay/wrangler.toml' },
  { name: 'sandbox', config: 'functions/sandbox/wrangler.toml' },
] as const

export type ScriptName = (typeof scripts)[number]['name']

export const bundleOf = (name: ScriptName): string => fromRoot(`dist/${name}/worker.js`)

/** What the script's configuration file binds, in the form that Miniflare takes. */
export const bindingsOf = (name: ScriptName): string => fromRoot(`dist/${name}/bindings.json`)

/** Tools that stay silent and offline; the settings of the configuration files alone do not switch everything off. */
const quiet = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
}

/** Builds unless the bundles were made from exactly these sources. */
export async function build(): Promise<void> {
  const stamp = fromRoot('dist/sources.sha256')
  const sources = hashOfSources()
  const complete =
    scripts.every(({ name }) => existsSync(bundleOf(name)) && existsSync(bindingsOf(name))) &&
    existsSync(fromRoot('dist/assets/openapi.json'))
  if (complete && existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return
  mkdirSync(fromRoot('dist/assets'), { recursive: true })
  await Promise.all([...scripts.map(bundle), writeBindings()])
  writeFileSync(stamp, sources)
}

/** The configuration files are read here, not at each start: their reader takes longer to load than the Workers. */
async function writeBindings(): Promise<void> {
  const { unstable_getMiniflareWorkerOptions: optionsOf, unstable_readConfig: readConfig } = await import('wrangler')
  for (const { name, config } of scripts) {
    const path = fromRoot(config)
    const { name: script, triggers } = readConfig({ config: path })
    const { compatibilityDate, compatibilityFlags, durableObjects, serviceBindings, assets } =
      optionsOf(path).workerOptions
    const options = { name: script, compatibilityDate, compatibilityFlags, durableObjects, serviceBindings, assets }
    mkdirSync(dirname(bindingsOf(name)), { recursive: true })
    writeFileSync(bindingsOf(name), JSON.stringify({ options, crons: triggers.crons ?? [] }))
  }
}

async function bundle({ name, config }: (typeof scripts)[number]): Promise<void> {
  const wrangler = fromRoot('node_modules/wrangler/bin/wrangler.js')
  const args = ['deploy', '--dry-run', '--minify', '--outdir', fromRoot(`dist/${name}`), '-c', fromRoot(config)]
  try {
    await run(process.execPath, [wrangler, ...args], {
      cwd: fromRoot('.'),
      env: { ...process.env, ...quiet, WRANGLER_LOG_PATH: fromRoot('dist/logs') },
    })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`the bundle of ${config} cannot be built:\n${stdout}${stderr}`, { cause: error })
  }
}

/** Compressed size of each bundle in bytes, as the platform counts it. */
export const bundleSizes = (): { name: ScriptName; gzipBytes: number }[] =>
  scripts.map(({ name }) => ({ name, gzipBytes: gzipSync(readFileSync(bundleOf(name))).length }))

function hashOfSources(): string {
  const hash = createHash('sha256')
  for (const path of ['package-lock.json', 'package.json', 'wrangler.toml', 'tsconfig.json', 'shared', 'functions'])
    addTo(hash, path)
  return hash.digest('hex')
}

function addTo(hash: ReturnType<typeof createHash>, path: string): void {
  const full = fromRoot(path)
  if (statSync(full).isDirectory()) {
    for (const name of readdirSync(full).sort()) addTo(hash, join(path, name))
  } else {
    hash.update(`${path}\0`).update(readFileSync(full)).update('\0')
  }
}

if (import.meta.main) {
  await build()
  for (const { name, gzipBytes } of bundleSizes()) console.log(`${name}: ${(gzipBytes / 1024).toFixed(1)} KiB gzip`)
}
