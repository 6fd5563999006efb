import { expect, test } from '@jest/globals';
import type { X509Certificate } from 'node:crypto';
import { clientCertificateAuthenticator } from './client-cert.ts';
import { testConnection, testCredentials } from './testing/credentials.ts';

const signal = new AbortController().signal;
const clientAuth = '1.3.6.1.5.5.7.3.2';
const certificate = (
  subject: object,
  keyUsage: readonly string[] = [clientAuth],
): X509Certificate =>
  ({
    keyUsage,
    validToDate: new Date(1_000),
    toLegacyObject: () => ({ subject }),
  }) as unknown as X509Certificate;

test.each([
  [certificate({ CN: 'a' }), { outcome: 'accepted', user: { name: 'a', groups: [] } }],
  [certificate({ CN: 'a', O: 'g' }), { user: { groups: ['g'] } }],
  [certificate({ CN: 'a', O: ['g', 'h'] }), { user: { groups: ['g', 'h'] } }],
  [certificate({ CN: ['a', 'b'] }), { user: { name: 'b' } }],
  [certificate({ CN: 'a' }, []), { outcome: 'accepted' }],
  [certificate({ CN: 'a' }, ['2.5.29.37.0']), { outcome: 'accepted' }],
  [certificate({ CN: 'a' }, ['1.3.6.1.5.5.7.3.1']), { outcome: 'rejected' }],
  [certificate({ O: 'g' }), { outcome: 'rejected' }],
  [certificate({ CN: '' }), { outcome: 'rejected' }],
])('a certificate gives a user, or is rejected (%#)', (given, expected) => {
  const authenticator = clientCertificateAuthenticator(() => 0);
  const credentials = testCredentials({ connection: testConnection({ certificate: given }) });
  expect(authenticator.authenticate(credentials, signal)).toMatchObject(expected);
});

test('a connection that outlives its certificate loses its user', () => {
  let now = 1_000;
  const authenticator = clientCertificateAuthenticator(() => now);
  const connection = testConnection({ certificate: certificate({ CN: 'a' }) });
  const credentials = testCredentials({ connection });
  const ask = () => authenticator.authenticate(credentials, signal);
  expect(ask()).toMatchObject({ outcome: 'accepted' });
  now = 1_001;
  expect(ask()).toMatchObject({ outcome: 'rejected', reason: expect.stringContaining('expired') });
});

test('it tells for how long a certificate that it accepts is still good', () => {
  const told: number[] = [];
  const authenticator = clientCertificateAuthenticator(
    () => 400,
    (remainingMs) => told.push(remainingMs),
  );
  for (const subject of [{ CN: 'a' }, { O: 'g' }, { CN: 'b' }]) {
    const connection = testConnection({ certificate: certificate(subject) });
    void authenticator.authenticate(testCredentials({ connection }), signal);
  }
  expect(told).toEqual([600, 600]);
});

test.each([
  ['no connection', undefined, 'absent'],
  ['no certificate', testConnection(), 'absent'],
  [
    'one that TLS could not verify',
    testConnection({ certificate: certificate({ CN: 'a' }), isVerified: false }),
    'rejected',
  ],
])('%s', (_name, connection, outcome) => {
  const authenticator = clientCertificateAuthenticator(() => 0);
  const credentials = testCredentials({ connection });
  expect(authenticator.authenticate(credentials, signal)).toMatchObject({ outcome });
});
