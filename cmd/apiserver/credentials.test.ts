import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseFlags } from '../../lib/config/parse-flags.ts';
import { ownCredentials } from './credentials.ts';
import { DataDirectory } from './data-directory.ts';
import { makeCa, makeLeaf, makeSigningKey } from './pki.ts';

let directory: DataDirectory;
beforeEach(() => {
  directory = DataDirectory.open(mkdtempSync(join(tmpdir(), 'credentials-')));
});
afterEach(() => rmSync(directory.path, { recursive: true }));

const shared = {
  ca: await makeCa('shared'),
  continueKey: new Uint8Array(),
  serviceAccountKey: { key: await makeSigningKey(), publicKey: '' },
  serviceAccountIssuer: '',
};
const noFiles = {
  tokens: undefined,
  clientCa: '',
  frontProxyCa: '',
  oidcCa: '',
  serving: undefined,
  signingKey: undefined,
  tokenKeys: [],
  named: [],
  etcdTls: {},
};

test('the serving certificate is good for every address that clients use', async () => {
  const { flags } = parseFlags([
    '--bind-address=::',
    '--service-cluster-ip-range=10.0.0.128/25,fd00:10::/112',
  ]);
  const address = '10.9.8.7';
  const options = { directory, shared, flags, files: noFiles, clientCa: '', address };
  const { serving, serverCa } = await ownCredentials(options);
  const certificate = new X509Certificate(serving.cert);
  for (const ip of ['127.0.0.1', '::1', address, '10.0.0.129', 'fd00:10::1']) {
    expect([ip, certificate.checkIP(ip)]).toEqual([ip, ip]);
  }
  expect(certificate.checkIP('::')).toBeUndefined();
  expect(certificate.checkHost('svc.default.svc')).toBeDefined();
  expect(serverCa).toBe(shared.ca.cert);
});

test('clients trust the certificate that was given, and get no key with it', async () => {
  const ca = await makeCa('other');
  const given = await makeLeaf(ca, { use: 'server', commonName: 'a', names: ['a.example'] });
  const files = { ...noFiles, serving: given };
  const { flags } = parseFlags([]);
  const options = { directory, shared, flags, files, clientCa: 'ca', address: '127.0.0.1' };
  const { serving, serverCa } = await ownCredentials(options);
  expect([serving.cert, serving.key]).toEqual([given.cert, given.key]);
  expect(serverCa).toBe(`${shared.ca.cert}${given.cert}`);
  expect(directory.read('ca.crt')).toBe(serverCa);
  expect(serverCa).not.toContain('PRIVATE KEY');
  expect(serving.clientCa).toBe('ca');
});

test('what a start made serves the next one, and calls the server as itself', async () => {
  const { flags } = parseFlags([]);
  const options = { directory, shared, flags, files: noFiles, clientCa: '', address: '127.0.0.1' };
  const first = await ownCredentials(options);
  const { subject } = new X509Certificate(first.own.cert);
  expect(subject.split('\n').sort()).toEqual(['CN=system:apiserver', 'O=system:masters']);
  const { serving, admin, own } = await ownCredentials(options);
  expect([serving.cert, admin, own]).toEqual([first.serving.cert, first.admin, first.own]);
  const other = await ownCredentials({ ...options, shared: { ...shared, ca: await makeCa('b') } });
  expect(other.own.cert).not.toBe(first.own.cert);
});
