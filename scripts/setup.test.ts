// The set-up script on a project of its own without dependencies: the real npm, no network.
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'setup-'));
  mkdirSync(join(project, 'scripts'));
  for (const name of ['setup.mjs', 'lock.mjs']) {
    cpSync(join(import.meta.dirname, name), join(project, 'scripts', name));
  }
  writeLockfile('1.0.0');
});
afterEach(() => {
  rmSync(project, { recursive: true, force: true });
});

function writeLockfile(version: string): void {
  const itself = { name: 'planted', version };
  writeFileSync(join(project, 'package.json'), JSON.stringify(itself));
  const lockfile = { ...itself, lockfileVersion: 3, requires: true, packages: { '': itself } };
  writeFileSync(join(project, 'package-lock.json'), JSON.stringify(lockfile));
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function setUp(environment: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(project, 'scripts/setup.mjs')], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, output });
    });
  });
}

const installs = /^setup: (installing|updating) the dependencies and Node 24/gm;

test('the first run says what it does and leaves a Node; the next is silent', async () => {
  const first = await setUp();
  expect(first.code).toBe(0);
  expect(first.output).toMatch(installs);
  expect(existsSync(join(project, 'node_modules/.bin/node'))).toBe(true);
  expect(await setUp()).toEqual({ code: 0, output: '' });
});

test('a changed lockfile and a removed Node are noticed', async () => {
  await setUp();
  writeLockfile('1.0.1');
  expect((await setUp()).output).toMatch(/^setup: updating/m);
  rmSync(join(project, 'node_modules/.bin/node'));
  expect((await setUp()).output).toMatch(/^setup: updating/m);
  expect((await setUp()).output).toBe('');
});

test('of two first runs at once one installs, the other waits', async () => {
  const both = await Promise.all([setUp(), setUp()]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  const said = both.map(({ output }) => output).join('');
  expect(said.match(installs)).toHaveLength(1);
  expect(said).toMatch(/waiting for process \d+/);
  expect(existsSync(join(project, '.setup-lock'))).toBe(false);
});

test('flags that the outer npm was given do not change the installation', async () => {
  const environment = { npm_config_dry_run: 'true', npm_config_package_lock_only: 'true' };
  expect(await setUp({ ...environment, NODE_ENV: 'production' })).toMatchObject({ code: 0 });
  expect(existsSync(join(project, 'node_modules/.bin/node'))).toBe(true);
});

test('a failed installation is a failed exit, and is tried again', async () => {
  writeFileSync(join(project, 'package-lock.json'), '{');
  const failed = await setUp();
  expect(failed.code).toBe(1);
  expect(failed.output).toMatch(/^setup: npm ci failed \(exit \d+\); run it again/m);
  writeLockfile('1.0.0');
  expect(await setUp()).toMatchObject({ code: 0 });
});
