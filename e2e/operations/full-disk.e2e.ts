// The disk of a replica's --data-dir, with its audit log, becomes full, then read-only: the replica
// serves on, counts what it could not record, records again when it can, and ends in order.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestCluster } from '../harness.ts';

const megabytes = 2 ** 20;
const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Request' }] };
const path = '/api/v1/namespaces/default/configmaps';

/** A disk of its own needs the right to mount one. */
const mayMount = ((): boolean => {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt'], {
      stdio: 'ignore',
    });
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
})();
if (!mayMount) process.stdout.write('full disks are not tried: mounting one is not allowed here\n');

let cluster: TestCluster;
let disk = '';
const mount = (...args: readonly string[]): void => void execFileSync('mount', [...args]);
const onDisk = (name: string): string => join(disk, name);

beforeAll(async () => {
  if (!mayMount) return;
  cluster = await TestCluster.start({
    replicaFlags: (_replica, folder) => {
      disk = join(folder, 'replica-0');
      mkdirSync(disk);
      mount('-t', 'tmpfs', '-o', 'size=4m', 'none', disk);
      writeFileSync(onDisk('policy'), JSON.stringify(policy));
      return [
        `--audit-policy-file=${onDisk('policy')}`,
        `--audit-log-path=${onDisk('audit.log')}`,
        '--audit-log-mode=blocking',
      ];
    },
  });
});
afterAll(async () => {
  if (!mayMount) return;
  await Promise.all(cluster.replicas.map((replica) => replica.kill()));
  execFileSync('sh', ['-c', `while umount ${disk} 2>/dev/null; do :; done`]);
  await cluster.stop();
});

let count = 0;
async function serves(): Promise<string> {
  const replica = cluster.replica(0);
  const name = `object-${String(++count)}`;
  const made = await replica.request('POST', path, { body: { metadata: { name } } });
  expect([made.status, made.text]).toEqual([201, made.text]);
  const read = await replica.request('GET', `${path}/${name}`);
  expect(read.status).toBe(200);
  expect((await replica.request('GET', '/readyz')).status).toBe(200);
  expect((await replica.request('GET', '/livez')).status).toBe(200);
  return name;
}

async function lostCount(): Promise<number> {
  const { text } = await cluster.replica(0).request('GET', '/metrics');
  const line = /^apiserver_audit_error_total\{[^}]*\} (\d+)$/m.exec(text);
  return Number(line?.[1] ?? 0);
}

const recorded = (name: string): boolean =>
  readFileSync(onDisk('audit.log'), 'utf8').includes(name);

(mayMount ? test : test.skip)('the disk is full, has room again, and is read-only', async () => {
  expect(recorded(await serves())).toBe(true);
  expect(await lostCount()).toBe(0);

  let isFull = false;
  for (let part = 0; !isFull; part++) {
    try {
      writeFileSync(onDisk(`filler-${String(part)}`), Buffer.alloc(megabytes / 16));
    } catch {
      isFull = true;
    }
  }
  for (let turn = 0; turn < 20 && (await lostCount()) === 0; turn++) await serves();
  expect(await lostCount()).toBeGreaterThan(0);
  const unrecorded = await serves();

  execFileSync('sh', ['-c', `rm ${onDisk('filler-*')}`]);
  let name = '';
  for (let turn = 0; turn < 20 && !(name !== '' && recorded(name)); turn++) name = await serves();
  expect(recorded(name)).toBe(true);
  expect(recorded(unrecorded)).toBe(false);

  // The open audit log is closed to writers, too.
  const { pid } = cluster.replica(0);
  mount('--bind', disk, disk);
  mount('-o', 'remount,bind,ro', disk);
  await serves();
  await sleep(1_000);
  await serves();
  expect(cluster.replica(0).pid).toBe(pid);
  expect(await cluster.replica(0).terminate()).toBe(0);
  // The lock that could not be removed is nobody's: the next start takes it away.
  expect(existsSync(onDisk('apiserver.lock'))).toBe(true);
  execFileSync('umount', [disk]);
  await cluster.replica(0).start();
  await serves();
});
