// The etcd of a single-machine start: a child on loopback ports in its own process group, stopped
// last. Its PID and start time are recorded, so that a start after a crash ends exactly that
// process and takes its data over.
import { limits } from '../../lib/base/limits.ts';
import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { abortable, sleep } from '../../lib/base/abort.ts';
import { FlagError } from '../../lib/config/flags.ts';
import { findEtcd } from '../../scripts/etcd.mjs';
import type { FoundEtcd } from '../../scripts/etcd.mjs';
import { parseIdentity } from './data-directory.ts';
import type { DataDirectory } from './data-directory.ts';
import { fileProblem } from './file-problem.ts';
import { identify, isAlive } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';

const recordName = 'etcd.pid';
const { localEtcdStartTimeoutMs, localEtcdProbeTimeoutMs } = limits;
const { localEtcdStopTimeoutMs, localEtcdLogTailBytes, localEtcdPortTriesMax } = limits;
const never = new AbortController().signal;

export interface LocalEtcd {
  readonly url: string;
  /** Path of the tool beside it, where there is one. */
  readonly etcdctlPath: string | undefined;
  /** Resolves when it ends without being stopped: what to tell the user. */
  readonly ended: Promise<FlagError>;
  stop(): Promise<void>;
}

/**
 * Runs etcd with its data below the folder; resolves once it answers.
 * @throws FlagError that says what to install, or with the end of etcd's own log when it does not
 * start; `signal.reason`.
 */
export async function startLocalEtcd(
  directory: DataDirectory,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<LocalEtcd> {
  const etcd = await abortable(findEtcd({ log: say }), signal).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw new FlagError((error as Error).message, { cause: error });
  });
  if (etcd.warning !== undefined) say(etcd.warning);
  say(`etcd ${etcd.version} (${etcd.path})`);
  await endLeftover(directory, say);
  for (let tries = 1; ; tries++) {
    try {
      return await startOnFreePorts(etcd, directory, signal);
    } catch (error) {
      const isTaken = error instanceof FlagError && error.message.includes(portTaken);
      if (!isTaken || tries === localEtcdPortTriesMax) throw error;
    }
  }
}

/** Ports that were free a moment ago may be somebody else's by now. */
const portTaken = 'address already in use';

async function startOnFreePorts(
  etcd: FoundEtcd,
  directory: DataDirectory,
  signal: AbortSignal,
): Promise<LocalEtcd> {
  const [clientPort, peerPort] = await freePorts(2);
  const url = `http://127.0.0.1:${String(clientPort)}`;
  const peerUrl = `http://127.0.0.1:${String(peerPort)}`;
  const log = openLog(directory);
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
    { detached: true, stdio: ['ignore', log.descriptor, log.descriptor] },
  );
  closeSync(log.descriptor);
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signalName) => resolve(`exit ${String(code ?? signalName)}`));
  });
  const identity = child.pid === undefined ? undefined : identify(child.pid);
  if (identity !== undefined) directory.writePrivate(recordName, JSON.stringify(identity));
  // A process that ends without stopping it first takes it along all the same.
  const endAtExit = (): void => {
    if (identity !== undefined) signalTo(identity, 'SIGTERM');
  };
  process.once('exit', endAtExit);
  const stop = async (): Promise<void> => {
    if (identity !== undefined) await end(identity);
    process.off('exit', endAtExit);
    directory.remove(recordName);
  };
  try {
    const how = await answers(url, exited, signal);
    if (how !== undefined) throw endOf(how, log);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, etcdctlPath: etcd.etcdctlPath, ended: exited.then((how) => endOf(how, log)), stop };
}

interface LogFile {
  readonly file: string;
  readonly descriptor: number;
  /** Where the lines of this run begin. */
  readonly startBytes: number;
}

function openLog(directory: DataDirectory): LogFile {
  const file = directory.file('etcd.log');
  try {
    const descriptor = openSync(file, 'a', 0o600);
    return { file, descriptor, startBytes: fstatSync(descriptor).size };
  } catch (error) {
    throw new FlagError(`--data-dir: ${file}: ${fileProblem(error)}`, { cause: error });
  }
}

/** How it ended, with its last complaint in the log of this run. */
function endOf(how: string, log: LogFile): FlagError {
  const problem = lastLines(log)
    .map(problemOf)
    .findLast((found) => found !== undefined);
  const why = problem === undefined ? '' : `: ${problem}`;
  return new FlagError(`the etcd of this server ended (${how})${why}; its log is ${log.file}`);
}

function lastLines({ file, startBytes }: LogFile): string[] {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const sizeBytes = fstatSync(descriptor).size;
      const from = Math.max(startBytes, sizeBytes - localEtcdLogTailBytes);
      const tail = Buffer.alloc(sizeBytes - from);
      readSync(descriptor, tail, { position: from });
      return tail.toString('utf8').split('\n');
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return []; // the folder was removed meanwhile
  }
}

/** A line is a JSON object, or comes from something below its logger. */
function problemOf(line: string): string | undefined {
  try {
    const { level, msg, error } = JSON.parse(line) as Partial<Record<string, unknown>>;
    if (level !== 'error' && level !== 'fatal' && level !== 'panic') return undefined;
    return [msg, error].filter((part) => typeof part === 'string').join(': ');
  } catch {
    return undefined; // not of its logger
  }
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
  const giveUpAt = performance.now() + localEtcdStopTimeoutMs;
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

/** Resolves once it answers, or with how it ended. @throws `signal.reason`. */
async function answers(
  url: string,
  exited: Promise<string>,
  signal: AbortSignal,
): Promise<string | undefined> {
  let ended: string | undefined;
  void exited.then((how) => (ended = how));
  const giveUpAt = performance.now() + localEtcdStartTimeoutMs;
  while (performance.now() < giveUpAt) {
    if (ended !== undefined) return ended;
    if (await isHealthy(url, signal)) return undefined;
    await sleep(25, signal);
  }
  return `no answer within ${String(localEtcdStartTimeoutMs / 1_000)} s`;
}

/** A connection that nobody answers is given up: the next one may reach it. */
async function isHealthy(url: string, signal: AbortSignal): Promise<boolean> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(localEtcdProbeTimeoutMs)]);
  const reply = await fetch(`${url}/health`, { signal: ended }).catch(() => undefined);
  await reply?.body?.cancel().catch(() => undefined);
  return reply?.ok === true;
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
