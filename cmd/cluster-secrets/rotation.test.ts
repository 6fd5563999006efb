// An authority and a signing key are replaced in three steps: at none of them is there somebody
// whose certificate or token another one cannot verify, who has the files of the step before.
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createPublicKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fulfil } from './fulfil.ts';
import { readPlan } from './plan.ts';

const plan = readPlan(`
authorityFolder: authority
authorities: { cluster: the CA, other: another CA }
signingKeys: [tokens]
folders:
  a:
    trusts: [cluster, other]
    signingKeys: [tokens]
    certificates:
      server: { authority: cluster, use: server, commonName: a, names: [a] }
      other: { authority: other, use: server, commonName: a, names: [a] }
      admin: { authority: cluster, use: client, commonName: admin }
    kubeconfigs:
      admin: { certificate: admin, authority: cluster, server: 'https://a:1' }
`);
let out: string;
beforeEach(async () => {
  out = mkdtempSync(join(tmpdir(), 'secrets-'));
  await fulfil(plan, { out });
});
afterEach(() => rmSync(out, { recursive: true }));

const read = (file: string): string => readFileSync(join(out, file), 'utf8');
const certificates = (text: string): string[] =>
  text.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----\n/g) ?? [];
const keys = (text: string): string[] =>
  text.match(/-----BEGIN PUBLIC KEY-----[^]*?-----END PUBLIC KEY-----\n/g) ?? [];
const take = (step: 'introduce' | 'switch' | 'retire', name: string): Promise<string[]> =>
  fulfil(plan, { out, step: { step, name } });

/** Whether these CAs sign that leaf. */
const believes = (cas: string, leaf: string): boolean =>
  certificates(cas).some((ca) =>
    new X509Certificate(leaf).verify(new X509Certificate(ca).publicKey),
  );

test('an authority: files of two neighbouring steps believe each other', async () => {
  const seen: { cas: string; leaf: string }[] = [];
  const note = (): void => {
    seen.push({ cas: read('a/cluster-ca.crt'), leaf: read('a/server.crt') });
  };
  note();
  const others = [read('a/other-ca.crt'), read('a/other.crt')];
  for (const step of ['introduce', 'switch', 'retire'] as const) {
    await take(step, 'cluster');
    note();
    const config = /certificate-authority-data: (\S+)/.exec(read('a/admin.kubeconfig'))?.[1] ?? '';
    expect(Buffer.from(config, 'base64').toString()).toBe(read('a/cluster-ca.crt'));
    expect(await fulfil(plan, { out })).toEqual([]);
    expect(await take(step, 'cluster')).toEqual([]);
  }
  expect(seen.map(({ cas }) => certificates(cas).length)).toEqual([1, 2, 2, 1]);
  for (const [index, { cas, leaf }] of seen.entries()) {
    for (const other of [seen[index - 1], seen[index + 1]]) {
      if (other === undefined) continue;
      expect([index, believes(cas, other.leaf), believes(other.cas, leaf)]).toEqual([
        index,
        true,
        true,
      ]);
    }
  }
  expect(believes(seen[3]?.cas ?? '', seen[0]?.leaf ?? '')).toBe(false);
  expect([read('a/other-ca.crt'), read('a/other.crt')]).toEqual(others);
  expect(readdirSync(join(out, 'authority')).sort()).toEqual(
    ['cluster.crt', 'cluster.key', 'other.crt', 'other.key', 'tokens.key'].sort(),
  );
});

test('a signing key: the next one is believed before it signs, the last one after', async () => {
  const publicKey = (): string =>
    createPublicKey(read('a/tokens.key')).export({ type: 'spki', format: 'pem' }).toString();
  const first = publicKey();
  await take('introduce', 'tokens');
  const both = keys(read('a/tokens.pub'));
  expect(both).toHaveLength(2);
  expect([publicKey(), both[0]]).toEqual([first, first]);
  await take('switch', 'tokens');
  expect(publicKey()).toBe(both[1]);
  expect(keys(read('a/tokens.pub'))).toEqual(both.toReversed());
  await take('retire', 'tokens');
  expect(keys(read('a/tokens.pub'))).toEqual([both[1]]);
});

test.each([
  ['switch', 'cluster', /there is no new one: introduce comes first/],
  ['introduce', 'absent', /must be one of cluster, other, tokens/],
] as const)('%s of %s is refused', async (step, name, message) => {
  await expect(take(step, name)).rejects.toThrow(message);
});

test('steps in the wrong order are refused', async () => {
  await take('introduce', 'tokens');
  await expect(take('retire', 'tokens')).rejects.toThrow(/the old one still signs: switch/);
  await take('switch', 'tokens');
  await expect(take('introduce', 'tokens')).rejects.toThrow(/retire comes first/);
});
