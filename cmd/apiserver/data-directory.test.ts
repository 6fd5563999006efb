import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataDirectory, parseIdentity } from './data-directory.ts';
import { identify, isAlive } from './process-identity.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'data-directory-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const module = new URL('data-directory.ts', import.meta.url).href;
const script = `
  const { DataDirectory } = await import(${JSON.stringify(module)});
  try { DataDirectory.open(process.argv[1]); console.log('open'); setInterval(() => {}, 1000); }
  catch (error) { console.log(error.message); }`;

async function start(): Promise<{ said: string; kill: () => Promise<void> }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const [text] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return {
    said: text.trim(),
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

describe('the lock of a data directory', () => {
  test('refuses a second server, in words that name the flag and the process', () => {
    const first = DataDirectory.open(folder);
    expect(() => DataDirectory.open(folder)).toThrow(
      new RegExp(`--data-dir=.* is in use by process ${String(process.pid)}`),
    );
    first.release();
    DataDirectory.open(folder).release();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('of a server that was killed is taken over', async () => {
    const first = await start();
    expect(first.said).toBe('open');
    expect(() => DataDirectory.open(folder)).toThrow('is in use by process');
    await first.kill();
    DataDirectory.open(folder).release();
  });

  test('is taken by one of many that start at once, over a stale one too', async () => {
    const stale = { pid: process.pid, startedAt: 'another life' };
    writeFileSync(join(folder, 'apiserver.lock'), JSON.stringify(stale));
    const started = await Promise.all(Array.from({ length: 4 }, start));
    const said = started.map((one) => one.said);
    for (const one of started) await one.kill();
    expect(said.filter((text) => text === 'open')).toHaveLength(1);
    expect(said.filter((text) => text.includes('is in use by process'))).toHaveLength(3);
  });

  test.each(['', '{', 'null', '{"pid":"1"}'])('holding %j is no lock', (text) => {
    writeFileSync(join(folder, 'apiserver.lock'), text);
    expect(parseIdentity(text)).toBeUndefined();
    DataDirectory.open(folder).release();
  });
});

describe('a folder that cannot be used is refused with the file that is in the way', () => {
  const open = (path: string) => () => DataDirectory.open(path).release();

  test('a file, or below one', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(open(file)).toThrow(`--data-dir: ${file}: is a file, not a folder`);
    expect(open(join(file, 'x'))).toThrow(/x: a part of its path is a file, not a folder/);
  });

  test('folders in the place of files', () => {
    mkdirSync(join(folder, 'apiserver.lock'));
    expect(open(folder)).toThrow(`${join(folder, 'apiserver.lock')}: is a folder, not a file`);
    rmSync(join(folder, 'apiserver.lock'), { recursive: true });
    mkdirSync(join(folder, 'admin.key'));
    const directory = DataDirectory.open(folder);
    expect(() => directory.read('admin.key')).toThrow(/admin.key: is a folder, not a file/);
    expect(() => directory.writePrivate('admin.key', '')).toThrow(/admin.key: is a folder/);
    directory.release();
  });

  const isRoot = process.getuid?.() === 0;
  (isRoot ? test : test.skip)('one of another user', () => {
    mkdirSync(join(folder, 'own'), { mode: 0o700 });
    process.seteuid?.(65_534);
    try {
      expect(open(join(folder, 'own'))).toThrow(/own.*: this user may not use it/);
    } finally {
      process.seteuid?.(0);
    }
  });
});

test('private files are replaced whole, readable by their owner alone', () => {
  const directory = DataDirectory.open(folder);
  directory.writePrivate('key', 'one');
  directory.writePrivate('key', 'two');
  expect(statSync(directory.file('key')).mode & 0o777).toBe(0o600);
  expect([directory.read('key'), directory.read('none')]).toEqual(['two', undefined]);
  expect(readFileSync(directory.file('key'), 'utf8')).toBe('two');
  directory.release();
});

test('a process is known by its id and its start', async () => {
  const self = identify(process.pid);
  expect(self !== undefined && isAlive(self)).toBe(true);
  expect(isAlive({ pid: process.pid, startedAt: 'another' })).toBe(false);
  const child = spawn(process.execPath, ['-e', '']);
  const identity = identify(child.pid ?? 0);
  await once(child, 'exit');
  expect(identity !== undefined && isAlive(identity)).toBe(false);
});
