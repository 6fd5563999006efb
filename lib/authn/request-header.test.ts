import { describe, expect, test } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { createTestCa } from '../base/testing/certificates.ts';
import type { LeafRequest, TestCa } from '../base/testing/certificates.ts';
import type { ClientConnection } from './authenticator.ts';
import { CertificateBundle } from '../base/certificate-bundle.ts';
import { certificateProofs } from './certificate-proofs.ts';
import { requestHeaderAuthenticator } from './request-header.ts';
import { testConnection, testCredentials } from './testing/credentials.ts';

const { signal } = new AbortController();
const front = await createTestCa('front');
const users = await createTestCa('users');
const bundle = new CertificateBundle(front.cert);
const proofs = certificateProofs(() => bundle, Date.now);
const headers = {
  username: ['x-remote-user', 'x-second-user'],
  uid: ['x-remote-uid'],
  groups: ['x-remote-group', 'x-more-group'],
  extraPrefixes: ['x-remote-extra-', 'x-more-'],
};

async function connected(ca: TestCa = front, change: Partial<LeafRequest> = {}) {
  const { cert } = await ca.issue({ use: 'clientAuth', commonName: 'proxy', ...change });
  return testConnection({ certificate: new X509Certificate(cert) });
}
const connection = await connected();
const ofUsers = await connected(users);
const ofServer = await connected(front, { use: 'serverAuth' });
const expired = await connected(front, { notAfter: new Date(Date.now() - 1_000) });

const ask = (
  rawHeaders: readonly string[],
  { from = connection, allowedNames = [] as readonly string[] } = {},
) =>
  requestHeaderAuthenticator({ proofs, allowedNames, headers }).authenticate(
    testCredentials({ connection: from, rawHeaders }),
    signal,
  );
const fido = ['X-Remote-User', 'fido'];

describe('headers of a front proxy', () => {
  test.each<[rawHeaders: string[], user: object]>([
    [fido, { name: 'fido', uid: '', groups: [], extra: {} }],
    [['x-remote-USER', 'fido'], { name: 'fido' }],
    [['X-Second-User', 'second', ...fido], { name: 'fido' }],
    [['X-Remote-User', '', 'X-Second-User', 'second'], { name: 'second' }],
    [[...fido, 'X-Remote-User', 'other'], { name: 'fido' }],
    [[...fido, 'X-Remote-Uid', 'u'], { uid: 'u' }],
    [
      [...fido, 'X-More-Group', 'c', 'X-Remote-Group', 'a', 'x-remote-group', 'b, d'],
      { groups: ['a', 'b, d', 'c'] },
    ],
    [[...fido, 'X-Remote-Group', ''], { groups: [] }],
    [
      [...fido, 'X-Remote-Extra-Acme.com%2Fproject', 'P', 'x-remote-extra-acme.com%2fPROJECT', 'Q'],
      { extra: { 'acme.com/project': ['P', 'Q'] } },
    ],
    [[...fido, 'X-Remote-Extra-a%252Fb', 'v'], { extra: { 'a%2fb': ['v'] } }],
    [[...fido, 'X-Remote-Extra-a%zz', 'v'], { extra: { 'a%zz': ['v'] } }],
    [[...fido, 'X-More-a', 'v', 'X-Remote-Extra-a', 'w'], { extra: { a: ['v', 'w'] } }],
    [
      ['X-Remote-User', Buffer.from('jürgen').toString('latin1'), 'X-Remote-Group', 'é'],
      { name: 'jürgen' },
    ],
  ])('%j name a user', (rawHeaders, user) => {
    expect(ask(rawHeaders)).toMatchObject({ outcome: 'accepted', user });
  });

  test('name keys of extra as data: __proto__ too', () => {
    const answer = ask([...fido, 'X-Remote-Extra-__proto__', 'v']);
    const { extra } = (answer as { user: { extra: object } }).user;
    expect(Object.entries(extra)).toEqual([['__proto__', ['v']]]);
  });

  test('without a name of a user are no credentials', () => {
    expect(ask(['X-Remote-Group', 'system:masters'])).toEqual({ outcome: 'absent' });
  });
});

describe('who is believed', () => {
  test.each<[string, ClientConnection | undefined, string[], string]>([
    ['no connection', undefined, [], 'absent'],
    ['no certificate', testConnection(), [], 'absent'],
    ['any name of the CA', connection, [], 'accepted'],
    ['an allowed name', connection, ['other', 'proxy'], 'accepted'],
    ['another name', connection, ['other'], 'rejected'],
    ['a certificate of users', ofUsers, [], 'rejected'],
    ['one for servers', ofServer, [], 'rejected'],
    ['one that has expired', expired, [], 'rejected'],
  ])('%s', (_claim, from, allowedNames, outcome) => {
    const credentials = testCredentials({ connection: from, rawHeaders: fido });
    const authenticator = requestHeaderAuthenticator({ proofs, allowedNames, headers });
    expect(authenticator.authenticate(credentials, signal)).toMatchObject({ outcome });
  });
});
