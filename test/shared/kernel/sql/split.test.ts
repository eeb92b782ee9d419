import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitStatements, UnterminatedSqlError } from '../../../../shared/kernel/sql/split.ts'

describe('splitStatements', () => {
  it.each<[rule: string, script: string, statements: string[]]>([
    ['ends a statement at a semicolon', 'select 1; select 2', ['select 1', 'select 2']],
    ['takes a last statement without one', 'select 1', ['select 1']],
    ['gives nothing for blanks, comments and bare semicolons', ' ;; -- a; b\n /* c; */ ;', []],
    ['keeps a semicolon in a string', `select 'a;b'; select 2`, [`select 'a;b'`, 'select 2']],
    ['takes a doubled quote as part of a string', `select 'it''s;'; select 2`, [`select 'it''s;'`, 'select 2']],
    ['takes a backslash in a plain string as a character', `select 'a\\'; select 2`, [`select 'a\\'`, 'select 2']],
    ['takes a backslash in an E string as an escape', `select E'a\\';b'; select 2`, [`select E'a\\';b'`, 'select 2']],
    [
      'knows a name that ends in e before a string',
      `select date'2020-01-01'; select 2`,
      [`select date'2020-01-01'`, 'select 2'],
    ],
    ['keeps a semicolon in a quoted name', `select 1 as "a;""b"; select 2`, [`select 1 as "a;""b"`, 'select 2']],
    ['keeps a semicolon in a line comment', 'select 1 -- a; b\n+ 1; select 2', ['select 1 -- a; b\n+ 1', 'select 2']],
    ['keeps a semicolon in a comment', 'select /* ; */ 1; select 2', ['select /* ; */ 1', 'select 2']],
    ['lets comments nest', 'select /* /* ; */ ; */ 1; select 2', ['select /* /* ; */ ; */ 1', 'select 2']],
    ['takes a quote in a comment for nothing', `select 1 /* it's */; select 2`, [`select 1 /* it's */`, 'select 2']],
    ['keeps the comment before a statement', '-- why\nselect 1;', ['-- why\nselect 1']],
    ['keeps a semicolon in a dollar string', 'do $$ begin; end $$; select 2', ['do $$ begin; end $$', 'select 2']],
    ['tells dollar tags apart', 'do $a$ $b$ ; $$ ; $a$; select 2', ['do $a$ $b$ ; $$ ; $a$', 'select 2']],
    ['takes $1 for a parameter', 'select $1; select $2', ['select $1', 'select $2']],
    [
      'takes a dollar in a name for part of it',
      'select a$b$ from t; select c$b$',
      ['select a$b$ from t', 'select c$b$'],
    ],
    [
      'keeps semicolons in parentheses',
      'create rule r as on insert to t do also (select 1; select 2); select 3',
      ['create rule r as on insert to t do also (select 1; select 2)', 'select 3'],
    ],
    [
      'keeps a BEGIN ATOMIC body whole',
      'create function f() returns int begin atomic select 1; select 2; end; select 3',
      ['create function f() returns int begin atomic select 1; select 2; end', 'select 3'],
    ],
    [
      'counts CASE ... END inside a body',
      'create or replace procedure p() begin atomic select case when true then 1 end; select 2; END; select 3',
      ['create or replace procedure p() begin atomic select case when true then 1 end; select 2; END', 'select 3'],
    ],
    [
      'takes BEGIN outside a routine for a statement',
      'begin; select case when true then 1 end; end; select 2',
      ['begin', 'select case when true then 1 end', 'end', 'select 2'],
    ],
    [
      'takes a default with CASE in a routine header for what it is',
      `create function f(a int default (case when true then 1 end)) returns int language sql return a; select 2`,
      ['create function f(a int default (case when true then 1 end)) returns int language sql return a', 'select 2'],
    ],
    [
      'takes letters outside ASCII as parts of names',
      'select 1 as straße$x$; select 2',
      ['select 1 as straße$x$', 'select 2'],
    ],
  ])('%s', (_, script, statements) => {
    expect(splitStatements(script)).toEqual(statements)
  })

  it.each([
    ['a string', `select 1;\nselect 'abc; select 2`, 2],
    ['a string', `select E'abc\\'; select 2`, 1],
    ['a quoted name', 'select "abc', 1],
    ['a comment', 'select 1;\n\n/* a /* b */', 3],
    ['the $x$ string', 'do $x$ begin; end $$', 1],
    ['a parenthesis', 'select (1;\nselect 2', 1],
    ['a routine body', 'create function f() returns int begin atomic select 1;', 1],
  ])('names what is open: %s', (what, script, line) => {
    expect(() => splitStatements(script)).toThrow(UnterminatedSqlError)
    expect(() => splitStatements(script)).toThrow(`inside ${what} that begins on line ${line}`)
  })

  it('takes a string of many megabytes', () => {
    const long = `select '${"x''\\;".repeat(1_000_000)}'`
    expect(splitStatements(`${long}; select 2`)).toEqual([long, 'select 2'])
  })

  it('gives back what was joined, whatever the statements hold', () => {
    const quoted = fc.string().map((text) => `'${text.replaceAll("'", "''")}'`)
    const dollars = fc
      .string()
      .filter((text) => !text.includes('$'))
      .map((text) => `$q$${text}$q$`)
    const names = fc.string().map((text) => `"${text.replaceAll('"', '""')}"`)
    const comments = fc
      .string()
      .filter((text) => !/[*/]/.test(text))
      .map((text) => `/*${text}*/`)
    const statement = fc
      .array(fc.oneof(quoted, dollars, names, comments, fc.constantFrom('select', '1', '+', '(a; b)')), {
        minLength: 1,
      })
      .map((parts) => `select ${parts.join(' ')} x`)
    fc.assert(
      fc.property(fc.array(statement), (statements) => {
        expect(splitStatements(statements.join(';\n'))).toEqual(statements)
      }),
    )
  })
})
