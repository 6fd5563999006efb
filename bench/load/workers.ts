// Two workers (--workers=2) beside one process, all on one core, the load on another: what is
// compared is the CPU of all processes of a server, and how evenly its workers are busy.
// Run: npm run bench -- workers [get|list|fanout]
import { readFileSync, readdirSync } from 'node:fs';
import type { JsonObject } from '../../lib/api/type-info.ts';
import { samplePod } from '../micro/sample-pod.ts';
import { median, verdict } from '../support/compare.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import { configMap, namespaceObject, podIn } from '../support/objects.ts';
import { withBench } from '../support/server.ts';
import type { Target } from '../support/server.ts';
import { Deliveries, watchHttp2 } from '../support/watchers.ts';

const rounds = 5;
const warmUpRounds = 3;
const watcherCount = 1_000;
const eventCount = 40;
const writerCount = 8;
const objectCount = 64;
const workerCount = 2;
const [only] = process.argv.slice(2);

/** The watchers of both sides: each sees the writes of both. */
const fanOuts: Deliveries[] = [];
let written = 0;

/** Does the work once; resolves with how much it was. */
type Run = () => Promise<number>;

await withBench(async (bench) => {
  const pods = bench.resource('pods');
  await bench.fill(pods, objectCount, (index) => podIn(samplePod(index), 'busy', index));
  await bench.fill(bench.resource('configmaps'), objectCount, (index) => configMap('busy', index));
  await bench.fill(pods, 1_000, (index) => podIn(samplePod(index), 'thousand', index));
  await bench.fill(bench.resource('namespaces'), 1, () => namespaceObject('busy'));
  const one = await bench.server();
  const two = await bench.server({
    flags: [`--workers=${String(workerCount)}`, `--data-dir=${bench.file('workers')}`],
  });
  const targets = [one, two] as const;
  if (only === undefined || only === 'get') {
    const request = requestBytes('GET', '/api/v1/namespaces/busy/pods/web-000007');
    const runs = await Promise.all(targets.map((target) => reads(target, request, 64)));
    await compareRuns('GET of a Pod, 64 connections a process', targets, runs);
  }
  if (only === undefined || only === 'list') {
    const request = requestBytes('GET', '/api/v1/namespaces/thousand/pods');
    const runs = await Promise.all(targets.map((target) => reads(target, request, 16)));
    await compareRuns('LIST of 1,000 Pods, 16 connections a process', targets, runs);
  }
  if (only === undefined || only === 'fanout') {
    const runs = await Promise.all(targets.map(fanOut));
    const streams = `${String(watcherCount)} streams of 20 HTTP/2 connections`;
    await compareRuns(`fan-out of a 1 KB ConfigMap to ${streams}`, targets, runs);
  }
});

/** Each process has as many connections: what requests share, they share with as many others. */
async function reads(target: Target, request: Buffer, connectionCount: number): Promise<Run> {
  const processCount = Math.max(1, cpuOf(target.process.pid).length - 1);
  const connections = await openConnections(target.port, connectionCount * processCount);
  const bounds = { durationMs: 2_000, countMax: Infinity };
  return async () => (await closedLoop(connections, () => request, bounds)).count;
}

/** Each run writes events as fast as they are taken, and ends when every watcher has the last. */
async function fanOut(target: Target): Promise<Run> {
  const deliveries = new Deliveries(watcherCount);
  const query = '?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan';
  await watchHttp2(
    [target.port],
    () => `/api/v1/namespaces/busy/configmaps${query}`,
    deliveries,
    20,
  );
  const writers = await openConnections(target.port, writerCount);
  fanOuts.push(deliveries);
  return async () => {
    const before = deliveries.count;
    const bounds = { durationMs: 60_000, countMax: eventCount };
    await closedLoop(writers, () => update(written++), bounds);
    const last = written;
    await Promise.all(fanOuts.map((one) => one.complete(last - 1)));
    return deliveries.count - before;
  };
}
function update(index: number): Buffer {
  const object = configMap('busy', index % objectCount);
  const metadata = object['metadata'] as JsonObject & { readonly name: string };
  const labels = { round: String(index) };
  const changed = JSON.stringify({ ...object, metadata: { ...metadata, labels } });
  const path = `/api/v1/namespaces/busy/configmaps/${metadata.name}`;
  return requestBytes('PUT', path, Buffer.from(changed));
}

interface Figures {
  readonly perCpuSecond: number;
  /** Of the CPU of all workers, each one's part. */
  readonly shares: readonly number[];
  /** Of the CPU of the server, its parent's part. */
  readonly parentShare: number;
}

async function compareRuns(
  title: string,
  targets: readonly Target[],
  runs: readonly Run[],
): Promise<void> {
  for (let round = 0; round < warmUpRounds; round++) for (const run of runs) await run();
  const figures: Figures[][] = targets.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, run] of runs.entries()) {
      const target = targets[index];
      if (target !== undefined) figures[index]?.push(await measured(target, run));
    }
  }
  console.log(title);
  const [one = 0, two = 0] = figures.map((results) =>
    median(results.map(({ perCpuSecond }) => perCpuSecond)),
  );
  const shares = Array.from({ length: workerCount }, (_, worker) =>
    median((figures[1] ?? []).map((result) => result.shares[worker] ?? 0)),
  );
  const parent = median((figures[1] ?? []).map(({ parentShare }) => parentShare));
  const percents = shares.map((share) => `${(share * 100).toFixed(0)} %`).join(', ');
  console.log(
    `  one process ${one.toFixed(0)}, two workers ${two.toFixed(0)} a CPU-second;` +
      ` busy ${percents}; parent ${(parent * 100).toFixed(1)} %`,
  );
  // Each worker has a core: the busiest is full first.
  const busiest = median((figures[1] ?? []).map((result) => Math.max(...result.shares)));
  verdict('throughput of two workers on two cores to one', two / one / busiest, { atLeast: 1.7 });
}

async function measured({ process: server }: Target, run: Run): Promise<Figures> {
  const before = cpuOf(server.pid);
  const count = await run();
  const after = cpuOf(server.pid);
  const [parent = 0, ...workers] = after.map((nanos, index) => nanos - (before[index] ?? 0));
  const ofWorkers = workers.reduce((sum, nanos) => sum + nanos, 0);
  return {
    perCpuSecond: count / ((parent + ofWorkers) / 1e9),
    shares: workers.map((nanos) => nanos / ofWorkers),
    parentShare: parent / (parent + ofWorkers),
  };
}

/** Nanoseconds of CPU of all threads: of a process, then of each of its children. */
function cpuOf(pid: number): number[] {
  const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8');
  const pids = [String(pid), ...children.split(' ').filter((word) => word.trim() !== '')];
  return pids.map((one) =>
    readdirSync(`/proc/${one}/task`).reduce((sum, thread) => {
      const stat = readFileSync(`/proc/${one}/task/${thread}/schedstat`, 'utf8');
      return sum + Number(stat.split(' ', 1)[0]);
    }, 0),
  );
}
