import { describe, expect, it } from 'vitest'
import { operationMatcher } from '../../../../shared/kernel/contract/match.ts'
import { defineOperations, type Method } from '../../../../shared/kernel/contract/operation.ts'

const operation = <P extends `/${string}`>(method: Method, path: P) =>
  ({ method, path, auth: 'none', kind: 'read', summary: '', response: { 200: null } }) as const

const match = operationMatcher(
  defineOperations({
    root: operation('GET', '/'),
    list: operation('GET', '/projects/{project_id}/services'),
    create: operation('POST', '/projects/{project_id}/services'),
    one: operation('GET', '/projects/{project_id}/services/{service_id}'),
    special: operation('GET', '/projects/{project_id}/services/special'),
  }),
)

const found = (method: string, path: string) => {
  const result = match(method, path)
  return typeof result === 'object' ? [result.name, result.params] : result
}

describe('operationMatcher', () => {
  it('finds the operation and its parameters, undecoded', () => {
    expect(found('GET', '/')).toEqual(['root', {}])
    expect(found('POST', '/projects/p%201/services')).toEqual(['create', { project_id: 'p%201' }])
    expect(found('GET', '/projects/p/services/s')).toEqual(['one', { project_id: 'p', service_id: 's' }])
  })

  it('prefers a literal segment', () => {
    expect(found('GET', '/projects/p/services/special')).toEqual(['special', { project_id: 'p' }])
  })

  it('matches HEAD as GET', () => {
    expect(found('HEAD', '/projects/p/services')).toEqual(['list', { project_id: 'p' }])
  })

  it('tells a wrong method from an unknown path', () => {
    expect(found('DELETE', '/projects/p/services')).toBe('other-method')
    expect(found('GET', '/projects')).toBeUndefined()
    expect(found('GET', '/projects//services')).toBeUndefined()
    expect(found('GET', '/projects/p/services/')).toBeUndefined()
    expect(found('GET', '/__proto__/constructor')).toBeUndefined()
  })

  it('refuses a table that calls one parameter by two names', () => {
    expect(() => operationMatcher({ a: operation('GET', '/x/{a}'), b: operation('GET', '/x/{b}/y') })).toThrow(
      'is called {a}',
    )
  })
})
