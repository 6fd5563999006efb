// How a server of several workers starts and fails to: one etcd of its own, one message of what is
// wrong, and an end when a worker cannot come back.
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithThisProcess } from '../lib/base/testing/outlived.ts';
import { isRunning, until, workersOf } from './worker-processes.ts';

const program = fileURLToPath(new URL('../cmd/apiserver/main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'apiserver-workers-'));
const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function start(flags: readonly string[]) {
  const all = ['--workers=2', '--secure-port=0', ...flags];
  const child = spawn(process.execPath, [program, ...all], {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithThisProcess(child);
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  }
  const exited = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      running.delete(child);
      resolve(code);
    });
  });
  const { pid = 0 } = child;
  return { child, pid, exited, output: () => output };
}

test('one etcd is started for all, one greeting is printed, SIGINT ends all of it', async () => {
  const server = start(['--data-dir=own']);
  await until(() => server.output().includes('is ready at') || server.child.exitCode !== null);
  expect(server.output().match(/^etcd \d/gm)).toHaveLength(1);
  expect(server.output().match(/is ready at/g)).toHaveLength(1);
  const { pid: etcd } = JSON.parse(readFileSync(join(folder, 'own/etcd.pid'), 'utf8')) as {
    pid: number;
  };
  const children = workersOf(server);
  expect(children).toHaveLength(3); // etcd is one of them
  for (const pid of children) if (pid !== etcd) process.kill(pid, 'SIGINT'); // as a terminal does
  server.child.kill('SIGINT');
  expect(await server.exited).toBe(0);
  expect([...children, etcd].filter(isRunning)).toEqual([]);
});

test('a worker that hangs is replaced too, with connections on their way to it', async () => {
  const server = start(['--data-dir=hang', '--request-timeout=1s']);
  await until(() => server.output().includes('is ready at') || server.child.exitCode !== null);
  const port = Number(/is ready at https:\/\/[^:]+:(\d+)/.exec(server.output())?.[1]);
  const hanging = workersOf(server).at(-1) ?? 0;
  process.kill(hanging, 'SIGSTOP');
  const sockets = Array.from({ length: 6 }, () => connect(port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  server.child.kill('SIGHUP');
  // On a busy machine it may be found to hang before its turn comes.
  const changes = /a worker is replaced|another one takes its place/g;
  await until(() => server.output().match(changes)?.length === 2);
  expect(isRunning(hanging)).toBe(false);
  for (const socket of sockets) socket.on('error', () => undefined).destroy();
  server.child.kill('SIGTERM');
  expect(await server.exited).toBe(0);
});

test('a worker that hangs is found, killed and started again', async () => {
  const server = start(['--data-dir=silent']);
  await until(() => server.output().includes('is ready at') || server.child.exitCode !== null);
  const workers = workersOf(server);
  const hanging = workers.at(-1) ?? 0;
  process.kill(hanging, 'SIGSTOP');
  await until(() => server.output().includes('another one takes its place'));
  expect(server.output()).toContain('a worker does not answer and is killed');
  await until(() => workersOf(server).length === workers.length);
  expect(isRunning(hanging)).toBe(false);
  server.child.kill('SIGTERM');
  expect(await server.exited).toBe(0);
});

test('what is wrong with a flag is said once, in the words of a single process', async () => {
  const server = start(['--data-dir=wrong', '--token-auth-file=nothing.csv']);
  expect(await server.exited).toBe(1);
  expect(server.output()).toMatch(/^apiserver: --token-auth-file=nothing\.csv: .*\n$/);
});

test('a worker that cannot start again ends the server with its message', async () => {
  const tokens = join(folder, 'tokens.csv');
  writeFileSync(tokens, 'T,admin,1\n');
  const server = start(['--data-dir=again', `--token-auth-file=${tokens}`]);
  await until(() => server.output().includes('is ready at') || server.child.exitCode !== null);
  const workers = workersOf(server);
  rmSync(tokens);
  process.kill(workers.at(-1) ?? 0, 'SIGKILL');
  expect(await server.exited).toBe(1);
  expect(server.output().match(/a worker does not start/g)).toHaveLength(5);
  expect(server.output()).toMatch(/\napiserver: --token-auth-file=\S+tokens\.csv: .*\n$/);
  expect(workers.filter(isRunning)).toEqual([]);
});
