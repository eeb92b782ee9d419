import { describe, expect, it } from 'vitest'
import { sourceFiles } from '../support/source-files.ts'

describe('error codes', () => {
  const codes = sourceFiles('shared', 'functions').flatMap(({ path, text }) =>
    [...text.matchAll(/\breadonly code = '([^']+)'/g)].map(([, code]) => ({ code: code as string, path })),
  )

  it('have the form area.reason', () => {
    expect(codes.length).toBeGreaterThan(10)
    expect(codes.filter(({ code }) => !/^[a-z_]+\.[a-z0-9_]+$/.test(code))).toEqual([])
  })

  it('are each thrown by one class', () => {
    const seen = new Map<string, string[]>()
    for (const { code, path } of codes) seen.set(code, [...(seen.get(code) ?? []), path])
    expect([...seen].filter(([, paths]) => paths.length > 1)).toEqual([])
  })
})
