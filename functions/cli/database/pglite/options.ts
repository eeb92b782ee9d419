import { fatalError } from '../sql-error.ts'

/**
 * Parameters in the `options` of a start-up, such as `-c search_path=a --work-mem=1MB`: words apart by blanks, a
 * backslash takes the next character as it is.
 *
 * @throws {SqlError} an option that sets no parameter
 */
export function parseOptions(options: string): Map<string, string> {
  const words = (options.match(/(?:\\[\s\S]|[^\s\\])+/g) ?? []).map((word) => word.replace(/\\([\s\S])/g, '$1'))
  const settings = new Map<string, string>()
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string
    const assignment = word === '-c' ? words[++index] : (/^(?:-c|--)(.+)$/s.exec(word)?.[1] ?? undefined)
    const found = /^([^=]+)=(.*)$/s.exec(assignment ?? '')
    if (!found) throw fatalError('42601', `invalid command-line argument for server process: ${word}`)
    const [, name = '', value = ''] = found
    settings.set(name.replaceAll('-', '_').toLowerCase(), value)
  }
  return settings
}
