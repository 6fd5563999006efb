// Starts as a user types them: the server's own etcd, its files, crashes and second starts.
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAlive } from '../cmd/apiserver/process-identity.ts';
import type { ProcessIdentity } from '../cmd/apiserver/process-identity.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'apiserver-start-'));
const running = new Set<ChildProcess>();

interface Started {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  readonly output: () => string;
  /** Resolves with the output once it matches; rejects with it when the process ends first. */
  until(pattern: RegExp): Promise<string>;
}

function start(flags: readonly string[], environment: Record<string, string> = {}): Started {
  const child = spawn(process.execPath, [join(root, 'cmd/apiserver/main.ts'), ...flags], {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let output = '';
  const waiting = new Set<() => void>();
  const collect = (chunk: Buffer): void => {
    output += chunk.toString('utf8');
    for (const look of waiting) look();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const exited = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      running.delete(child);
      resolve(code);
    });
  });
  return {
    child,
    exited,
    output: () => output,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!pattern.test(output)) return;
          waiting.delete(look);
          resolve(output);
        };
        waiting.add(look);
        look();
        void exited.then((code) => reject(new Error(`exit ${String(code)}: ${output}`)));
      }),
  };
}

const ready = /is ready at https:\/\/127\.0\.0\.1:(\d+)/;
const portOf = (output: string): number => Number(ready.exec(output)?.[1]);

function call(
  dataDir: string,
  port: number,
  path: string,
  method = 'GET',
  body?: unknown,
): Promise<{ status: number; text: string }> {
  const file = (name: string): Buffer => readFileSync(join(folder, dataDir, name));
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        agent: false,
        ca: file('ca.crt'),
        cert: file('admin.crt'),
        key: file('admin.key'),
        headers: body === undefined ? {} : { 'content-type': 'application/json' },
      },
      (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (part: string) => (text += part));
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const configMap = (name: string): unknown => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { k: 'v' },
});
const configMaps = '/api/v1/namespaces/default/configmaps';

afterEach(async () => {
  for (const child of running) child.kill('SIGTERM');
  await Promise.all(
    [...running].map((child) => new Promise((resolve) => child.once('close', resolve))),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a start with its own etcd', () => {
  test('makes private files, answers, and takes everything down on SIGTERM', async () => {
    const server = start(['--data-dir=plain', '--secure-port=0']);
    const port = portOf(await server.until(ready));
    expect(server.output()).toMatch(/^etcd 3\./m);
    expect(server.output()).toMatch(/curl --cacert .* https:\/\/127\.0\.0\.1:/);
    expect(server.output()).toMatch(/kubectl wants .*--naming=kubernetes/);
    const privateNames = readdirSync(join(folder, 'plain')).filter((name) =>
      /key|kubeconfig/.test(name),
    );
    expect(privateNames.sort()).toEqual([
      'admin.key',
      'admin.kubeconfig',
      'ca.key',
      'sa.key',
      'server.key',
    ]);
    for (const name of privateNames)
      expect(statSync(join(folder, 'plain', name)).mode & 0o777).toBe(0o600);
    expect((await call('plain', port, configMaps, 'POST', configMap('a'))).status).toBe(201);
    const etcd = JSON.parse(
      readFileSync(join(folder, 'plain', 'etcd.pid'), 'utf8'),
    ) as ProcessIdentity;
    server.child.kill('SIGTERM');
    expect(await server.exited).toBe(0);
    expect(isAlive(etcd)).toBe(false);
  });

  test('keeps data and certificates after kill -9, ending exactly the etcd it left', async () => {
    const first = start(['--data-dir=killed', '--secure-port=0']);
    const firstPort = portOf(await first.until(ready));
    expect((await call('killed', firstPort, configMaps, 'POST', configMap('kept'))).status).toBe(
      201,
    );
    const admin = readFileSync(join(folder, 'killed', 'admin.crt'), 'utf8');
    const left = JSON.parse(
      readFileSync(join(folder, 'killed', 'etcd.pid'), 'utf8'),
    ) as ProcessIdentity;
    first.child.kill('SIGKILL');
    await first.exited;
    expect(isAlive(left)).toBe(true);
    const second = start(['--data-dir=killed', '--secure-port=0']);
    const port = portOf(await second.until(ready));
    expect(isAlive(left)).toBe(false);
    expect((await call('killed', port, `${configMaps}/kept`)).status).toBe(200);
    expect(readFileSync(join(folder, 'killed', 'admin.crt'), 'utf8')).toBe(admin);
  });

  test('refuses a second server on the same data directory, and says who has it', async () => {
    const first = start(['--data-dir=twice', '--secure-port=0']);
    await first.until(ready);
    const second = start(['--data-dir=twice', '--secure-port=0']);
    expect(await second.exited).toBe(1);
    expect(second.output()).toMatch(
      new RegExp(`--data-dir=.*twice is in use by process ${String(first.child.pid)}`),
    );
  });

  test('refuses the other naming profile on existing data and names both', async () => {
    const first = start(['--data-dir=names', '--secure-port=0', '--naming=svc']);
    await first.until(ready);
    first.child.kill('SIGTERM');
    await first.exited;
    const second = start(['--data-dir=names', '--secure-port=0', '--naming=kubernetes']);
    expect(await second.exited).toBe(1);
    expect(second.output()).toMatch(
      /--naming=kubernetes: the data below \/registry was written with --naming=svc/,
    );
    expect(second.output()).not.toMatch(/\n\s+at /);
  });
});

describe('command lines that cannot work end with a message that names the flag', () => {
  test.each([
    [['--no-such-flag=1'], /unknown flag --no-such-flag/],
    [['--secure-port=99999'], /--secure-port=99999: must be a whole number/],
    [['--naming=other'], /--naming=other: must be one of svc, kubernetes/],
    [['--tls-cert-file=x'], /--tls-cert-file needs --tls-private-key-file/],
    [['--feature-gates=NoSuchGate=true'], /NoSuchGate/],
    [['--runtime-config=no/such=true'], /no\/such/],
    [
      ['--token-auth-file=missing.csv', '--data-dir=bad'],
      /--token-auth-file=missing.csv: there is no such file/,
    ],
  ])('%j', async (flags, message) => {
    const server = start(
      [...flags, '--secure-port=0'].slice(
        0,
        flags.some((flag) => flag.startsWith('--secure-port')) ? -1 : undefined,
      ),
    );
    expect(await server.exited).toBe(1);
    expect(server.output()).toMatch(message);
    expect(server.output()).not.toMatch(/\n\s+at /);
  });

  test('flags that npm swallowed are named with where to put the --', async () => {
    const server = start([], { npm_config_naming: 'kubernetes' });
    expect(await server.exited).toBe(1);
    expect(server.output()).toMatch(/npm start -- --naming=kubernetes/);
  });

  test('--help lists every flag and starts nothing', async () => {
    const server = start(['--help']);
    expect(await server.exited).toBe(0);
    expect(server.output()).toMatch(/--etcd-servers urls/);
    expect(server.output()).toMatch(/--secure-port int {3}\(default 6443\)/);
  });
});
