// Starts as a user types them: the server's own etcd, its files, crashes and second starts.
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
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

const etcdOf = (dataDir: string): ProcessIdentity =>
  JSON.parse(readFileSync(join(folder, dataDir, 'etcd.pid'), 'utf8')) as ProcessIdentity;

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
    expect(server.output()).toContain(` ${join(folder, 'plain', 'admin.kubeconfig')}\n`);
    expect(server.output()).toMatch(/kubectl wants .*--naming=kubernetes/);
    const privateNames = readdirSync(join(folder, 'plain')).filter((name) =>
      /key|kubeconfig/.test(name),
    );
    expect(privateNames.sort()).toEqual([
      'admin.key',
      'admin.kubeconfig',
      'apiserver.key',
      'ca.key',
      'sa.key',
      'server.key',
    ]);
    for (const name of privateNames)
      expect(statSync(join(folder, 'plain', name)).mode & 0o777).toBe(0o600);
    expect((await call('plain', port, configMaps, 'POST', configMap('a'))).status).toBe(201);
    const backup = /^.* snapshot save .*$/m.exec(server.output())?.[0] ?? '';
    expect(spawnSync('sh', ['-c', backup]).status).toBe(0);
    expect(statSync(join(folder, 'plain', 'backup.db')).size).toBeGreaterThan(0);
    const etcd = etcdOf('plain');
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
    const left = etcdOf('killed');
    first.child.kill('SIGKILL');
    await first.exited;
    expect(isAlive(left)).toBe(true);
    const second = start(['--data-dir=killed', '--secure-port=0']);
    const port = portOf(await second.until(ready));
    expect(isAlive(left)).toBe(false);
    expect((await call('killed', port, `${configMaps}/kept`)).status).toBe(200);
    expect(readFileSync(join(folder, 'killed', 'admin.crt'), 'utf8')).toBe(admin);
  });

  test('refuses a second server on its data directory or port, which starts no etcd', async () => {
    const first = start(['--data-dir=twice', '--secure-port=0']);
    const port = String(portOf(await first.until(ready)));
    const [sameFolder, samePort] = [
      start(['--data-dir=twice', '--secure-port=0']),
      start(['--data-dir=other', `--secure-port=${port}`]),
    ];
    expect([await sameFolder.exited, await samePort.exited]).toEqual([1, 1]);
    expect(sameFolder.output()).toMatch(
      new RegExp(`--data-dir=.*twice is in use by process ${String(first.child.pid)}`),
    );
    expect(samePort.output()).toBe(
      `apiserver: --secure-port=${port}: 127.0.0.1:${port} is taken by another process: ` +
        'end that one, or give this server another port\n',
    );
    expect(readdirSync(join(folder, 'other'))).toEqual([]);
  });

  test('ends when its etcd does, and takes it along when it is told to hurry', async () => {
    const [orphaned, hurried] = [
      start(['--data-dir=orphaned', '--secure-port=0']),
      start(['--data-dir=hurried', '--secure-port=0', '--shutdown-delay-duration=1h']),
    ];
    await Promise.all([orphaned.until(ready), hurried.until(ready)]);
    process.kill(etcdOf('orphaned').pid, 'SIGKILL');
    expect(await orphaned.exited).toBe(1);
    expect(orphaned.output()).toMatch(
      /^apiserver: the etcd of this server ended \(exit SIGKILL\); its log is \/.*etcd\.log$/m,
    );
    const etcd = etcdOf('hurried');
    hurried.child.kill('SIGINT');
    await hurried.until(/shutting down/);
    // Signals of one Ctrl-C come at about the same time: a second one counts later.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    hurried.child.kill('SIGINT');
    expect(await hurried.exited).toBe(1);
    while (isAlive(etcd)) await new Promise((resolve) => setTimeout(resolve, 20));
  });

  test('that is stopped before it is ready leaves nothing running', async () => {
    const server = start(['--data-dir=early', '--secure-port=0']);
    await server.until(/^etcd 3\./m);
    server.child.kill('SIGTERM');
    expect(await server.exited).toBe(1);
    expect(server.output()).toMatch(/^apiserver: stopped before it was ready$/m);
    expect(readdirSync(join(folder, 'early'))).not.toContain('etcd.pid');
    expect(readdirSync(join(folder, 'early'))).not.toContain('apiserver.lock');
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

test('command lines that cannot work end with one line that names the flag', async () => {
  const claims = [
    [['--no-such-flag=1'], /^apiserver: unknown flag --no-such-flag: see --help\n$/],
    [['--feature-gates=NoSuchGate=true'], /^apiserver: --feature-gates: .*NoSuchGate\n$/],
    [['--runtime-config=no/such=true'], /^apiserver: --runtime-config: .*no\/such.*\n$/],
    [
      ['--token-auth-file=missing.csv'],
      /^apiserver: --token-auth-file=missing.csv: there is no such file\n$/,
    ],
    [['--encryption-provider-config=x'], /^apiserver: --encryption-provider-config=x is refused/],
  ] as const;
  const servers = claims.map(([flags]) => start([...flags, '--data-dir=bad', '--secure-port=0']));
  for (const [index, [, message]] of claims.entries()) {
    expect(await servers[index]?.exited).toBe(1);
    expect(servers[index]?.output()).toMatch(message);
  }
  expect(readdirSync(folder)).not.toContain('bad');
});

test('flags that npm swallowed are named with where to put the --', async () => {
  const server = start([], { npm_config_naming: 'kubernetes' });
  expect(await server.exited).toBe(1);
  expect(server.output()).toMatch(/npm start -- --naming=kubernetes/);
});

test('--help lists every flag, --version tells the version, and nothing is started', async () => {
  const [help, version] = [start(['--help']), start(['--version'])];
  expect([await help.exited, await version.exited]).toEqual([0, 0]);
  expect(help.output()).toMatch(/--etcd-servers urls/);
  expect(help.output()).toMatch(/--secure-port int {3}\(default 6443\)/);
  expect(version.output()).toMatch(/^svc-apiserver v\d\S+\n$/);
});
