import { describe, expect, it } from 'vitest'
import { isInRanges } from '../../../shared/managed-service/address.ts'

describe('isInRanges', () => {
  it.each([
    ['10.4.4.4', '10.0.0.0/8'],
    ['10.255.255.255', '10.0.0.0/8'],
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7', '192.0.2.7/32'],
    ['192.0.2.7', '192.0.2.6/31'],
    ['203.0.113.9', '0.0.0.0/0'],
    ['::ffff:10.4.4.4', '10.0.0.0/8'],
    ['10.4.4.4', '::ffff:10.0.0.0/104'],
    ['2001:db8::1', '2001:db8::/32'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8:8000::', '2001:db8:8000::/33'],
    ['::1', '::/0'],
  ])('%s is in %s', (address, range) => {
    expect(isInRanges(address, [range])).toBe(true)
    expect(isInRanges(address, ['198.51.100.0/24', range])).toBe(true)
  })

  it.each([
    ['192.0.2.1', '10.0.0.0/8'],
    ['11.0.0.0', '10.0.0.0/8'],
    ['192.0.2.8', '192.0.2.6/31'],
    ['2001:db9::', '2001:db8::/32'],
    ['2001:db8::', '2001:db8:8000::/33'],
    ['203.0.113.9', '::/0'],
    ['::1', '0.0.0.0/0'],
  ])('%s is NOT in %s', (address, range) => {
    expect(isInRanges(address, [range])).toBe(false)
  })

  it.each([
    '',
    '10.4.4',
    '10.4.4.4.4',
    '010.4.4.4',
    '10.4.4.256',
    '10.4.4.-1',
    '1:2:3',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8:9',
    'fe80::1%eth0',
    'x',
    '12345::',
    '::1.2.3',
    '1.2.3.4::',
  ])('the address %j is in nothing', (address) => {
    expect(isInRanges(address, ['0.0.0.0/0', '::/0'])).toBe(false)
  })

  it.each(['', '/8', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/8/8', '10.0.0.0/8x', '::/129', 'everything'])(
    'the range %j holds nothing',
    (range) => {
      expect(isInRanges('10.0.0.0', [range])).toBe(false)
      expect(isInRanges('::', [range])).toBe(false)
    },
  )

  it('an empty list holds nothing', () => {
    expect(isInRanges('10.4.4.4', [])).toBe(false)
  })
})
