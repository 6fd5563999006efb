// The etcd of a single-machine start: a child on loopback ports in its own process group, stopped
// last. Its PID and start time are recorded, so that a start after a crash ends exactly that
// process and takes its data over.
import { spawn } from 'node:child_process';
import { openSync, closeSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { sleep } from '../../lib/base/abort.ts';
import { findEtcd } from '../../scripts/etcd.mjs';
import { parseIdentity } from './data-directory.ts';
import type { DataDirectory } from './data-directory.ts';
import { identify, isAlive } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';

const recordName = 'etcd.pid';
const startTimeoutMs = 60_000;
const stopTimeoutMs = 10_000;
const never = new AbortController().signal;

export interface LocalEtcd {
  readonly url: string;
  readonly version: string;
  stop(): Promise<void>;
}

/**
 * Runs etcd with its data below the folder; resolves once it answers.
 * @throws Error that says what to install, or the end of etcd's own log when it does not start.
 */
export async function startLocalEtcd(
  directory: DataDirectory,
  say: (line: string) => void,
): Promise<LocalEtcd> {
  const etcd = await findEtcd({ log: say });
  if (etcd.warning !== undefined) say(etcd.warning);
  say(`etcd ${etcd.version} (${etcd.path})`);
  await endLeftover(directory, say);
  const [clientPort, peerPort] = await freePorts(2);
  const url = `http://127.0.0.1:${String(clientPort)}`;
  const peerUrl = `http://127.0.0.1:${String(peerPort)}`;
  const log = openSync(directory.file('etcd.log'), 'a', 0o600);
  const child = spawn(
    etcd.path,
    [
      '--name=local',
      `--data-dir=${directory.file('etcd')}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=local=${peerUrl}`,
      '--quota-backend-bytes=8589934592',
    ],
    { detached: true, stdio: ['ignore', log, log] },
  );
  closeSync(log);
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(`exit ${String(code ?? signal)}`));
  });
  const identity = child.pid === undefined ? undefined : identify(child.pid);
  if (identity !== undefined) directory.writePrivate(recordName, JSON.stringify(identity));
  try {
    await answers(url, exited, directory);
  } catch (error) {
    if (identity !== undefined) await end(identity);
    directory.remove(recordName);
    throw error;
  }
  return {
    url,
    version: etcd.version,
    stop: async () => {
      if (identity !== undefined) await end(identity);
      directory.remove(recordName);
    },
  };
}

/** Ends the etcd that a killed server left behind: only the very process that was recorded. */
async function endLeftover(directory: DataDirectory, say: (line: string) => void): Promise<void> {
  const leftover = parseIdentity(directory.read(recordName));
  if (leftover !== undefined && isAlive(leftover)) {
    say(`ending the etcd that an earlier server left running (process ${String(leftover.pid)})`);
    await end(leftover);
  }
  directory.remove(recordName);
}

async function end(identity: ProcessIdentity): Promise<void> {
  const giveUpAt = performance.now() + stopTimeoutMs;
  signalTo(identity, 'SIGTERM');
  while (isAlive(identity)) {
    if (performance.now() > giveUpAt) signalTo(identity, 'SIGKILL');
    await sleep(20, never);
  }
}

function signalTo(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it ended meanwhile
  }
}

async function answers(
  url: string,
  exited: Promise<string>,
  directory: DataDirectory,
): Promise<void> {
  let ended: string | undefined;
  void exited.then((how) => (ended = how));
  const giveUpAt = performance.now() + startTimeoutMs;
  while (performance.now() < giveUpAt) {
    if (ended !== undefined)
      throw new Error(`etcd did not start (${ended}): ${directory.file('etcd.log')}`);
    const health = await fetch(`${url}/health`).catch(() => undefined);
    if (health?.ok === true) return;
    await sleep(25, never);
  }
  throw new Error(
    `etcd did not answer within ${String(startTimeoutMs)} ms: ${directory.file('etcd.log')}`,
  );
}

/** Ports that were free a moment ago; all are held together so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once('error', reject);
          server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
