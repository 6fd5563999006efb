import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { generateKeyPairSync } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newKeyPair, pemOf } from '../../lib/authn/service-account/testing/test-keys.ts';
import { parseFlags } from '../../lib/config/parse-flags.ts';
import { readGivenFiles } from './given-files.ts';
import { makeCa, makeLeaf } from './pki.ts';

const folder = mkdtempSync(join(tmpdir(), 'given-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const ca = await makeCa('a');
const leaf = await makeLeaf(ca, { use: 'server', commonName: 'b', names: ['localhost'] });
const accountKeys = newKeyPair('RSA');
const locked = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
  cipher: 'aes-256-cbc',
  passphrase: 'secret',
});
const paths = {
  ca: file('ca.crt', ca.cert),
  cert: file('leaf.crt', `words before\n${leaf.cert}${ca.cert}`),
  key: file('leaf.key', leaf.key),
  both: file('both.pem', `${leaf.key}${leaf.cert}`),
  foreign: file('foreign.key', ca.key),
  locked: file('locked.key', String(locked)),
  empty: file('empty', ''),
  broken: file('broken.crt', `${ca.cert}${ca.cert.replace(/\n[A-Za-z0-9+/]{20}/, '\nAAAA')}`),
  accountKey: file('accounts.key', pemOf(accountKeys.privateKey)),
  accountKeys: file('accounts.pub', `${pemOf(accountKeys.publicKey)}${ca.key}`),
  edwards: file('edwards.key', pemOf(generateKeyPairSync('ed25519').privateKey)),
  tokens: file('tokens.csv', 't,u,1,"g"\n'),
  badTokens: file('bad.csv', 't,u,1\nx\n'),
  folder: join(folder, 'sub'),
  missing: join(folder, 'none'),
};
mkdirSync(paths.folder);
const etcd = '--etcd-servers=https://127.0.0.1:1';
const read = (...argv: string[]) => readGivenFiles(parseFlags(argv).flags);
const pair = (cert: string, key: string) => [
  `--tls-cert-file=${cert}`,
  `--tls-private-key-file=${key}`,
];

describe('files that flags name', () => {
  test('are read when they hold what they should', () => {
    const files = read(
      `--token-auth-file=${paths.tokens}`,
      `--client-ca-file=${paths.ca}`,
      ...pair(paths.cert, paths.key),
      etcd,
      `--etcd-cafile=${paths.ca}`,
      `--etcd-certfile=${paths.cert}`,
      `--etcd-keyfile=${paths.key}`,
    );
    expect(files.tokens?.size).toBe(1);
    expect(files.clientCa.trim()).toBe(ca.cert.trim());
    expect(files.serving).toEqual({
      cert: `${leaf.cert.trim()}\n${ca.cert.trim()}\n`,
      key: leaf.key,
    });
    expect(files.etcdTls).toEqual({ caFile: paths.ca, certFile: paths.cert, keyFile: paths.key });
    expect(read()).toEqual({
      tokens: undefined,
      named: [],
      clientCa: '',
      frontProxyCa: '',
      oidcCa: '',
      serving: undefined,
      signingKey: undefined,
      tokenKeys: [],
      etcdTls: {},
    });
  });

  test('--service-account-key-file: PEM RSA or ECDSA, private or public keys, repeatable', () => {
    const files = read(
      `--service-account-signing-key-file=${paths.accountKey}`,
      `--service-account-key-file=${paths.accountKeys}`,
      `--service-account-key-file=${paths.key}`,
    );
    expect(files.signingKey?.algorithm).toBe('RS256');
    expect(files.tokenKeys.map(({ algorithm }) => algorithm)).toEqual(['RS256', 'ES256', 'ES256']);
    expect(files.tokenKeys[0]?.id).toBe(files.signingKey?.id);
  });

  test('--service-account-key-file: default falls back to --tls-private-key-file', () => {
    const { tokenKeys } = read(...pair(paths.cert, paths.key));
    expect(tokenKeys.map(({ algorithm }) => algorithm)).toEqual(['ES256']);
    const named = read(
      ...pair(paths.cert, paths.key),
      `--service-account-key-file=${paths.accountKey}`,
    );
    expect(named.tokenKeys.map(({ algorithm }) => algorithm)).toEqual(['RS256']);
  });

  test('of one certificate and its key: the key stays out of what clients get', () => {
    const { serving } = read(...pair(paths.both, paths.both));
    expect(serving?.cert.trim()).toBe(leaf.cert.trim());
    expect(serving?.key).toContain('PRIVATE KEY');
  });

  test.each([
    [[`--service-account-signing-key-file=${paths.missing}`], 'none: there is no such file'],
    [[`--service-account-signing-key-file=${paths.ca}`], 'ca.crt: must hold a private key in PEM'],
    [[`--service-account-signing-key-file=${paths.edwards}`], 'the key must be RSA, or ECDSA'],
    [[`--service-account-key-file=${paths.key},${paths.missing}`], 'none: there is no such file'],
    [[`--service-account-key-file=${paths.empty}`], 'empty: must hold public or private keys'],
    [[`--service-account-key-file=${paths.edwards}`], 'edwards.key: key 1 must be RSA, or ECDSA'],
    [[`--token-auth-file=${paths.missing}`], 'none: there is no such file'],
    [[`--token-auth-file=${paths.folder}`], 'sub: is a folder, not a file'],
    [[`--token-auth-file=${paths.tokens}/x`], 'a part of its path is a file, not a folder'],
    [[`--token-auth-file=${paths.badTokens}`], 'bad.csv: line 2: expected token,user,uid'],
    [[`--client-ca-file=${paths.empty}`], 'empty: must hold certificates in PEM'],
    [[`--client-ca-file=${paths.key}`], 'leaf.key: must hold certificates in PEM'],
    [[`--client-ca-file=${paths.broken}`], 'broken.crt: certificate 2 cannot be read'],
    [[etcd, `--etcd-cafile=${paths.missing}`], '--etcd-cafile='],
    [pair(paths.missing, paths.key), '--tls-cert-file='],
    [pair(paths.cert, paths.missing), '--tls-private-key-file='],
    [pair(paths.cert, paths.ca), 'ca.crt: must hold a private key in PEM, without a passphrase'],
    [pair(paths.cert, paths.locked), 'locked.key: must hold a private key in PEM, without a pass'],
    [
      pair(paths.cert, paths.foreign),
      `foreign.key: is not the key of the first certificate in --tls-cert-file=${paths.cert}`,
    ],
    [
      [etcd, `--etcd-certfile=${paths.cert}`, `--etcd-keyfile=${paths.foreign}`],
      `foreign.key: is not the key of the first certificate in --etcd-certfile=${paths.cert}`,
    ],
  ])('%j are refused in words that name flag and file', (argv, message) => {
    expect(() => read(...argv)).toThrow(message);
    expect(() => read(...argv)).toThrow(/^--[a-z-]+=\//);
  });
});
