import { describe, expect, it } from 'vitest'
import { type SourceFile, sourceFiles } from '../support/source-files.ts'

const shared = sourceFiles('shared')
const functions = sourceFiles('functions')

/** Imports that a rule forbids, as `file -> import`. */
const offences = (files: readonly SourceFile[], forbidden: (imported: string, file: SourceFile) => boolean): string[] =>
  files.flatMap((file) => file.imports.filter((name) => forbidden(name, file)).map((name) => `${file.path} -> ${name}`))

const below = (folder: string) => (file: SourceFile) => file.path.startsWith(`${folder}/`)
const domainOf = (path: string): string | undefined => /^shared\/([^/]+)\//.exec(path)?.[1]

describe('the arrows of the house', () => {
  it('finds imports in every form', () => {
    expect(functions.find(({ path }) => path === 'functions/gateway/app.ts')?.imports).toEqual(
      expect.arrayContaining(['hono', 'functions/gateway/routes/cloud.ts', 'shared/kernel/contract/unknown-route.ts']),
    )
    expect(functions.find(({ path }) => path === 'functions/cli/build.ts')?.imports).toContain('wrangler')
  })

  it('keeps shared/ free of hosts: no hono, no cloudflare:*, no node:*', () => {
    expect(offences(shared, (name) => /^(hono|cloudflare:|node:|miniflare|wrangler|vitest)/.test(name))).toEqual([])
  })

  it('keeps shared/ free of ambient time and randomness', () => {
    const ambient =
      /\b(Date\.now\(|new Date\(\)|Math\.random\(|crypto\.(randomUUID|getRandomValues)|performance\.now\()/
    const generated = /\.generated\.js$/
    const offenders = shared.filter(({ path, text }) => !generated.test(path) && ambient.test(withoutComments(text)))
    expect(offenders.map(({ path }) => path)).toEqual([])
  })

  it('lets a domain import the kernel and itself only', () => {
    // The client and the SQL pack read contracts and codecs of any domain; statements of the store know the kernel.
    const readers = new Set(['client', 'timeseries'])
    expect(
      offences(shared, (name, file) => {
        const [from, to] = [domainOf(file.path), domainOf(name)]
        return to !== undefined && to !== 'kernel' && to !== from && !(from && readers.has(from))
      }),
    ).toEqual([])
  })

  it('lets nothing in shared/ import functions/ or test/', () => {
    expect(offences(shared, (name) => /^(functions|test)\//.test(name))).toEqual([])
  })

  it('keeps gateway and sandbox apart', () => {
    const sandbox = functions.filter(below('functions/sandbox'))
    const others = functions.filter(({ path }) => /^functions\/(gateway|feed|relay|jobs)\//.test(path))
    expect(offences(sandbox, (name) => /^functions\/(gateway|feed|relay|jobs|cli)\//.test(name))).toEqual([])
    expect(offences(others, (name) => /^functions\/(sandbox|cli)\//.test(name))).toEqual([])
  })

  it('lets nothing but tests import test/', () => {
    expect(offences(functions, (name) => name.startsWith('test/'))).toEqual([])
  })

  it('lets only the command line ask where it runs', () => {
    const asks = /\b(isLocal|IS_LOCAL|NODE_ENV|process\.env)\b/
    const edge = [...shared, ...functions.filter(({ path }) => !path.startsWith('functions/cli/'))]
    expect(
      edge
        .filter(({ path, text }) => !/\.generated\./.test(path) && asks.test(withoutComments(text)))
        .map(({ path }) => path),
    ).toEqual([])
  })

  it('reaches Postgres through the one client, and that through the Neon driver', () => {
    const files = [...shared, ...functions]
    expect(
      offences(
        files,
        (name, { path }) => name === '@neondatabase/serverless' && !path.startsWith('shared/kernel/sql/'),
      ),
    ).toEqual([])
    expect(offences(files, (name, { path }) => name === 'pg' && !path.startsWith('functions/cli/database/'))).toEqual(
      [],
    )
  })

  it('has no import cycle', () => {
    expect(cycles([...shared, ...functions])).toEqual([])
  })
})

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '')

/** Cycles among runtime imports; a type-only import is no arrow at run time. */
function cycles(files: readonly SourceFile[]): string[] {
  const graph = new Map(files.map(({ path, text, imports }) => [path, imports.filter((name) => !typeOnly(text, name))]))
  const state = new Map<string, 'open' | 'done'>()
  const found: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (state.get(path) === 'open') found.push([...trail.slice(trail.indexOf(path)), path].join(' -> '))
    if (state.has(path)) return
    state.set(path, 'open')
    for (const next of graph.get(path) ?? []) if (graph.has(next)) visit(next, [...trail, path])
    state.set(path, 'done')
  }
  for (const path of graph.keys()) visit(path, [])
  return found
}

function typeOnly(text: string, imported: string): boolean {
  const file = imported.slice(imported.lastIndexOf('/') + 1).replaceAll('.', '\\.')
  return (
    new RegExp(`import type [^;]*?from '[^']*${file}'`).test(text) &&
    !new RegExp(`import (?!type )[^;']*?from '[^']*/${file}'`).test(text)
  )
}
