import { describe, expect, test } from '@jest/globals';
import {
  canonicalCidrProblems,
  canonicalIpProblems,
  cidrProblems,
  cidrWarnings,
  ipProblems,
  ipWarnings,
} from './address-formats.ts';

const future = 'will be considered invalid in a future Kubernetes release';

describe('an address', () => {
  test.each([
    ['10.0.0.1', []],
    ['2001:DB8::1', []],
    ['', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    ['fe80::1%eth0', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    ['10.0.00.010', ['must not have leading 0s']],
    ['::ffff:10.0.0.1', ['must not be an IPv4-mapped IPv6 address']],
  ])('%j', (text, problems) => {
    expect(ipProblems(text)).toEqual(problems);
  });
  test('in canonical form', () => {
    expect(canonicalIpProblems('2001:db8::1')).toEqual([]);
    expect(canonicalIpProblems('2001:DB8::1')).toEqual([
      'must be in canonical form ("2001:db8::1")',
    ]);
    expect(canonicalIpProblems('::ffff:10.0.0.1')).toHaveLength(1);
  });
  test.each<[string, readonly string[]]>([
    ['10.0.0.1', []],
    ['x', []],
    [
      '2001:DB8::1',
      ['f: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")'],
    ],
    ['010.0.0.1', [`f: non-standard IP address "010.0.0.1" ${future}: use "10.0.0.1"`]],
    ['::ffff:10.0.0.1', [`f: non-standard IP address "::ffff:10.0.0.1" ${future}: use "10.0.0.1"`]],
  ])('%j is unusual', (text, warnings) => {
    expect(ipWarnings('f', text)).toEqual(warnings);
  });
});

describe('a network', () => {
  test.each([
    ['10.0.0.0/8', []],
    ['2001:DB8::/64', []],
    ['10.0.0.0', ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
    ['10.0.0.0/8/8', ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
    ['10.0.0.0/08', ['must not have leading 0s in IP or prefix length']],
    ['010.0.0.0/8', ['must not have leading 0s in IP or prefix length']],
    ['10.0.0.1/8', ['must not have bits set beyond the prefix length']],
    ['::ffff:10.0.0.0/8', ['must not have an IPv4-mapped IPv6 address']],
  ])('%j', (text, problems) => {
    expect(cidrProblems(text)).toEqual(problems);
  });
  test('in canonical form', () => {
    expect(canonicalCidrProblems('2001:db8::/64')).toEqual([]);
    expect(canonicalCidrProblems('2001:DB8::/64')).toEqual([
      'must be in canonical form ("2001:db8::/64")',
    ]);
  });
  test('is unusual', () => {
    expect(cidrWarnings('f', 'x')).toEqual([]);
    expect(cidrWarnings('f', '10.0.0.0/8')).toEqual([]);
    expect(cidrWarnings('f', '2001:DB8::/64')).toEqual([
      'f: IPv6 CIDR value "2001:DB8::/64" should be in RFC 5952 canonical format ("2001:db8::/64")',
    ]);
  });
});
