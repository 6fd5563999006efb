// Real replicas on a real etcd: processes on 127.0.0.1 started as users start them, killed and
// paused as machines do.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MaybePromise } from '../lib/base/maybe-promise.ts';
import { endWithThisProcess } from '../lib/base/testing/outlived.ts';
import { EtcdCluster } from '../lib/storage-etcd/testing/etcd-process.ts';
import type { EtcdClusterOptions } from '../lib/storage-etcd/testing/etcd-process.ts';
import { workersOf } from './worker-processes.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readyTimeoutMs = 30_000;
/** Each replica has so many processes that serve, where a test does not say how many. */
export const workerCount = Number(process.env['E2E_WORKERS'] ?? 1);
/** A token of system:masters that every replica knows. */
export const adminToken = 'e2e-admin-token';

export interface ClusterOptions extends EtcdClusterOptions {
  readonly replicaCount?: number;
  /** Further flags for every replica. */
  readonly serverFlags?: readonly string[];
  /** Further flags for one of them; `folder` is removed at the end. */
  readonly replicaFlags?: (replica: number, folder: string) => MaybePromise<readonly string[]>;
  /** Flags for the Node process of one of them. */
  readonly nodeFlags?: (replica: number) => readonly string[];
  readonly naming?: 'svc' | 'kubernetes';
  /** Lines of the token file beside that of the administrator: `token,user,uid,"groups"`. */
  readonly tokens?: readonly string[];
  /** By which URL a replica reaches a member of etcd; default: straight. */
  readonly etcdUrlOf?: (replica: number, url: string) => Promise<string>;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The JSON body; throws for anything else. */
  json<T = Record<string, never>>(): T;
}

/** Replicas and their etcd; `stop` ends everything that was started. */
export class TestCluster {
  readonly etcd: EtcdCluster;
  readonly replicas: readonly Replica[];
  readonly #folder: string;

  private constructor(etcd: EtcdCluster, replicas: readonly Replica[], folder: string) {
    this.etcd = etcd;
    this.replicas = replicas;
    this.#folder = folder;
  }

  static async start(options: ClusterOptions = {}): Promise<TestCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'apiserver-e2e-'));
    const etcd = await EtcdCluster.start(options);
    const tokens = join(folder, 'tokens.csv');
    const rows = [`${adminToken},e2e-admin,1,"system:masters"`, ...(options.tokens ?? [])];
    writeFileSync(tokens, `${rows.join('\n')}\n`, { mode: 0o600 });
    const tls = etcd.tlsFiles;
    const etcdFlags = [
      ...(tls === undefined
        ? []
        : [
            `--etcd-cafile=${tls.caFile}`,
            `--etcd-certfile=${tls.certFile}`,
            `--etcd-keyfile=${tls.keyFile}`,
          ]),
    ];
    const { etcdUrlOf = (_replica, url) => Promise.resolve(url) } = options;
    const replicas: Replica[] = [];
    for (let index = 0; index < (options.replicaCount ?? 1); index++) {
      const urls = await Promise.all(etcd.endpoints.map((url) => etcdUrlOf(index, url)));
      const dataDir = join(folder, `replica-${String(index)}`);
      const flags = [
        `--etcd-servers=${urls.join(',')}`,
        ...etcdFlags,
        `--token-auth-file=${tokens}`,
        `--naming=${options.naming ?? 'kubernetes'}`,
        ...(workerCount === 1 ? [] : [`--workers=${String(workerCount)}`]),
        ...(options.serverFlags ?? []),
        ...((await options.replicaFlags?.(index, folder)) ?? []),
      ];
      replicas.push(new Replica(dataDir, flags, options.nodeFlags?.(index)));
    }
    const cluster = new TestCluster(etcd, replicas, folder);
    try {
      const [first, ...others] = replicas;
      await first?.start();
      await Promise.all(others.map((replica) => replica.start()));
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** The n-th replica. */
  replica(index: number): Replica {
    const found = this.replicas[index];
    if (found === undefined) throw new Error(`there is no replica ${String(index)}`);
    return found;
  }

  async stop(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.kill()));
    await this.etcd.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export class Replica {
  readonly dataDir: string;
  readonly #flags: readonly string[];
  readonly #nodeFlags: readonly string[];
  #child: ChildProcess | undefined;
  #exited: Promise<number | null> = Promise.resolve(null);
  #port = 0;
  #output = '';
  #agent: Agent | undefined;

  constructor(dataDir: string, flags: readonly string[], nodeFlags: readonly string[] = []) {
    this.dataDir = dataDir;
    this.#flags = flags;
    this.#nodeFlags = nodeFlags;
  }

  get url(): string {
    return `https://127.0.0.1:${String(this.#port)}`;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('the replica does not run');
    return pid;
  }

  /** Standard output and error so far. */
  get output(): string {
    return this.#output;
  }

  get caFile(): string {
    return join(this.dataDir, 'ca.crt');
  }

  get kubeconfig(): string {
    return join(this.dataDir, 'admin.kubeconfig');
  }

  /**
   * Starts the server and waits until it is ready; a second start takes the same port. `changed`
   * flags stand in place of those of the same name.
   */
  async start(changed: readonly string[] = []): Promise<void> {
    const nameOf = (flag: string): string => flag.replace(/=.*/, '');
    const names = new Set(changed.map(nameOf));
    const flags = [
      ...this.#flags.filter((flag) => !names.has(nameOf(flag))),
      ...changed,
      `--data-dir=${this.dataDir}`,
      `--secure-port=${String(this.#port)}`,
    ];
    const command = [...this.#nodeFlags, join(root, 'cmd/apiserver/main.ts'), ...flags];
    const child = spawn(process.execPath, command, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    endWithThisProcess(child);
    this.#child = child;
    this.#exited = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
    await this.#listening(child);
    this.#agent = new Agent({ keepAlive: true, ca: readFileSync(this.caFile) });
    await this.waitReady();
  }

  async waitReady(): Promise<void> {
    const giveUpAt = performance.now() + readyTimeoutMs;
    for (;;) {
      const reply = await this.request('GET', '/readyz').catch(() => undefined);
      if (reply?.status === 200) return;
      if (performance.now() > giveUpAt) {
        throw new Error(`not ready: ${reply?.text ?? 'no answer'}\n${this.#output}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  request(
    method: string,
    path: string,
    options: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Reply> {
    const { body } = options;
    const bytes =
      body === undefined
        ? undefined
        : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const headers = {
      authorization: `Bearer ${adminToken}`,
      ...(bytes === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
      ...options.headers,
    };
    return new Promise((resolve, reject) => {
      const outgoing = httpsRequest(
        `${this.url}${path}`,
        { method, headers, ...(this.#agent === undefined ? {} : { agent: this.#agent }) },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('error', reject);
          incoming.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            const status = incoming.statusCode ?? 0;
            const json = <T>(): T => JSON.parse(text) as T;
            resolve({ status, headers: incoming.headers, text, json });
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(bytes);
    });
  }

  /** Nothing of it goes on, its workers included, until `resume`. */
  pause(): void {
    for (const pid of [this.pid, ...workersOf(this)]) process.kill(pid, 'SIGSTOP');
  }

  /** Workers first: whoever looks after them finds them awake. */
  resume(): void {
    for (const pid of [...workersOf(this), this.pid]) process.kill(pid, 'SIGCONT');
  }

  /** SIGTERM; resolves with the exit code. */
  async terminate(): Promise<number | null> {
    this.#child?.kill('SIGTERM');
    const code = await this.#exited;
    this.#agent?.destroy();
    return code;
  }

  /** SIGKILL, or nothing when it does not run. */
  async kill(): Promise<void> {
    if (this.#child === undefined) return;
    if (this.#child.exitCode === null) this.#child.kill('SIGKILL');
    await this.#exited;
    this.#agent?.destroy();
    this.#child = undefined;
  }

  #listening(child: ChildProcess): Promise<void> {
    const before = this.#output.length; // of an earlier start
    return new Promise((resolve, reject) => {
      const collect = (chunk: Buffer): void => {
        this.#output += chunk.toString('utf8');
        const port = /is ready at https:\/\/[^/\s]*:(\d+)/.exec(this.#output.slice(before))?.[1];
        if (port === undefined) return;
        this.#port = Number(port);
        resolve();
      };
      child.stdout?.on('data', collect);
      child.stderr?.on('data', collect);
      child.once('exit', (code) => reject(new Error(`exit ${String(code)}:\n${this.#output}`)));
    });
  }
}
