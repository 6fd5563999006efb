import { expect, test } from '@jest/globals';
import { namingProfile } from '../../api/vendor.ts';
import { createTestCa } from '../../base/testing/certificates.ts';
import { secretWarnings } from './tls-secret.ts';

const naming = namingProfile('svc');
const ca = await createTestCa();
const one = await ca.issue({ use: 'serverAuth', commonName: 'one' });
const other = await ca.issue({ use: 'serverAuth', commonName: 'other' });
const request = '-----BEGIN CERTIFICATE REQUEST-----\neA==\n-----END CERTIFICATE REQUEST-----\n';
const broken = '-----BEGIN PRIVATE KEY-----\neA==\n-----END PRIVATE KEY-----\n';

const told = (cert: string, key: string, type = 'svc.io/tls'): readonly string[] => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const object = { type, data: { 'tls.crt': base64(cert), 'tls.key': base64(key) } };
  return secretWarnings({ object, old: undefined, naming, subresource: '', apiVersion: 'v1' });
};

test('a pair is nothing to speak of, and neither is another type', () => {
  expect(told(`${one.cert}${ca.cert}`, one.key)).toEqual([]);
  expect(told('x', 'y', 'Opaque')).toEqual([]);
});

test.each([
  ['no certificate', 'x', one.key, 'tls: failed to find any PEM data in certificate input'],
  ['switched inputs', one.key, one.cert, /did find a private key; PEM inputs may have been switch/],
  ['another block', request, one.key, /skipping .* following types: \[CERTIFICATE REQUEST\]$/],
  ['no key', one.cert, '', 'tls: failed to find any PEM data in key input'],
  ['two certificates', one.cert, ca.cert, /found a certificate rather than a key in the PEM/],
  ['a broken key', one.cert, broken, 'tls: failed to parse private key'],
  ['the key of another', one.cert, other.key, 'tls: private key does not match public key'],
])('%s', (_what, cert, key, text) => {
  const matching = typeof text === 'string' ? text : expect.stringMatching(text);
  expect(told(cert, key)).toEqual([matching]);
});
