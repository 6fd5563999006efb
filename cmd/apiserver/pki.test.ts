import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { kubeconfig } from './kubeconfig.ts';
import { makeCa, makeLeaf, makeSigningKey, stillServes } from './pki.ts';

const names = ['localhost', '127.0.0.1', '::1', 'svc.default.svc'];
const ca = await makeCa('test-ca');
const server = await makeLeaf(ca, { use: 'server', commonName: 'apiserver', names });
const admin = await makeLeaf(ca, {
  use: 'client',
  commonName: 'admin',
  organizations: ['system:masters', 'dev'],
});

describe('certificates', () => {
  test('hold what was asked for', () => {
    const [first, second, third] = [ca, server, admin].map(({ cert }) => new X509Certificate(cert));
    expect([first?.ca, second?.ca, third?.ca]).toEqual([true, false, false]);
    expect(first?.subject).toBe('CN=test-ca');
    for (const name of names) {
      expect(second?.checkHost(name) ?? second?.checkIP(name)).toBeDefined();
    }
    expect(third?.toLegacyObject().subject).toMatchObject({
      CN: 'admin',
      O: ['system:masters', 'dev'],
    });
    expect(second?.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(third?.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(second?.serialNumber).not.toBe(third?.serialNumber);
  });

  const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
  (hasOpenssl ? test : test.skip)('verify strictly with openssl, as a chain too', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pki-'));
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const caFile = file('ca.crt', `${ca.cert}${ca.cert}`);
    for (const [purpose, { cert }] of [
      ['sslserver', server],
      ['sslclient', admin],
    ] as const) {
      const args = ['verify', '-x509_strict', '-purpose', purpose, '-CAfile', caFile];
      const result = spawnSync('openssl', [...args, file('leaf.crt', cert)], { encoding: 'utf8' });
      expect(result.stderr + result.stdout).toMatch(/OK\n$/);
    }
    rmSync(folder, { recursive: true });
  });
});

test('a kept pair serves while it fits', async () => {
  const other = await makeCa('test-ca');
  const claims = [
    [server, ca, names, true],
    [server, ca, ['localhost'], true],
    [server, ca, [...names, '10.0.0.1'], false],
    [server, ca, [...names, 'example.com'], false],
    [server, other, names, false],
    [{ ...server, key: admin.key }, ca, names, false],
    [{ ...server, cert: 'no certificate' }, ca, names, false],
  ] as const;
  for (const [pair, issuer, wanted, serves] of claims) {
    expect(stillServes(pair, issuer, wanted)).toBe(serves);
  }
});

test('signing keys are new each time', async () => {
  const [first, second] = [await makeSigningKey(), await makeSigningKey()];
  expect(first).toMatch(/^-----BEGIN PRIVATE KEY-----/);
  expect(first).not.toBe(second);
});

test('the admin configuration names server, trust and key', () => {
  const config = parse(
    kubeconfig({ server: 'https://[::1]:6443', caCert: ca.cert, client: admin }),
  ) as {
    clusters: { cluster: Record<string, string> }[];
    users: { user: Record<string, string> }[];
  };
  const decode = (text: string | undefined): string => Buffer.from(text ?? '', 'base64').toString();
  const cluster = config.clusters[0]?.cluster;
  const user = config.users[0]?.user;
  expect(cluster?.['server']).toBe('https://[::1]:6443');
  expect(decode(cluster?.['certificate-authority-data'])).toBe(ca.cert);
  expect(decode(user?.['client-certificate-data'])).toBe(admin.cert);
  expect(decode(user?.['client-key-data'])).toBe(admin.key);
});
