// A plan is fulfilled once: nothing is made twice, what is missing comes back, and nobody else
// reads it.
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fulfil } from './fulfil.ts';
import { readPlan } from './plan.ts';

const text = `
authorityFolder: authority
authorities: { cluster: the CA }
signingKeys: [tokens]
folders:
  a:
    trusts: [cluster]
    signingKeys: [tokens]
    certificates:
      server: { authority: cluster, use: server, commonName: a, names: [a, 127.0.0.1] }
      peer: { authority: cluster, use: peer, commonName: a, names: [a.peers] }
  b:
    signingKeys: [tokens]
    certificates:
      admin: { authority: cluster, use: client, commonName: admin, organizations: [masters] }
    kubeconfigs:
      admin: { certificate: admin, authority: cluster, server: 'https://a:1' }
`;
let out: string;
beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), 'secrets-'));
});
afterEach(() => rmSync(out, { recursive: true }));
const read = (file: string): string => readFileSync(join(out, file), 'utf8');

test('certificates are of the authority, for their names and uses', async () => {
  await fulfil(readPlan(text), { out });
  const ca = new X509Certificate(read('a/cluster-ca.crt'));
  const [server, peer, admin] = ['a/server.crt', 'a/peer.crt', 'b/admin.crt'].map(
    (file) => new X509Certificate(read(file)),
  );
  for (const leaf of [server, peer, admin]) expect(leaf?.verify(ca.publicKey)).toBe(true);
  expect(server?.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(peer?.checkHost('a.peers')).toBe('a.peers');
  expect(server?.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect(peer?.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  expect(admin?.subject).toBe('O=masters\nCN=admin');
  expect(read('a/tokens.key')).toBe(read('b/tokens.key'));
});

test('a second run changes nothing; what was removed is made anew by the same CA', async () => {
  const plan = readPlan(text);
  await fulfil(plan, { out });
  expect(await fulfil(plan, { out })).toEqual([]);
  const ca = read('a/cluster-ca.crt');
  rmSync(join(out, 'a/server.crt'));
  const changed = await fulfil(plan, { out });
  expect(changed).toEqual([join(out, 'a/server.key'), join(out, 'a/server.crt')]);
  expect(read('a/cluster-ca.crt')).toBe(ca);
});

test('a server of the command line stands in the kubeconfig', async () => {
  await fulfil(readPlan(text), { out });
  expect(read('b/admin.kubeconfig')).toContain('server: https://a:1\n');
  const changed = await fulfil(readPlan(text), { out, server: 'https://127.0.0.1:7443' });
  expect(changed).toEqual([join(out, 'b/admin.kubeconfig')]);
  expect(read('b/admin.kubeconfig')).toContain('server: https://127.0.0.1:7443\n');
});

test('folders and files are their owner’s alone', async () => {
  await fulfil(readPlan(text), { out });
  for (const folder of readdirSync(out)) {
    expect(statSync(join(out, folder)).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(join(out, folder))) {
      expect(statSync(join(out, folder, file)).mode & 0o777).toBe(0o400);
    }
  }
});

test.each([
  ['a folder above', text.replace('  a:\n', '  ../a:\n'), /is no name of a file/],
  [
    'an unknown field',
    text.replace('    trusts:', '    thrusts:'),
    /folders\.a: has no field thrusts/,
  ],
  [
    'an unknown authority',
    text.replace('trusts: [cluster]', 'trusts: [other]'),
    /no authority other/,
  ],
  ['an unknown use', text.replace('use: peer', 'use: both'), /server or client or peer/],
  [
    'an unknown certificate',
    text.replace('certificate: admin,', 'certificate: x,'),
    /no certificate x/,
  ],
  ['nothing', '', /is empty/],
])('a plan with %s is refused', (_claim, wrong, message) => {
  expect(() => readPlan(wrong)).toThrow(message);
});
