// How far a machine goes, for one replica and for three on the same etcd: the curves of
// deploy/capacity.md, as rows of its tables.
// Run: npm run bench -- capacity objects|watchers|writes|replicas [figures…]
import type { JsonObject } from '../../lib/api/type-info.ts';
import { samplePod } from '../micro/sample-pod.ts';
import { median, percentile } from '../support/compare.ts';
import { Fleet } from '../support/fleet.ts';
import { closedLoop, requestBytes } from '../support/http1-client.ts';
import type { LoadBounds, LoadResult } from '../support/http1-client.ts';
import { accountObject, asSent, configMap, namespaceObject, podIn } from '../support/objects.ts';
import { writePaced } from '../support/paced-writes.ts';
import { withBench } from '../support/server.ts';
import type { Bench } from '../support/server.ts';
import { Deliveries, watchHttp2 } from '../support/watchers.ts';

const fleetSizes = [1, 3];
const mega = 1024 * 1024;
const busyPods = 64;
/** Of one connection; a server takes 250 by default. */
const streamsMax = 200;
const [curve = '', ...given] = process.argv.slice(2);
const figures = (usual: readonly number[]): readonly number[] =>
  given.length > 0 ? given.map(Number) : usual;

/** 2.5 KB Pods: what a start and its memory cost, and what requests cost beside them. */
async function objects(bench: Bench): Promise<void> {
  row('Pods', 'replicas', 'JSON MB', 'ready s', 'RSS MB', 'GET µs', 'LIST of 500 ms', 'CREATE µs');
  let there = 0;
  let jsonBytes = 0;
  let created = 0;
  for (const podCount of figures([10_000, 50_000, 100_000, 200_000])) {
    const first = there;
    jsonBytes += await bench.fill(bench.resource('pods'), podCount - first, (index) =>
      podIn(samplePod(first + index), `team-${String((first + index) % 20)}`, first + index),
    );
    there = podCount;
    for (const size of fleetSizes) {
      await Fleet.with(bench, size, async (fleet, readySeconds) => {
        const rss = (await fleet.rssBytes()) / mega;
        const get = await load(fleet, getOfPod, { durationMs: 2_000, countMax: 8_000 });
        const list = await load(fleet, () => requestBytes('GET', '/api/v1/pods?limit=500'), {
          durationMs: 3_000,
          countMax: 200,
        });
        const create = await load(fleet, () => createMap(created++), writeBounds);
        const costs = [get.micros, list.micros / 1_000, create.micros];
        row(podCount, size, jsonBytes / mega, readySeconds, rss, ...costs);
      });
    }
  }
}

/** Streams of 20 connections a replica, all of one namespace; 20,000 deliveries a second. */
async function watchers(bench: Bench): Promise<void> {
  row('watches', 'replicas', 'events/s', 'KB each', 'µs a delivery', 'p50 ms', 'p99 ms');
  for (const watchCount of figures([1_000, 5_000, 10_000, 20_000])) {
    for (const size of fleetSizes) {
      await Fleet.with(bench, size, async (fleet) => {
        const before = await fleet.rssBytes();
        const rate = 20_000 / watchCount;
        const done = await fanOut(fleet, watchCount, { rate, count: Math.max(rate * 5, 20) });
        const each = (done.rssBytes - before) / watchCount / 1024;
        const [p50, p99] = [percentile(done.lagsMs, 50), percentile(done.lagsMs, 99)];
        row(watchCount, size, rate, each, done.microsPerDelivery, p50, p99);
      });
    }
  }
}

/** CREATE of 1 KB ConfigMaps, by more and more clients at a time. */
async function writes(bench: Bench): Promise<void> {
  row('clients', 'replicas', 'writes/s', 'µs a write', 'p50 ms', 'p99 ms');
  let created = 0;
  for (const clientCount of figures([1, 4, 16, 64, 256])) {
    for (const size of fleetSizes) {
      await Fleet.with(bench, size, async (fleet) => {
        const done = await load(fleet, () => createMap(created++), writeBounds, clientCount);
        const { perSecond, micros, latenciesMs } = done;
        const [p50, p99] = [percentile(latenciesMs, 50), percentile(latenciesMs, 99)];
        row(clientCount, size, perSecond, micros, p50, p99);
      });
    }
  }
}

/**
 * Three beside one, by turns: requests a second of CPU of all of them together. Each has as many
 * connections as the one: reads of one replica that are open together share a proof.
 */
async function replicas(bench: Bench): Promise<void> {
  const [rounds = 3] = figures([]);
  await bench.fill(bench.resource('pods'), 1_000, (index) =>
    podIn(samplePod(index), 'team', index),
  );
  const perCpuSecond = new Map<string, number[]>();
  const note = (work: string, size: number, micros: number): void => {
    const key = `${work} ${String(size)}`;
    perCpuSecond.set(key, [...(perCpuSecond.get(key) ?? []), 1e6 / micros]);
  };
  const list = requestBytes('GET', '/api/v1/namespaces/team/pods');
  let created = 0;
  for (let round = 0; round < rounds; round++) {
    for (const size of fleetSizes) {
      await Fleet.with(bench, size, async (fleet) => {
        const get = await load(fleet, getOfPod, { durationMs: 3_000, countMax: 15_000 }, 16 * size);
        note('GET of a Pod', size, get.micros);
        const listed = await load(
          fleet,
          () => list,
          { durationMs: 3_000, countMax: 300 },
          16 * size,
        );
        note('LIST of 1,000 Pods', size, listed.micros);
        const create = await load(fleet, () => createMap(created++), writeBounds, 16 * size);
        note('CREATE of a ConfigMap', size, create.micros);
        const fan = await fanOut(fleet, 1_000, { rate: 50, count: 200 });
        note('delivery to 1,000 watchers', size, fan.microsPerDelivery);
      });
    }
  }
  row('work', 'one: per CPU-second', 'three: per CPU-second', 'three to one');
  for (const work of new Set([...perCpuSecond.keys()].map((key) => key.slice(0, -2)))) {
    const of = (size: number): number => median(perCpuSecond.get(`${work} ${String(size)}`) ?? []);
    row(work, of(1), of(3), of(3) / of(1));
  }
}

const writeBounds: LoadBounds = { durationMs: 6_000, countMax: 3_000 };
const getOfPod = (): Buffer => requestBytes('GET', '/api/v1/namespaces/busy/pods/web-000007');
const createMap = (index: number): Buffer => {
  const body = Buffer.from(JSON.stringify(configMap('busy', index)));
  return requestBytes('POST', '/api/v1/namespaces/busy/configmaps', body);
};

interface Load extends LoadResult {
  readonly perSecond: number;
  /** CPU of all replicas for one request. */
  readonly micros: number;
}

/** After a run of the same that is not counted. */
async function load(
  fleet: Fleet,
  next: () => Buffer,
  bounds: LoadBounds,
  clientCount = 16,
): Promise<Load> {
  const connections = await fleet.connections(clientCount);
  await closedLoop(connections, next, bounds);
  const { result, micros } = await fleet.cpuOf(() => closedLoop(connections, next, bounds));
  for (const connection of connections) connection.close();
  const { count, seconds } = result;
  return { ...result, perSecond: count / seconds, micros: micros / count };
}

interface FannedOut {
  readonly microsPerDelivery: number;
  readonly lagsMs: readonly number[];
  /** With the watches open and nothing to deliver. */
  readonly rssBytes: number;
}

async function fanOut(
  fleet: Fleet,
  watchCount: number,
  paced: { readonly rate: number; readonly count: number },
): Promise<FannedOut> {
  const deliveries = new Deliveries(watchCount);
  const path = (): string =>
    '/api/v1/namespaces/busy/pods' +
    '?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan';
  const connectionCount = Math.max(20 * fleet.ports.length, Math.ceil(watchCount / streamsMax));
  const stop = await watchHttp2(fleet.ports, path, deliveries, connectionCount);
  const rssBytes = await fleet.rssBytes();
  const writers = await fleet.connections(16);
  const run = (first: number): Promise<readonly number[]> =>
    writePaced({ deliveries, writers, request: updateOfPod, first, ...paced });
  await run(0);
  const { result: lagsMs, micros } = await fleet.cpuOf(() => run(paced.count));
  for (const writer of writers) writer.close();
  stop();
  return { microsPerDelivery: micros / (paced.count * watchCount), lagsMs, rssBytes };
}

function busyPod(index: number): JsonObject {
  return podIn(samplePod(index), 'busy', index);
}

function updateOfPod(index: number): Buffer {
  const object = asSent(busyPod(index % busyPods));
  const metadata = object['metadata'] as JsonObject & { readonly name: string };
  const labels = { app: 'web', round: String(Math.random()) };
  const body = Buffer.from(JSON.stringify({ ...object, metadata: { ...metadata, labels } }));
  return requestBytes('PUT', `/api/v1/namespaces/busy/pods/${metadata.name}`, body);
}

function row(...cells: readonly (string | number)[]): void {
  const texts = cells.map((cell) => {
    if (typeof cell === 'string') return cell;
    return cell >= 100 || Number.isInteger(cell) ? cell.toFixed(0) : cell.toPrecision(3);
  });
  console.log(`| ${texts.join(' | ')} |`);
}

const curves: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  objects,
  watchers,
  writes,
  replicas,
};
const measure = curves[curve];
if (measure === undefined) throw new Error(`which curve: ${Object.keys(curves).join(', ')}?`);
await withBench(async (bench) => {
  await bench.fill(bench.resource('namespaces'), 1, () => namespaceObject('busy'));
  await bench.fill(bench.resource('serviceaccounts'), 1, () => accountObject('busy'));
  await bench.fill(bench.resource('pods'), busyPods, busyPod);
  await measure(bench);
});
