import { describe, expect, test } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { namingProfile } from '../api/vendor.ts';
import { createTestCa } from '../base/testing/certificates.ts';
import type { LeafRequest } from '../base/testing/certificates.ts';
import type { ClientConnection } from './authenticator.ts';
import { CertificateBundle } from '../base/certificate-bundle.ts';
import { certificateProofs } from './certificate-proofs.ts';
import { clientCertificateAuthenticator } from './client-cert.ts';
import { testConnection, testCredentials } from './testing/credentials.ts';

const { signal } = new AbortController();
const ca = await createTestCa();
const other = await createTestCa('other');
const bundle = new CertificateBundle(`${ca.cert}${other.cert}`);
const uidAttribute = '1.3.6.1.4.1.57683.2';

async function connected(
  request: Partial<LeafRequest>,
  issuer = ca,
): Promise<ClientConnection & { readonly certificate: X509Certificate }> {
  const { cert } = await issuer.issue({ use: 'clientAuth', commonName: 'a', ...request });
  const certificate = new X509Certificate(cert);
  return { ...testConnection(), certificate };
}

const authenticator = ({ hasUid = true, nowMs = () => Date.now(), by = () => bundle } = {}) =>
  clientCertificateAuthenticator({
    proofs: certificateProofs(by, nowMs),
    naming: namingProfile('svc'),
    hasUid,
    nowMs,
  });

const ask = (connection: ClientConnection | undefined, of = authenticator()) =>
  of.authenticate(testCredentials({ connection }), signal);

describe('a client certificate', () => {
  test.each<[Partial<LeafRequest>, object]>([
    [{}, { outcome: 'accepted', user: { name: 'a', uid: '', groups: [] } }],
    [{ organizations: ['g'] }, { user: { groups: ['g'] } }],
    [{ subject: [{ O: 'h' }, { O: 'g' }, { CN: 'a' }] }, { user: { groups: ['h', 'g'] } }],
    [{ subject: [{ CN: 'a' }, { CN: 'b' }] }, { user: { name: 'b' } }],
    [
      { subject: [{ CN: 'jürgen' }, { O: 'größe' }] },
      { user: { name: 'jürgen', groups: ['größe'] } },
    ],
    [{ use: 'any' }, { outcome: 'accepted' }],
    [{ use: 'serverAuth' }, { outcome: 'rejected', reason: expect.stringContaining('not meant') }],
    [{ subject: [{ O: 'g' }] }, { outcome: 'rejected', reason: expect.stringContaining('name') }],
    [{ subject: [{ CN: '' }] }, { outcome: 'rejected' }],
    [{ subject: [{ CN: 'a' }, { [uidAttribute]: 'u' }] }, { user: { name: 'a', uid: 'u' } }],
    [{ subject: [{ CN: 'a' }, { [uidAttribute]: '' }] }, { outcome: 'rejected' }],
    [
      { subject: [{ CN: 'a' }, { [uidAttribute]: 'u' }, { [uidAttribute]: 'v' }] },
      { outcome: 'rejected', reason: expect.stringContaining('several uids') },
    ],
  ])('with %j gives a user, or is rejected', async (request, expected) => {
    expect(ask(await connected(request))).toMatchObject(expected);
  });

  test('a uid is read with its gate on alone', async () => {
    const subject = [{ CN: 'a' }, { [uidAttribute]: 'u' }];
    const off = authenticator({ hasUid: false });
    expect(ask(await connected({ subject }), off)).toMatchObject({ user: { uid: '' } });
  });

  test('is named in the extra of its user by its SHA-256', async () => {
    const connection = await connected({});
    const hex = connection.certificate.fingerprint256.replaceAll(':', '').toLowerCase();
    expect(ask(connection)).toMatchObject({
      user: { extra: { 'authentication.svc.io/credential-id': [`X509SHA256=${hex}`] } },
    });
  });

  test('of any CA of the bundle is good, one of another CA is not', async () => {
    expect(ask(await connected({}, other))).toMatchObject({ outcome: 'accepted' });
    const stranger = await createTestCa('other');
    expect(ask(await connected({}, stranger))).toMatchObject({
      outcome: 'rejected',
      reason: expect.stringContaining('no certificate authority'),
    });
  });
});

test.each([
  ['no connection', undefined],
  ['no certificate', testConnection()],
])('%s is absent', (_name, connection) => {
  expect(ask(connection)).toEqual({ outcome: 'absent' });
});

describe('a connection', () => {
  test('that outlives its certificate loses its user, one that is early gets it', async () => {
    const [notBefore, notAfter] = [new Date(10_000), new Date(20_000)];
    const old = await createTestCa('old', { notBefore: new Date(1_000), notAfter });
    let now = 9_999;
    const by = new CertificateBundle(old.cert);
    const of = authenticator({ nowMs: () => now, by: () => by });
    const connection = await connected({ notBefore, notAfter }, old);
    const seen = [9_999, 10_000, 20_000, 20_001].map((at) => {
      now = at;
      return ask(connection, of);
    });
    expect(seen).toMatchObject([
      { outcome: 'rejected', reason: 'the certificate is not valid yet' },
      { outcome: 'accepted' },
      { outcome: 'accepted' },
      { outcome: 'rejected', reason: 'the certificate has expired' },
    ]);
  });

  test('is judged by the bundle in force, whenever it was opened', async () => {
    let by = new CertificateBundle(ca.cert);
    const of = authenticator({ by: () => by });
    const [first, second] = [await connected({}), await connected({}, other)];
    const outcomes = () => [first, second].map((connection) => ask(connection, of));
    expect(outcomes()).toMatchObject([{ outcome: 'accepted' }, { outcome: 'rejected' }]);
    by = new CertificateBundle(other.cert);
    expect(outcomes()).toMatchObject([{ outcome: 'rejected' }, { outcome: 'accepted' }]);
  });

  test('is judged once while nothing changes', async () => {
    let count = 0;
    const counting = new CertificateBundle(ca.cert);
    const verify = counting.verify.bind(counting);
    counting.verify = (...given) => {
      count++;
      return verify(...given);
    };
    const of = authenticator({ by: () => counting });
    const connection = await connected({});
    const answers = [1, 2, 3].map(() => ask(connection, of));
    expect(answers[2]).toMatchObject({ outcome: 'accepted' });
    expect(count).toBe(1);
  });

  test('its certificate is told to end when it does', async () => {
    const told: number[] = [];
    const connection = await connected({});
    const nowMs = () => connection.certificate.validToDate.getTime() - 600;
    const naming = namingProfile('svc');
    const proofs = certificateProofs(() => bundle, Date.now);
    const observe = (remainingMs: number) => void told.push(remainingMs);
    const of = clientCertificateAuthenticator({ proofs, naming, hasUid: true, nowMs, observe });
    void ask(connection, of);
    expect(told).toEqual([600]);
  });
});
