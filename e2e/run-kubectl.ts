// Stock kubectl as a process of its own, which knows one server and no other configuration.
import { expect } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestCluster } from './harness.ts';
import type { ClusterOptions } from './harness.ts';

export const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

export interface KubectlResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface KubectlHome {
  readonly kubeconfig: string;
  /** Where it keeps what it has discovered. */
  readonly home: string;
}

export const kubectlEnvironment = ({ kubeconfig, home }: KubectlHome): NodeJS.ProcessEnv => ({
  ...process.env,
  KUBECONFIG: kubeconfig,
  HOME: home,
});

export function runKubectl(
  at: KubectlHome,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): KubectlResult {
  const result = spawnSync('kubectl', args, {
    encoding: 'utf8',
    env: { ...kubectlEnvironment(at), ...environment },
    timeout: 60_000,
  });
  return { code: result.status, out: result.stdout, err: result.stderr };
}

/** As `runKubectl`, while the test goes on. */
export function startKubectl(
  at: KubectlHome,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<KubectlResult> {
  const env = { ...kubectlEnvironment(at), ...environment };
  const child = spawn('kubectl', args, { env, timeout: 120_000 });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString('utf8')));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
}

/** What a command prints that does not end by itself: it is ended with the iteration. */
export async function* kubectlLines(
  at: KubectlHome,
  args: readonly string[],
): AsyncGenerator<string, void> {
  const child = spawn('kubectl', args, { env: kubectlEnvironment(at), timeout: 120_000 });
  try {
    yield* createInterface({ input: child.stdout });
  } finally {
    child.kill();
  }
}

/** What it prints; it must succeed without a word beside it. */
export function toldBy(home: KubectlHome, ...args: readonly string[]): string {
  const { code, out, err } = runKubectl(home, args);
  expect([args.join(' '), code, err]).toEqual([args.join(' '), 0, '']);
  return out.trim();
}

/** What `apply` says of the objects, each word once. */
export const verdictsOf = (out: string): string[] => [
  ...new Set(out.split('\n').map((line) => line.split(' ').slice(1).join(' '))),
];

/** kubectl beside a replica of its own in the kubernetes profile, for the tests of one file. */
export class KubectlCluster {
  readonly folder: string;
  readonly cluster: TestCluster;

  private constructor(folder: string, cluster: TestCluster) {
    this.folder = folder;
    this.cluster = cluster;
  }

  static async start(options: ClusterOptions = {}): Promise<KubectlCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'apiserver-kubectl-'));
    return new KubectlCluster(
      folder,
      await TestCluster.start({ naming: 'kubernetes', ...options }),
    );
  }

  get home(): KubectlHome {
    return { kubeconfig: this.cluster.replica(0).kubeconfig, home: this.folder };
  }

  run(...args: readonly string[]): KubectlResult {
    return runKubectl(this.home, args);
  }

  /** As `toldBy`. */
  told(...args: readonly string[]): string {
    return toldBy(this.home, ...args);
  }

  /** While it runs, the test goes on: for commands that wait for what a script does. */
  start(...args: readonly string[]): Promise<KubectlResult> {
    return startKubectl(this.home, args);
  }

  /** A file that `-f` names. */
  file(name: string, content: object): string {
    const path = join(this.folder, `${name}.json`);
    writeFileSync(path, JSON.stringify(content));
    return path;
  }

  /** An `EDITOR` that edits as sed does. */
  editor(name: string, command: string): Readonly<Record<string, string>> {
    const path = join(this.folder, `${name}.sh`);
    writeFileSync(path, `#!/bin/sh\nexec sed -i '${command}' "$1"\n`);
    chmodSync(path, 0o700);
    return { EDITOR: path, KUBE_EDITOR: path };
  }

  async stop(): Promise<void> {
    await this.cluster.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
