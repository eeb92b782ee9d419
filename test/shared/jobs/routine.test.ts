import { describe, expect, it } from 'vitest'
import { formatRoutine, parseRoutine, quoteLiteral, quoteRoutine } from '../../../shared/jobs/routine.ts'

describe('parseRoutine', () => {
  it.each([
    ['public.my_job', { schema: 'public', name: 'my_job' }],
    ['Public.My_Job', { schema: 'public', name: 'my_job' }],
    ['"My Schema"."a""b"', { schema: 'My Schema', name: 'a"b' }],
    ['public."x.y"', { schema: 'public', name: 'x.y' }],
  ])('reads %s', (text, routine) => {
    expect(parseRoutine(text)).toEqual(routine)
  })

  it.each([
    'my_job',
    'a.b.c',
    'public.my_job()',
    'public.my_job; drop table x',
    '"".x',
    '.x',
    'x.',
    'a b.c',
    `public.${'x'.repeat(64)}`,
  ])('refuses %s', (text) => {
    expect(parseRoutine(text)).toBeUndefined()
  })
})

describe('quoteRoutine', () => {
  it('leaves no way out of the quotes', () => {
    expect(quoteRoutine({ schema: 'a', name: 'b"; drop table x; --' })).toBe('"a"."b""; drop table x; --"')
  })
})

describe('quoteLiteral', () => {
  it.each([
    ["it's", "'it''s'"],
    ["a\\' ; --", " E'a\\\\'' ; --'"],
  ])('leaves no way out of the quotes of %j', (text, literal) => {
    expect(quoteLiteral(text)).toBe(literal)
  })
})

describe('formatRoutine', () => {
  it.each(['public.my_job', '"My Schema"."a""b"'])('gives back %s', (text) => {
    const routine = parseRoutine(text)
    expect(routine && formatRoutine(routine)).toBe(text)
  })
})
