import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fromRoot } from '../../functions/cli/root.ts'

export type SourceFile = { readonly path: string; readonly text: string; readonly imports: readonly string[] }

/** Every TypeScript file below some folders of the checkout, with what it imports: paths from the root, or package names. */
export function sourceFiles(...folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(fromRoot(folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.m?[jt]s$/.test(entry.name))
      .map((entry) => {
        const full = join(entry.parentPath, entry.name)
        const text = readFileSync(full, 'utf8')
        return { path: relative(fromRoot('.'), full), text, imports: importsOf(text, full) }
      }),
  )
}

const importForms =
  /(?:^|\n)\s*(?:import|export)\s[^'"\n]*?(?:\n[^'"]*?)?from\s+['"]([^'"]+)['"]|(?:^|\n)\s*import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g

function importsOf(text: string, file: string): string[] {
  return [...text.matchAll(importForms)].map(([, from, bare, dynamic]) => {
    const name = (from ?? bare ?? dynamic) as string
    return name.startsWith('.') ? relative(fromRoot('.'), resolve(dirname(file), name)) : name
  })
}
