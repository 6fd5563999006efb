// Real etcd processes for tests: members on free loopback ports, each in its own process group,
// with data below a temporary folder that `stop` removes. They can be killed, paused, restarted.
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { debianEtcd, findEtcd } from '../../../scripts/etcd.mjs';
import { endWithThisProcess } from '../../base/testing/outlived.ts';
import { stopProcess } from '../../base/testing/stopped.ts';
import { freePorts } from './free-ports.ts';
import { writeTlsFiles } from './tls-files.ts';
import type { TestTlsFiles } from './tls-files.ts';

export interface EtcdClusterOptions {
  readonly memberCount?: 1 | 3;
  /** Serve clients over TLS and demand their certificate. */
  readonly tls?: boolean;
  /** Path of the etcd to run; default: what `npm start` would run. */
  readonly etcdPath?: string;
  /** Further flags for every member, such as `--max-request-bytes=…`. */
  readonly flags?: readonly string[];
}

interface Member {
  readonly name: string;
  clientPort: number;
  readonly peerPort: number;
  dataDir: string;
  etcdPath: string;
  child: ChildProcess | undefined;
}

const readyTimeoutMs = 30_000;
const startsMax = 5;
/** Logged by 3.4 and 3.5 alike, with and without TLS. */
const servesClients = 'serving client traffic';
const run = promisify(execFile);

/**
 * The etcd of a Debian suite (`bookworm` 3.4, `trixie` 3.5.16, …) for tests of version differences.
 */
export async function etcdOfSuite(suite: string): Promise<string> {
  return (await debianEtcd({ suite })).path;
}

export class EtcdCluster {
  readonly #members: Member[];
  readonly #folder: string;
  readonly #flags: readonly string[];
  readonly #tls: TestTlsFiles | undefined;
  #isNew = true;

  private constructor(
    members: Member[],
    folder: string,
    flags: readonly string[],
    tls: TestTlsFiles | undefined,
  ) {
    this.#members = members;
    this.#folder = folder;
    this.#flags = flags;
    this.#tls = tls;
  }

  /** Resolves once every member serves clients. Ports that somebody took meanwhile are given up. */
  static async start(options: EtcdClusterOptions = {}): Promise<EtcdCluster> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await EtcdCluster.#onFreePorts(options);
      } catch (error) {
        if (attempt === startsMax || !String(error).includes('address already in use')) throw error;
      }
    }
  }

  static async #onFreePorts(options: EtcdClusterOptions): Promise<EtcdCluster> {
    const etcdPath = options.etcdPath ?? (await findEtcd({ log: () => undefined })).path;
    const folder = mkdtempSync(join(tmpdir(), 'svc-etcd-'));
    const tls = options.tls === true ? await writeTlsFiles(folder) : undefined;
    const count = options.memberCount ?? 1;
    const ports = await freePorts(2 * count);
    const members = Array.from({ length: count }, (_, index): Member => ({
      name: `m${String(index)}`,
      clientPort: ports[2 * index] ?? 0,
      peerPort: ports[2 * index + 1] ?? 0,
      dataDir: join(folder, `m${String(index)}`),
      etcdPath,
      child: undefined,
    }));
    const cluster = new EtcdCluster(members, folder, options.flags ?? [], tls);
    try {
      await Promise.all(members.map((member) => cluster.#spawn(member)));
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    cluster.#isNew = false;
    return cluster;
  }

  /** Client URLs, one a member. */
  get endpoints(): readonly string[] {
    return this.#members.map((member) => this.#url(member));
  }

  /** For EtcdStorage's `tls` option; undefined without TLS. */
  get tlsFiles(): TestTlsFiles | undefined {
    return this.#tls;
  }

  /** `{ endpoints, tls }` as EtcdStorage takes them. */
  get connection(): { endpoints: readonly string[]; tls?: TestTlsFiles } {
    const { endpoints } = this;
    return this.#tls === undefined ? { endpoints } : { endpoints, tls: this.#tls };
  }

  /** Process id of a running member. */
  pid(index: number): number | undefined {
    return this.#member(index).child?.pid;
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(index: number): Promise<void> {
    await endProcess(this.#member(index), 'SIGKILL');
  }

  /** SIGSTOP; resolves when nothing of the process goes on. */
  async pause(index: number): Promise<void> {
    const pid = this.pid(index);
    if (pid !== undefined) await stopProcess(pid);
  }

  resume(index: number): void {
    signalGroup(this.#member(index), 'SIGCONT');
  }

  /** Starts a member again on its own data and ports; with another binary when given. */
  async restart(index: number, etcdPath?: string): Promise<void> {
    const member = this.#member(index);
    await endProcess(member, 'SIGTERM');
    member.etcdPath = etcdPath ?? member.etcdPath;
    await this.#spawn(member);
  }

  /** A new member joins as a learner and is promoted; returns its index. */
  async add(): Promise<number> {
    const [clientPort = 0, peerPort = 0] = await freePorts(2);
    const index = this.#members.length;
    const name = `m${String(index)}`;
    const { etcdPath } = this.#member(0);
    const dataDir = join(this.#folder, name);
    const member: Member = { name, clientPort, peerPort, dataDir, etcdPath, child: undefined };
    await this.#changeMembers('add', name, '--learner', `--peer-urls=${peerUrl(member)}`);
    this.#members.push(member);
    await this.#spawn(member);
    const id = await this.memberId(index);
    await this.#changeMembers('promote', id, `--endpoints=${this.endpoints[0] ?? ''}`);
    return index;
  }

  /** None of those that members which do not run will listen on for their peers. */
  async #newPort(): Promise<number> {
    const taken = new Set(this.#members.map(({ peerPort }) => peerPort));
    const free = await freePorts(taken.size + 1);
    return free.find((port) => !taken.has(port)) ?? 0;
  }

  /** Asked again while a member has not caught up, or lost a peer within the last 5 s. */
  async #changeMembers(...args: readonly string[]): Promise<void> {
    for (;;) {
      const problem = await this.etcdctl('member', ...args).then(() => '', String);
      if (problem === '') return;
      if (!/in sync|unhealthy cluster/.test(problem)) throw new Error(problem);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** In hexadecimal digits, as commands take it. */
  async memberId(index: number): Promise<string> {
    const endpoint = `--endpoints=${this.endpoints[index] ?? ''}`;
    const text = await this.etcdctl(endpoint, 'endpoint', 'status', '--write-out=json');
    const [line] = JSON.parse(quoteIds(text)) as EndpointStatus[];
    if (line === undefined) throw new Error('a member does not answer');
    return BigInt(line.Status.header.member_id).toString(16);
  }

  /** Runs etcdctl against the members that run; returns its standard output. */
  async etcdctl(...args: readonly string[]): Promise<string> {
    const tls = this.#tls;
    const files =
      tls === undefined
        ? []
        : [`--cacert=${tls.caFile}`, `--cert=${tls.certFile}`, `--key=${tls.keyFile}`];
    const running = this.#members.filter((member) => member.child !== undefined);
    const endpoints = running.map((member) => this.#url(member)).join(',');
    const isNamed = args.some((arg) => arg.startsWith('--endpoints='));
    const where = isNamed ? [] : [`--endpoints=${endpoints}`];
    return this.#tool('etcdctl', [...where, ...files, ...args]);
  }

  /** Compacts the history up to `revision` at once. */
  async compact(revision: number): Promise<void> {
    await this.etcdctl('compact', String(revision));
  }

  /** Index of the member that leads. */
  async leader(): Promise<number> {
    const text = await this.etcdctl('endpoint', 'status', '--write-out=json');
    for (const line of JSON.parse(quoteIds(text)) as EndpointStatus[]) {
      if (line.Status.leader === line.Status.header.member_id) {
        return this.endpoints.indexOf(line.Endpoint);
      }
    }
    throw new Error('the etcd cluster has no leader');
  }

  /** Makes another member the leader; returns its index. */
  async moveLeader(): Promise<number> {
    const text = await this.etcdctl('endpoint', 'status', '--write-out=json');
    const lines = JSON.parse(quoteIds(text)) as EndpointStatus[];
    const leads = (line: EndpointStatus): boolean =>
      line.Status.leader === line.Status.header.member_id;
    const next = lines.find((line) => !leads(line));
    const old = lines.find(leads);
    if (next === undefined || old === undefined) throw new Error('no member to move the lead to');
    const id = BigInt(next.Status.header.member_id).toString(16);
    await this.etcdctl(`--endpoints=${old.Endpoint}`, 'move-leader', id);
    return this.endpoints.indexOf(next.Endpoint);
  }

  /** Writes a backup of member 0 and returns its path. */
  async saveSnapshot(name: string): Promise<string> {
    const path = join(this.#folder, name);
    const endpoint = this.endpoints[0] ?? '';
    await this.etcdctl(`--endpoints=${endpoint}`, 'snapshot', 'save', path);
    return path;
  }

  /**
   * Replaces a one-member cluster's data with a backup, on the same ports, as an operator would.
   * `grow` runs while the restored etcd serves another address, before clients of this one see it.
   * `flags` are for the tool that restores.
   */
  async restoreSnapshot(
    path: string,
    grow?: (endpoint: string) => Promise<void>,
    flags: readonly string[] = [],
  ): Promise<void> {
    const member = this.#member(0);
    await endProcess(member, 'SIGKILL');
    const dataDir = `${member.dataDir}-restored`;
    const hasUtl = existsSync(join(dirname(member.etcdPath), 'etcdutl'));
    await this.#tool(hasUtl ? 'etcdutl' : 'etcdctl', [
      'snapshot',
      'restore',
      path,
      `--name=${member.name}`,
      `--data-dir=${dataDir}`,
      `--initial-cluster=${this.#initialCluster()}`,
      `--initial-advertise-peer-urls=${peerUrl(member)}`,
      ...flags,
    ]);
    member.dataDir = dataDir;
    if (grow !== undefined) {
      const { clientPort } = member;
      member.clientPort = await this.#newPort();
      await this.#spawn(member);
      await grow(this.#url(member));
      await endProcess(member, 'SIGTERM');
      member.clientPort = clientPort;
    }
    await this.#spawn(member);
  }

  /** Puts a new, empty cluster with another identity at the same address. One member only. */
  async replace(): Promise<void> {
    const member = this.#member(0);
    await endProcess(member, 'SIGKILL');
    rmSync(member.dataDir, { recursive: true, force: true });
    this.#isNew = true;
    await this.#spawn(member, ['--initial-cluster-token=another-cluster']);
    this.#isNew = false;
  }

  /** Ends all members and removes their data. */
  async stop(): Promise<void> {
    await Promise.all(this.#members.map((member) => endProcess(member, 'SIGKILL')));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #member(index: number): Member {
    const member = this.#members[index];
    if (member === undefined) throw new Error(`the cluster has no member ${String(index)}`);
    return member;
  }

  #url(member: Member): string {
    const scheme = this.#tls === undefined ? 'http' : 'https';
    return `${scheme}://127.0.0.1:${String(member.clientPort)}`;
  }

  #initialCluster(): string {
    return this.#members.map((member) => `${member.name}=${peerUrl(member)}`).join(',');
  }

  async #tool(name: string, args: readonly string[]): Promise<string> {
    const path = join(dirname(this.#member(0).etcdPath), name);
    const env = { ...process.env, ETCDCTL_API: '3' };
    return (await run(path, args, { env })).stdout;
  }

  async #spawn(member: Member, flags: readonly string[] = []): Promise<void> {
    const tls = this.#tls;
    const args = [
      `--name=${member.name}`,
      `--data-dir=${member.dataDir}`,
      `--listen-client-urls=${this.#url(member)}`,
      `--advertise-client-urls=${this.#url(member)}`,
      `--listen-peer-urls=${peerUrl(member)}`,
      `--initial-advertise-peer-urls=${peerUrl(member)}`,
      `--initial-cluster=${this.#initialCluster()}`,
      `--initial-cluster-state=${this.#isNew ? 'new' : 'existing'}`,
      '--logger=zap',
      '--log-level=info',
      ...(tls === undefined
        ? []
        : [
            '--client-cert-auth',
            `--trusted-ca-file=${tls.caFile}`,
            `--cert-file=${tls.serverCertFile}`,
            `--key-file=${tls.serverKeyFile}`,
          ]),
      ...this.#flags,
      ...flags,
    ];
    const child = spawn(member.etcdPath, args, {
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
      // Killed processes lose nothing without fsync. A variable: etcd 3.4 knows no such flag.
      env: { ETCD_UNSAFE_NO_FSYNC: 'true', ...process.env },
    });
    member.child = child;
    endWithThisProcess(child, { isDetached: true });
    await untilReady(child);
  }
}

interface EndpointStatus {
  readonly Endpoint: string;
  readonly Status: {
    readonly leader: string;
    readonly header: { readonly member_id: string };
  };
}

/** etcdctl prints 64-bit numbers as JSON numbers, which would lose digits. */
const quoteIds = (json: string): string => json.replace(/:(\d{16,})/g, ':"$1"');

const peerUrl = (member: Member): string => `http://127.0.0.1:${String(member.peerPort)}`;

function untilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => {
      reject(new Error(`etcd was not ready in time: ${output.slice(-2_000)}`));
    }, readyTimeoutMs);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (output.includes(servesClients)) return;
      output += text;
      if (!output.includes(servesClients)) return;
      clearTimeout(timer);
      resolve();
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`etcd ended with ${String(code)}: ${output.slice(-2_000)}`));
    });
  });
}

/** Signals the member's process group; a member that is gone already is left alone. */
function signalGroup(member: Member, signal: NodeJS.Signals): void {
  const { child } = member;
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  process.kill(-child.pid, signal);
}

async function endProcess(member: Member, signal: NodeJS.Signals): Promise<void> {
  const { child } = member;
  if (child === undefined) return;
  member.child = undefined;
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  signalGroup({ ...member, child }, 'SIGCONT');
  signalGroup({ ...member, child }, signal);
  await gone;
}
