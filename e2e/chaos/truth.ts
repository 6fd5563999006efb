// Runs harm against real replicas on a real etcd under recorded traffic, and returns the verdict.
// A scenario says only what it starts and what it breaks.

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { adminToken, TestCluster, type ClusterOptions } from '../harness.ts';
import type { Access } from '../history/api-client.ts';
import { checkHistory, type CheckOptions } from '../history/checker.ts';
import type { Anomaly, History } from '../history/history.ts';
import { newSeed, Random } from '../history/random.ts';
import { describeHistory } from '../history/summary.ts';
import { startWorkload, type Workload, type WorkloadOptions } from '../history/workload.ts';

export interface Scene {
  readonly cluster: TestCluster;
  readonly random: Random;
  /** Waits until this many more requests were answered: proof that the service works. */
  readonly flow: (count?: number) => Promise<void>;
}

export interface Scenario {
  readonly name: string;
  readonly cluster?: ClusterOptions;
  /** Absent: a cluster for this scenario alone. */
  readonly shared?: SharedClusters;
  readonly workload?: Omit<WorkloadOptions, 'servers' | 'access' | 'seed'>;
  readonly check?: CheckOptions;
  /** Where the clients go; default: straight to the replicas. */
  readonly serversOf?: (cluster: TestCluster) => Promise<readonly string[]>;
  /** Before the traffic begins. */
  readonly prepare?: (cluster: TestCluster) => Promise<void>;
  readonly harm: (scene: Scene) => Promise<void>;
  /** Runs after the traffic ended, whether or not it went well. */
  readonly cleanUp?: () => Promise<void>;
}

export interface Verdict {
  readonly seed: string;
  readonly anomalies: readonly Anomaly[];
}

const FLOW_COUNT = 200;
/** No answer for so long: nothing is served any more, however busy the machine is. */
const SILENCE_MAX_MS = 45_000;

/** The verdict carries the seed, so that a failed expectation prints it. */
export async function judge(scenario: Scenario): Promise<Verdict & { history: History }> {
  const seed = process.env['HISTORY_SEED'] ?? newSeed();
  const options = { replicaCount: 3, tls: true, ...scenario.cluster };
  const clusters = scenario.shared ?? new SharedClusters();
  const cluster = await clusters.open(options);
  try {
    await scenario.prepare?.(cluster);
    const servers = await serversOf(scenario, cluster);
    const workload = await startWorkload({
      settleMs: 45_000,
      ...scenario.workload,
      servers,
      access: accessTo(cluster),
      seed,
    });
    const flow = (count = FLOW_COUNT): Promise<void> => flowOf(workload, seed, count);
    try {
      await flow();
      await scenario.harm({ cluster, random: new Random(seed, scenario.name), flow });
      await flow();
    } catch (error) {
      await workload.stop().catch(() => undefined);
      throw error;
    }
    const history = await workload.stop();
    process.stdout.write(`${scenario.name}: ${describeHistory(history)}\n`);
    return { seed, history, anomalies: checkHistory(history, scenario.check) };
  } catch (error) {
    await clusters.stop(); // what was broken may not have been mended
    throw error;
  } finally {
    await scenario.cleanUp?.();
    if (scenario.shared === undefined) await clusters.stop();
  }
}

/** What several scenarios run on, one after the other: each leaves it as whole as it found it. */
export class SharedClusters {
  readonly #clusters = new Map<string, TestCluster>();

  async open(options: ClusterOptions): Promise<TestCluster> {
    const key = JSON.stringify(options);
    const cluster = this.#clusters.get(key) ?? (await TestCluster.start(options));
    this.#clusters.set(key, cluster);
    return cluster;
  }

  async stop(): Promise<void> {
    const all = [...this.#clusters.values()];
    this.#clusters.clear();
    await Promise.all(all.map((cluster) => cluster.stop()));
  }
}

async function serversOf(
  { serversOf }: Scenario,
  cluster: TestCluster,
): Promise<readonly string[]> {
  return (await serversOf?.(cluster)) ?? cluster.replicas.map(({ url }) => url);
}

/** The first administrator's token, and the certificate authorities of all replicas. */
export function accessTo({ replicas }: TestCluster): Access {
  const ca = replicas.map(({ caFile }) => readFileSync(caFile, 'utf8')).join('\n');
  return { token: adminToken, ca };
}

/** Waits until this many more requests of the workload were answered. */
export async function flowOf(workload: Workload, seed: string, count: number): Promise<void> {
  const wanted = workload.answered() + count;
  let answered = 0;
  let answeredMs = Date.now();
  while (workload.answered() < wanted) {
    if (workload.answered() > answered) {
      answered = workload.answered();
      answeredMs = Date.now();
    } else if (Date.now() - answeredMs > SILENCE_MAX_MS) {
      throw new Error(`seed ${seed}: no answer for too long, ${wanted - answered} are missing`);
    }
    await sleep(20);
  }
}
