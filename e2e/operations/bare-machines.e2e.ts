// The set-up without containers of docs/deploy-bare.md, followed with the files of deploy/systemd:
// three machines, which are three loopback addresses here, with an etcd member and a replica each.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findEtcd } from '../../scripts/etcd.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const unit = (name: string): string => readFileSync(join(root, 'deploy/systemd', name), 'utf8');
/** Named differently for each run of this test on one machine, below 127.0.0.0/8. */
const net = `127.${String(20 + (process.pid % 200))}.${String((process.pid >> 8) % 250)}`;
const machines = ['a', 'b', 'c'].map((name, index) => ({
  name,
  address: `${net}.${String(index + 1)}`,
}));
type Machine = (typeof machines)[number];

let folder: string;
const children: ChildProcess[] = [];
const at = (...names: readonly string[]): string => join(folder, ...names);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'apiserver-bare-'));
  const named = machines.map(({ name, address }) => `${name}=${address}`);
  const script = join(root, 'deploy/systemd/certificates.sh');
  execFileSync(script, [at('pki'), 'api.example.com', ...named]);
  for (const { name } of machines) cpSync(at('pki', name), at(name), { recursive: true });
  await Promise.all(machines.map(startEtcd));
  for (const machine of machines) await startReplica(machine);
});
afterAll(async () => {
  const running = children.filter(({ exitCode }) => exitCode === null);
  const ended = running.map((child) => new Promise((resolve) => child.once('exit', resolve)));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(ended);
  rmSync(folder, { recursive: true, force: true });
});

/** The folders of a machine are below one of this test. */
const onMachine = (text: string, { name }: Machine): string =>
  text
    .replaceAll('/etc/etcd/', `${at(name, 'etcd')}/`)
    .replaceAll('/etc/apiserver/', `${at(name, 'apiserver')}/`)
    .replaceAll('/var/lib/', `${at(name)}/data-`);

async function startEtcd(machine: Machine): Promise<void> {
  const members = machines.map(({ name, address }) => `${name}=https://${address}:2380`).join(',');
  const text = onMachine(unit('etcd.yaml'), machine)
    .replace('name: NAME', `name: ${machine.name}`)
    .replace(': MEMBERS', `: ${members}`)
    .replaceAll('//ADDRESS', `//${machine.address}`);
  writeFileSync(at(machine.name, 'etcd.yaml'), text);
  const { path } = await findEtcd({ log: () => undefined });
  const config = `--config-file=${at(machine.name, 'etcd.yaml')}`;
  await started(spawn(path, [config], { stdio: ['ignore', 'pipe', 'pipe'] }), /serving client/);
}

/** As systemd makes it of unit and environment. */
async function startReplica(machine: Machine): Promise<void> {
  const servers = machines.map(({ address }) => `https://${address}:2379`).join(',');
  const environment = onMachine(unit('apiserver.env'), machine)
    .replace('=ADDRESS', `=${machine.address}`)
    .replace('=ETCD_SERVERS', `=${servers}`)
    .replace('SERVICE_NAME', 'api.example.com');
  const value = /^APISERVER_FLAGS="([^"]*)"$/m.exec(environment.replaceAll('\\\n', ''))?.[1] ?? '';
  const command = /^ExecStart=((?:.*\\\n)*.*)$/m.exec(unit('apiserver.service'))?.[1] ?? '';
  const [, ...args] = onMachine(command.replaceAll('\\\n', ''), machine)
    .replace('$APISERVER_FLAGS', value)
    .split(/\s+/);
  const options = { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] as const };
  await started(
    spawn(process.execPath, args, { ...options, stdio: [...options.stdio] }),
    /is ready at/,
  );
}

function started(child: ChildProcess, ready: RegExp): Promise<void> {
  children.push(child);
  return new Promise((resolve, reject) => {
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += String(chunk);
      if (ready.test(output)) resolve();
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.once('exit', (code) => reject(new Error(`exit ${String(code)}:\n${output}`)));
  });
}

function ask(
  machine: Machine,
  method: string,
  path: string,
  body?: object,
): Promise<[number, string]> {
  const files = { ca: 'authorities/serving.crt', cert: 'admin.crt', key: 'admin.key' };
  const [ca, cert, key] = Object.values(files).map((name) => readFileSync(at('pki', name)));
  const tls = { agent: false as const, ca, cert, key };
  const headers = { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const url = `https://${machine.address}:6443${path}`;
    const sent = httpsRequest(url, { method, headers, ...tls }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve([answer.statusCode ?? 0, text]));
    });
    sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

test('what one machine takes, the others show', async () => {
  const [a, b, c] = machines as [Machine, Machine, Machine];
  const path = '/api/v1/namespaces';
  const [status, text] = await ask(a, 'POST', path, { metadata: { name: 'first' } });
  expect([status, text]).toEqual([201, text]);
  for (const machine of [b, c]) expect((await ask(machine, 'GET', `${path}/first`))[0]).toBe(200);
  const account = `${path}/first/serviceaccounts/default`;
  while ((await ask(b, 'GET', account))[0] !== 200) await sleep(50);
  const [made, token] = await ask(c, 'POST', `${account}/token`, {});
  expect([made, token]).toEqual([201, token]);
});

test('each replica keeps its data where the unit lets it write', () => {
  for (const { name } of machines) {
    expect(existsSync(at(name, 'data-apiserver', 'admin.kubeconfig'))).toBe(true);
  }
});
