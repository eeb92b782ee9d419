import { splitStatements } from '../../../../shared/kernel/sql/split.ts'
import { embeddedName } from '../names.ts'
import { queryFrame } from '../wire/frames.ts'
import type { EngineChannel, Exchange } from './engine-channel.ts'
import type { SessionMemory, TemporaryRelation } from './session-memory.ts'

// All clients share one backend process of the engine. These statements take what one has set out of it, and put what
// another has set back in. Names are qualified: a client's search_path is still in force when some of them run.

/** The engine did not do what keeps clients apart; it is not to be used further. */
export class HandoverError extends Error {
  override readonly name = 'HandoverError'
}

export const quoteLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`
export const quoteName = (text: string): string => `"${text.replaceAll('"', '""')}"`

export async function run(channel: EngineChannel, ...statements: readonly string[]): Promise<Exchange> {
  const outcome = await channel.exchange(queryFrame(statements.join(';')))
  if (outcome.error) throw new HandoverError(`${outcome.error.message} (${outcome.error.code})`)
  return outcome
}

/** Parameters that are none of the session's, or that cannot be set back. */
const notSettable = ['transaction_isolation', 'transaction_read_only', 'transaction_deferrable', 'seed']

/** Reads what a session has set, in whatever way: SET, set_config, a function. */
export async function captureSettings(channel: EngineChannel, memory: SessionMemory): Promise<void> {
  const custom = [...memory.customNames].map(quoteLiteral).join(',')
  memory.settingsTouched = false
  const { results } = await run(
    channel,
    `select name, pg_catalog.current_setting(name) from pg_catalog.pg_settings where source = 'session' and name not in (${notSettable.map(quoteLiteral).join(',')})`,
    `select pg_catalog.current_setting('role'), session_user::pg_catalog.text`,
    `select name, pg_catalog.current_setting(name, true) from pg_catalog.unnest(array[${custom}]::pg_catalog.text[]) name`,
  )
  const [settings = [], [identity] = [], customs = []] = results
  memory.settings = new Map()
  for (const [name, value] of [...settings, ...customs]) {
    // A custom parameter that was reset reads as an empty text.
    if (name && value !== null && value !== undefined && !(value === '' && name.includes('.')))
      memory.settings.set(name, value)
  }
  const [role, user] = identity ?? []
  memory.role = role && role !== 'none' ? role : undefined
  memory.sessionUser = user && user !== embeddedName ? user : undefined
}

// A single-user engine has no session authorization to go back to: RESET of it does nothing, so it is named.
export const resetIdentity = `set session authorization ${quoteName(embeddedName)}`
export const resetSettings = `${resetIdentity};reset all`

/** Statements that set what a session has set; the identity last, since it may not be allowed the rest. */
export function restoreStatements({ settings, role, sessionUser, prepared }: SessionMemory): string[] {
  const statements: string[] = []
  if (settings.size > 0) statements.push(setStatement(settings))
  statements.push(...prepared.map(({ text }) => text))
  if (sessionUser !== undefined) statements.push(`set session authorization ${quoteName(sessionUser)}`)
  if (role !== undefined) statements.push(`set role ${quoteName(role)}`)
  return statements
}

export const setStatement = (settings: ReadonlyMap<string, string>): string =>
  `select ${[...settings].map(([name, value]) => `pg_catalog.set_config(${quoteLiteral(name)},${quoteLiteral(value)},false)`).join(',')}`

/** What stands in the engine that belongs to a session, not to the database. */
export type Leftovers = {
  readonly relations: readonly TemporaryRelation[]
  readonly cursors: readonly string[]
  readonly prepared: readonly { readonly name: string; readonly text: string }[]
}

export async function inspect(channel: EngineChannel): Promise<Leftovers> {
  const { results } = await run(
    channel,
    `select oid, relname, relkind from pg_catalog.pg_class where relnamespace = pg_catalog.pg_my_temp_schema() order by oid`,
    `select name from pg_catalog.pg_cursors where is_holdable`,
  )
  const [relations = [], cursors = []] = results
  const { bySql } = await readPrepared(channel)
  return {
    relations: relations.map(([oid, name, kind]) => ({ oid: String(oid), name: String(name), kind: String(kind) })),
    cursors: cursors.map(([name]) => String(name)),
    prepared: bySql,
  }
}

/** Names of statements of the extended protocol, and statements of SQL's PREPARE. */
export async function readPrepared(
  channel: EngineChannel,
): Promise<{ readonly byProtocol: string[]; readonly bySql: { name: string; text: string }[] }> {
  const { results } = await run(channel, 'select name, from_sql, statement from pg_catalog.pg_prepared_statements')
  const byProtocol: string[] = []
  const bySql: { name: string; text: string }[] = []
  for (const [name, fromSql, script] of results[0] ?? []) {
    if (fromSql !== 't') {
      byProtocol.push(String(name))
      continue
    }
    const text = prepareStatement(String(name), String(script))
    if (text !== undefined) bySql.push({ name: String(name), text })
  }
  return { byProtocol, bySql }
}

/** The engine keeps the whole text that came with a PREPARE; the statement itself is wanted. */
function prepareStatement(name: string, script: string): string | undefined {
  return splitStatements(script).find((statement) => {
    const found = /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)*prepare\s+(?:"((?:[^"]|"")*)"|([^\s("]+))/i.exec(statement)
    const [, quoted, plain] = found ?? []
    return quoted === undefined ? plain?.toLowerCase() === name : quoted.replaceAll('""', '"') === name
  })
}

/** The name a temporary relation has while its session is not the one at work: out of the way of all others. */
const hiddenName = ({ oid }: TemporaryRelation): string => `~${oid}`

const rename = (kind: string, from: string, to: string): string =>
  `alter ${kind === 'c' ? 'type' : 'table'} pg_temp.${quoteName(from)} rename to ${quoteName(to)}`

export const hideStatements = (relations: readonly TemporaryRelation[]): string[] =>
  relations.map((relation) => rename(relation.kind, relation.name, hiddenName(relation)))

export const showStatements = (relations: readonly TemporaryRelation[]): string[] =>
  relations.map((relation) => rename(relation.kind, hiddenName(relation), relation.name))

const dropVerbs: Readonly<Record<string, string>> = { r: 'table', p: 'table', v: 'view', S: 'sequence', c: 'type' }

/** @param hidden whether they have the names of {@link hideStatements} */
export const dropStatements = (relations: readonly TemporaryRelation[], hidden: boolean): string[] =>
  relations.flatMap((relation) => {
    const verb = dropVerbs[relation.kind] // indexes go with their tables
    const name = quoteName(hidden ? hiddenName(relation) : relation.name)
    return verb === undefined ? [] : [`drop ${verb} if exists pg_temp.${name} cascade`]
  })

/** Takes all that a session can leave behind. Only when no other session has left anything that stays. */
export const wipeStatements = `close all;unlisten *;${resetSettings};discard temp;select pg_catalog.pg_advisory_unlock_all()`
