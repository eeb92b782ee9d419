import { describe, expect, it } from 'vitest'
import { operations as clob } from '../../../shared/exchange/contract-clob.ts'
import { operations as data } from '../../../shared/exchange/contract-data.ts'
import { operations as gamma } from '../../../shared/exchange/contract-gamma.ts'
import { toOpenApi } from '../../../shared/kernel/contract/openapi.ts'
import type { Operation } from '../../../shared/kernel/contract/operation.ts'

const tables: readonly (readonly [string, Readonly<Record<string, Operation>>])[] = [
  ['clob', clob],
  ['gamma', gamma],
  ['data', data],
]

describe('the contracts of the exchange', () => {
  it('ask for markets:read, for orders:write where a credential of the venue is needed, and for admin where the answer is one', () => {
    for (const [, operations] of tables) {
      for (const [name, { auth, scope }] of Object.entries(operations)) {
        expect(scope, name).toBe(
          { none: 'markets:read', l2: 'orders:write', l1: 'admin' }[auth as 'none' | 'l1' | 'l2'],
        )
      }
    }
  })

  it('call every GET a read and the creation of a key a create', () => {
    for (const [, operations] of tables) {
      for (const [name, { method, kind }] of Object.entries(operations)) {
        expect(kind, name).toBe(method === 'GET' ? 'read' : 'create')
      }
    }
  })

  it('ask for L1 to create and derive a key, for L2 to list keys, for nothing else', () => {
    const withAuth = Object.entries(clob).filter(([, { auth }]) => auth !== 'none')
    expect(Object.fromEntries(withAuth.map(([name, { auth }]) => [name, auth]))).toEqual({
      createApiKey: 'l1',
      deriveApiKey: 'l1',
      getApiKeys: 'l2',
    })
  })

  it('describe themselves in OpenAPI', () => {
    const mounts = tables.map(([tag, operations]) => ({ prefix: `/${tag}`, tag, operations }))
    const document = toOpenApi({ title: 'x', version: '1', description: 'x' }, mounts) as {
      paths: Record<string, unknown>
      components: { schemas: Record<string, unknown> }
    }
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining(['/clob', '/clob/book', '/gamma/markets', '/data']),
    )
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(['ApiKeyCredentials', 'OrderBookSummary', 'MetadataMarket']),
    )
  })
})
