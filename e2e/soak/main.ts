// The command: three replicas on three members of etcd, processes of this machine, under load for
// so many minutes. Memory has to stay flat, descriptors and keys of etcd have to come back to what
// they were. Exit code 0: they did; 1: what grew is told; 2: the run could not be done.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { productStart } from '../../scripts/product-start.ts';
import { adminToken, TestCluster } from '../harness.ts';
import type { Replica } from '../harness.ts';
import { Balancer } from '../operations/balancer.ts';
import { SteadyLoad } from '../operations/steady-load.ts';
import { Churn } from './churn.ts';
import { isFlat, lineThrough } from './slope.ts';
import type { Sample } from './slope.ts';

const usage = `node e2e/soak/main.ts [flags]
  --minutes N    how long the load runs (20); 3 is the least that tells anything
  --samples N    how often is looked, at most (60)
  --churners N   who makes and deletes everything, beside the steady load (2)`;

const minutesMin = 3;
/** Of the run: caches and the event log fill meanwhile. */
const warmUpShare = 1 / 3;
const settleSecondsMax = 60;
/** Longer than events live and connections rest. */
const restMs = 20_000;
const collectSecondsMax = 30;
const mega = 2 ** 20;
const preload = fileURLToPath(new URL('collect.cjs', import.meta.url));
/** Small and short: what is bounded comes to its bound, and what ends, ends. */
const serverFlags = [
  '--cache-memory-mb=16',
  '--event-ttl=10s',
  '--etcd-compaction-interval=30s',
  '--shutdown-delay-duration=200ms',
  '--goaway-chance=0.005',
];

/** Beside the cache, which keeps five minutes of changes within its own bound. */
interface Held {
  readonly heldBytes: number;
  readonly rssBytes: number;
  readonly descriptorCount: number;
}

/** What a replica holds when its garbage is gone. */
async function held(replica: Replica): Promise<Held> {
  const { pid, output } = replica;
  const from = output.length;
  process.kill(pid, 'SIGUSR2');
  for (let turn = 0; turn < collectSecondsMax * 50; turn++) {
    const said = /^held (\d+) (\d+)\n/m.exec(replica.output.slice(from));
    const descriptorCount = readdirSync(`/proc/${String(pid)}/fd`).length;
    if (said) {
      const cacheBytes = await metric(replica, 'apiserver_cache_memory_bytes');
      const [heldBytes, rssBytes] = [Number(said[1]), Number(said[2])];
      return {
        heldBytes: heldBytes - cacheBytes,
        rssBytes: rssBytes - cacheBytes,
        descriptorCount,
      };
    }
    await sleep(20);
  }
  throw new Error('a replica does not say what it holds');
}

/** The sum over all labels. */
async function metric(replica: Replica, name: string): Promise<number> {
  const { text } = await replica.request('GET', '/metrics');
  const lines = [...text.matchAll(/^(\w+)(?:\{[^}]*\})? ([\d.e+-]+)$/gm)];
  const values = lines.flatMap(([, of, value]) => (of === name ? [Number(value)] : []));
  if (values.length === 0) throw new Error(`there is no metric ${name}`);
  return values.reduce((sum, value) => sum + value, 0);
}

interface Stored {
  readonly keyCount: number;
  readonly objectCount: number;
  readonly leaseCount: number;
}

async function stored(cluster: TestCluster): Promise<Stored> {
  const { etcd } = cluster;
  const count = await etcd.etcdctl('get', '', '--from-key', '--count-only', '--write-out=fields');
  const leases = await etcd.etcdctl('lease', 'list');
  return {
    keyCount: Number(/"Count" : (\d+)/.exec(count)?.[1]),
    objectCount: await metric(cluster.replica(0), 'apiserver_resource_objects'),
    leaseCount: leases.trim().split('\n').length - 1,
  };
}

interface Series {
  readonly heldBytes: Sample[];
  readonly rssBytes: Sample[];
}

async function soak(minutes: number, sampleCount: number, churnerCount: number): Promise<string[]> {
  const start = productStart();
  Object.assign(process.env, start.environment);
  const cluster = await TestCluster.start({
    replicaCount: 3,
    memberCount: 3,
    tls: true,
    serverFlags,
    nodeFlags: () => [...start.flags, '--expose-gc', `--require=${preload}`],
  });
  const balancer = await Balancer.start(cluster.replicas.map(({ url }) => url));
  try {
    const identity = { ca: readFileSync(cluster.replica(0).caFile, 'utf8'), token: adminToken };
    const { url } = balancer;
    // Whatever is made once is made before the first look.
    await underLoad({ url, identity, churnerCount }, () => sleep(5_000));
    const before = await settled(cluster);
    const series = cluster.replicas.map((): Series => ({ heldBytes: [], rssBytes: [] }));
    const failures = await underLoad({ url, identity, churnerCount }, async () => {
      const startMs = performance.now();
      const lengthMs = minutes * 60_000;
      // A look takes time, too: on a slow machine there are fewer of them.
      for (let share = 0; share < 1;) {
        await sleep(lengthMs / sampleCount);
        share = (performance.now() - startMs) / lengthMs;
        await look(cluster, series, share);
      }
    });
    return [...failures, ...judgeMemory(series), ...(await judgeRest(cluster, before))];
  } finally {
    await balancer.close();
    await cluster.stop();
  }
}

interface LoadOf {
  readonly url: string;
  readonly identity: { readonly ca: string; readonly token: string };
  readonly churnerCount: number;
}

/** What failed. */
async function underLoad(load: LoadOf, run: () => Promise<void>): Promise<string[]> {
  const { url, identity, churnerCount } = load;
  const steady = await SteadyLoad.start({ url, identity: () => identity, pauseMs: 50 });
  const churners = Array.from({ length: churnerCount }, (_, index) => {
    return new Churn({ url, identity, name: `churn-${Date.now().toString(36)}-${String(index)}` });
  });
  await run();
  await Promise.all(churners.map((churn) => churn.stop()));
  const { failures, ...counts } = await steady.stop();
  const churned = churners.reduce((sum, { requestCount }) => sum + requestCount, 0);
  say(`load: ${JSON.stringify({ ...counts, churned })}`);
  return [...failures, ...churners.flatMap((churn) => churn.failures)];
}

async function look(cluster: TestCluster, series: readonly Series[], share: number): Promise<void> {
  const texts: string[] = [];
  for (const [index, replica] of cluster.replicas.entries()) {
    const atSeconds = performance.now() / 1_000;
    const { heldBytes, rssBytes, descriptorCount } = await held(replica);
    texts.push(`${mb(heldBytes)} held, ${mb(rssBytes)} RSS, ${String(descriptorCount)} fds`);
    if (share <= warmUpShare) continue;
    series[index]?.heldBytes.push({ atSeconds, value: heldBytes });
    series[index]?.rssBytes.push({ atSeconds, value: rssBytes });
  }
  const { keyCount, objectCount, leaseCount } = await stored(cluster);
  const keys = `${String(keyCount)} keys, ${String(objectCount)} objects`;
  const percent = (share * 100).toFixed(0).padStart(3);
  say(`${percent} % ${texts.join('; ')}; ${keys}, ${String(leaseCount)} leases`);
}

function judgeMemory(series: readonly Series[]): string[] {
  const wrong: string[] = [];
  for (const [index, { heldBytes, rssBytes }] of series.entries()) {
    for (const [what, samples] of [
      ['held', heldBytes],
      ['RSS', rssBytes],
    ] as const) {
      const line = lineThrough(samples);
      const slope = `${mb(line.perHour)}/h ± ${mb(2 * line.errorPerHour)}/h`;
      const span = `${String(samples.length)} samples in ${line.spanSeconds.toFixed(0)} s`;
      const text = `replica ${String(index)}: ${what} ${mb(line.mean)}, ${slope} (${span})`;
      say(`${isFlat(line) ? 'flat   ' : 'GROWING'} ${text}`);
      if (!isFlat(line)) wrong.push(`it grows: ${text}`);
    }
  }
  return wrong;
}

interface Settled {
  readonly descriptorCounts: readonly number[];
  readonly stored: Stored;
}

/** Once what the load left has ended, or too late. */
async function settled(cluster: TestCluster, before?: Settled): Promise<Settled> {
  const giveUpAt = performance.now() + settleSecondsMax * 1_000;
  if (before === undefined) await sleep(restMs);
  for (;;) {
    const all = await Promise.all(cluster.replicas.map(held));
    const now: Settled = {
      descriptorCounts: all.map(({ descriptorCount }) => descriptorCount),
      stored: await stored(cluster),
    };
    const isDone = before === undefined || grown(before, now).length === 0;
    if (isDone || performance.now() > giveUpAt) return now;
    await sleep(1_000);
  }
}

async function judgeRest(cluster: TestCluster, before: Settled): Promise<string[]> {
  const after = await settled(cluster, before);
  say(`before the load: ${JSON.stringify(before)}`);
  say(`after it:        ${JSON.stringify(after)}`);
  return grown(before, after);
}

const beside = ({ keyCount, objectCount }: Stored): number => keyCount - objectCount;

/** Descriptors, objects, keys that are no objects, leases that are more than before. */
function grown(before: Settled, after: Settled): string[] {
  const pairs: (readonly [string, number, number])[] = [
    ...before.descriptorCounts.map(
      (count, index) =>
        [
          `descriptors of replica ${String(index)}`,
          count,
          after.descriptorCounts[index] ?? 0,
        ] as const,
    ),
    ['objects', before.stored.objectCount, after.stored.objectCount],
    ['keys beside objects', beside(before.stored), beside(after.stored)],
    ['leases', before.stored.leaseCount, after.stored.leaseCount],
  ];
  return pairs
    .filter(([, was, is]) => !(is <= was))
    .map(([what, was, is]) => `${what}: ${String(is)}, before the load ${String(was)}`);
}

const mb = (bytes: number): string => `${(bytes / mega).toFixed(1)} MB`;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const options = {
  minutes: { type: 'string', default: '20' },
  samples: { type: 'string', default: '60' },
  churners: { type: 'string', default: '2' },
} as const;

async function main(): Promise<number> {
  const { values } = parseArgs({ options });
  const [minutes, samples, churners] = [values.minutes, values.samples, values.churners].map(
    Number,
  ) as [number, number, number];
  if (!(minutes >= minutesMin && samples >= 12 && churners >= 0)) {
    say(`at least ${String(minutesMin)} minutes and 12 samples\n${usage}`);
    return 2;
  }
  const wrong = await soak(minutes, samples, churners);
  for (const line of wrong) say(`FAILED ${line}`);
  if (wrong.length === 0) say('nothing failed, nothing grew');
  return wrong.length === 0 ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`soak: ${Error.isError(error) ? (error.stack ?? '') : String(error)}\n`);
    process.exit(2);
  },
);
