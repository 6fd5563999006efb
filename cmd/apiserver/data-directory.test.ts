import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

  test('cannot be had below a file', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(() => DataDirectory.open(join(file, 'x'))).toThrow(
      /--data-dir=.*cannot make the folder/,
    );
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
