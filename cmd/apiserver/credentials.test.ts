import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseFlags } from '../../lib/config/parse-flags.ts';
import { ownCredentials } from './credentials.ts';
import { DataDirectory } from './data-directory.ts';
import { makeCa, makeSigningKey } from './pki.ts';

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

test('the serving certificate is good for every address that clients use', async () => {
  const { flags } = parseFlags([
    '--bind-address=::',
    '--service-cluster-ip-range=10.0.0.128/25,fd00:10::/112',
  ]);
  const address = '10.9.8.7';
  const options = { directory, shared, flags, address };
  const { serving } = await ownCredentials(options);
  const certificate = new X509Certificate(serving.cert);
  for (const ip of ['127.0.0.1', '::1', address, '10.0.0.129', 'fd00:10::1']) {
    expect([ip, certificate.checkIP(ip)]).toEqual([ip, ip]);
  }
  expect(certificate.checkIP('::')).toBeUndefined();
  expect(certificate.checkHost('svc.default.svc')).toBeDefined();
});
