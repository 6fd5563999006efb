// Which etcd is taken: PATH before cache before packages, and what is said about an old one.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { mirrorAddress, newerSuites } from './debian-packages.mjs';
import { compareVersions, findEtcd } from './etcd.mjs';

let folder: string;
const before = { ...process.env };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'etcd-'));
  process.env.PATH = join(folder, 'bin');
  process.env.XDG_CACHE_HOME = join(folder, 'cache');
  delete process.env.ETCD_BIN;
});
afterEach(() => {
  process.env = { ...before };
  rmSync(folder, { recursive: true });
});

function plant(path: string, text: string, mode = 0o644): string {
  const full = join(folder, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text, { mode });
  return full;
}

/** A program that says it is this version, as etcd does. */
function plantEtcd(path: string, version: string): string {
  return plant(path, `#!/bin/sh\necho "etcd Version: ${version}"\necho "Git SHA: 1"\n`, 0o755);
}

function plantCached(version: string): string {
  return plantEtcd(`cache/svc-apiserver/etcd-${version}/usr/bin/etcd`, version);
}

const quietly = { log: (): void => undefined };

describe('on PATH', () => {
  test('a new enough one is taken, with its etcdctl', async () => {
    const path = plantEtcd('bin/etcd', '3.5.24');
    const etcdctlPath = plantEtcd('bin/etcdctl', '3.5.24');
    plantCached('3.6.0');
    const found = await findEtcd(quietly);
    expect(found).toEqual({ path, etcdctlPath, version: '3.5.24', source: 'path' });
  });

  test('an older one is taken with a warning that names both versions', async () => {
    plantEtcd('bin/etcd', '3.5.9');
    const found = await findEtcd(quietly);
    expect(found).toMatchObject({ version: '3.5.9', source: 'path' });
    expect(found.warning).toMatch(/3\.5\.9.*older than 3\.5\.24/);
  });

  test('ETCD_BIN comes before PATH, and has to be there', async () => {
    plantEtcd('bin/etcd', '3.5.30');
    process.env.ETCD_BIN = plantEtcd('mine/etcd', '3.6.1');
    expect(await findEtcd(quietly)).toMatchObject({ version: '3.6.1' });
    process.env.ETCD_BIN = join(folder, 'absent');
    await expect(findEtcd(quietly)).rejects.toThrow(/ETCD_BIN names .*absent/);
  });

  test('one that tells no version is named', async () => {
    plant('bin/etcd', '#!/bin/sh\nexit 1\n', 0o755);
    await expect(findEtcd(quietly)).rejects.toThrow(/bin\/etcd --version does not tell/);
  });

  test('a file that is not executable is passed over', async () => {
    plant('bin/etcd', 'text');
    const path = plantCached('3.5.30');
    expect(await findEtcd(quietly)).toMatchObject({ path, source: 'cache' });
  });
});

describe('in the cache folder', () => {
  test('the newest that is new enough is taken, without a word', async () => {
    for (const version of ['3.4.23', '3.5.9', '3.5.30', '3.5.24']) plantCached(version);
    const lines: string[] = [];
    const found = await findEtcd({ log: (line) => lines.push(line) });
    expect(found).toMatchObject({ version: '3.5.30', source: 'cache' });
    expect(lines).toEqual([]);
  });

  test('an exact version is taken even when PATH has another', async () => {
    plantEtcd('bin/etcd', '3.5.30');
    plantCached('3.4.23');
    expect(await findEtcd({ exact: '3.4.23', ...quietly })).toMatchObject({ version: '3.4.23' });
  });

  test('an older one is taken when the package sources had nothing newer today', async () => {
    plantCached('3.5.16');
    plant('cache/svc-apiserver/newest-below-3.5.24', '3.5.16');
    const found = await findEtcd(quietly);
    expect(found).toMatchObject({ version: '3.5.16', source: 'cache' });
    expect(found.warning).toMatch(/older than 3\.5\.24/);
  });
});

test('where nothing works, one sentence says what to install', async () => {
  plantCached('3.4.23');
  const error: unknown = await findEtcd(quietly).catch((reason: unknown) => reason);
  expect(String(error)).toMatch(/install etcd 3\.5\.24 or newer .* on PATH, or .*--etcd-servers/);
  expect(String(error).split('\n')).toHaveLength(1);
});

test('a cache folder that cannot be written is named', async () => {
  process.env.XDG_CACHE_HOME = plant('file', '');
  await expect(findEtcd(quietly)).rejects.toThrow(/file\/svc-apiserver cannot be written/);
});

test.each([
  ['3.5.9', '3.5.24', -1],
  ['3.5.24', '3.5.24', 0],
  ['3.10.0', '3.9.9', 1],
  ['4', '3.5.24', 1],
])('versions are compared as numbers: %s, %s', (a, b, sign) => {
  expect(Math.sign(compareVersions(a, b))).toBe(sign);
});

test.each([
  ['VERSION_CODENAME=trixie\n', 'trixie', 4],
  ['NAME=x\nVERSION_CODENAME="bookworm"\n', 'bookworm', 5],
  ['NAME=x\n', 'bullseye', 6],
])('a machine tries its own suite and newer ones: %j', (release, first, count) => {
  const suites = newerSuites(release);
  expect(suites[0]).toBe(first);
  expect(suites).toHaveLength(count);
  expect(suites.at(-1)).toBe('sid');
});

const security = 'Types: deb\nURIs: http://a.test/debian-security\nSuites: s\n';
const debian = 'Types: deb\nURIs: http://b.test/debian/\nSuites: s\n';
test.each<[claim: string, files: Record<string, string>, address: string | undefined]>([
  ['stanzas', { 'sources.list.d/d.sources': `${security}\n${debian}` }, 'http://b.test/debian/'],
  ['a disabled stanza', { 'sources.list.d/d.sources': `Enabled: no\n${debian}` }, undefined],
  [
    'a list with options',
    { 'sources.list': 'deb [arch=amd64 signed-by=/k] https://c.test/debian s main\n' },
    'https://c.test/debian',
  ],
  [
    'a list that is commented out',
    { 'sources.list': '# deb https://c.test/debian s main\n' },
    undefined,
  ],
  ['another system', { 'sources.list': 'deb https://c.test/ubuntu s main\n' }, undefined],
  ['nothing', {}, undefined],
])('the mirror is read from %s', (_claim, files, address) => {
  for (const [name, text] of Object.entries(files)) plant(`root/etc/apt/${name}`, text);
  expect(mirrorAddress(join(folder, 'root'))).toBe(address);
});
