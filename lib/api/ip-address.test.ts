import { expect, test } from '@jest/globals';
import { firstHost } from './ip-address.ts';

test.each([
  ['10.96.0.0/12', '10.96.0.1'],
  ['10.96.0.128/25', '10.96.0.129'],
  ['10.96.7.9/16', '10.96.0.1'],
  ['10.255.255.254/31', '10.255.255.255'],
  ['fd00:10:96::/112', 'fd00:10:96::1'],
  ['10.0.0.1/32', undefined],
  ['none', undefined],
])('the first address in %s is %s', (cidr, address) => {
  expect(firstHost(cidr)).toBe(address);
});
