// The command as users run it: a run against servers, the kept history checked again, and its exit
// codes.

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GetRecord, History } from './history.ts';
import { startTinyServers, type TinyServers } from './testing/tiny-server.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
let servers: TinyServers;
let folder: string;
beforeAll(async () => {
  servers = await startTinyServers(2);
  folder = mkdtempSync(join(tmpdir(), 'history-'));
});
afterAll(async () => {
  await servers.close();
  rmSync(folder, { recursive: true });
});

function run(...flags: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [main, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  return new Promise((resolve) => {
    child.on('close', (code) => {
      resolve({ code, output });
    });
  });
}

test('a run is checked, kept, and checked again to the same verdict', async () => {
  const file = join(folder, 'run.json');
  const targets = servers.urls.flatMap((url) => ['--server', url]);
  const first = await run(...targets, '--seconds', '1', '--seed', 'abc', '--record', file);
  expect(first.output).toContain('seed abc');
  expect(first.output).toContain('0 anomalies');
  expect(first.code).toBe(0);

  const history = JSON.parse(readFileSync(file, 'utf8')) as History;
  expect(history.seed).toBe('abc');
  const late: GetRecord = {
    client: 0,
    server: 0,
    name: 'h-last-0',
    at: { mode: 'latest' },
    invokedAt: 1e9,
    returnedAt: 1e9 + 1,
    outcome: { kind: 'absent' },
  };
  writeFileSync(file, JSON.stringify({ ...history, gets: [...history.gets, late] }));
  const second = await run('--check', file);
  expect(second.output).toContain('stale-read: client 0: get h-last-0');
  expect(second.output).toContain('1 anomalies');
  expect(second.code).toBe(1);
});

test('wrong flags and unreachable servers end with a message and code 2', async () => {
  expect(await run()).toMatchObject({ code: 2, output: expect.stringContaining('--server') });
  const unreachable = await run('--server', 'http://127.0.0.1:1');
  expect(unreachable).toMatchObject({ code: 2, output: expect.stringContaining('ECONNREFUSED') });
  const noNumber = await run('--server', 'http://127.0.0.1:1', '--clients', 'many');
  expect(noNumber).toMatchObject({ code: 2, output: expect.stringContaining('--clients') });
  const unknown = await run('--server', 'http://127.0.0.1:1', '--resource', 'pods');
  expect(unknown).toMatchObject({ code: 2, output: expect.stringContaining('--resource') });
});
