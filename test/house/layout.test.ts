import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fromRoot } from '../../functions/cli/root.ts'
import { rows } from '../support/rows.ts'

const manifest = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8'))

describe('the top of the repository', () => {
  it('holds the manifest, the configuration, the three folders, README, licence, and nothing else', () => {
    rows('card.file.package-json', 'card.file.functions', 'card.file.shared', 'card.file.test', 'card.stack.vitest')
    const ignored = new Set(['node_modules', 'dist'])
    const names = readdirSync(fromRoot('.')).filter((name) => !name.startsWith('.') && !ignored.has(name))
    expect(names.toSorted()).toEqual([
      'LICENSE',
      'README.md',
      'functions',
      'package-lock.json',
      'package.json',
      'shared',
      'test',
      'tsconfig.json',
      'wrangler.toml',
    ])
    for (const folder of ['functions', 'shared', 'test']) expect(statSync(fromRoot(folder)).isDirectory()).toBe(true)
    expect(manifest.scripts).toMatchObject({ start: expect.any(String), test: expect.stringContaining('vitest run') })
    expect(Object.keys(manifest.devDependencies)).toEqual(expect.arrayContaining(['vitest', 'wrangler', 'miniflare']))
    expect(Object.keys(manifest.dependencies)).toEqual(
      expect.arrayContaining(['hono', 'zod', 'protobufjs', '@neondatabase/serverless']),
    )
  })

  it('passes the type check with its tsconfig', { timeout: 120_000 }, () => {
    rows('card.file.tsconfig-json')
    execFileSync(process.execPath, [fromRoot('node_modules/typescript/bin/tsc'), '-p', fromRoot('tsconfig.json')], {
      stdio: 'inherit',
    })
  })

  it('declares worker, objects and cron triggers in wrangler.toml', async () => {
    rows('card.file.wrangler-toml')
    const { unstable_readConfig: readConfig } = await import('wrangler')
    const config = readConfig({ config: fromRoot('wrangler.toml') })
    expect(existsSync(config.main as string)).toBe(true)
    expect(config.durable_objects.bindings.map((binding: { name: string }) => binding.name)).toEqual(
      expect.arrayContaining(['HUB', 'RELAY', 'LIMITER']),
    )
    expect(config.triggers.crons).toEqual(['* * * * *'])
    expect(JSON.stringify(config.vars)).not.toMatch(/secret|password|token/i)
  })

  it('pins every dependency', () => {
    const versions = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }
    expect(Object.entries(versions).filter(([, version]) => !/^\d/.test(version as string))).toEqual([])
  })

  it('names no registry host in the lock file', () => {
    expect(readFileSync(fromRoot('package-lock.json'), 'utf8')).not.toContain('"resolved"')
  })
})
