// Fan-out: 1,000 watchers of one namespace and one writer, beside a bare server that writes the
// same bytes to as many.
// Run: npm run bench -- fanout [http1|http2 [events a second [/path/to/another/tree]]]
import type { JsonObject } from '../../lib/api/type-info.ts';
import { samplePod } from '../micro/sample-pod.ts';
import { median, percentile, verdict } from '../support/compare.ts';
import { Connection, requestBytes } from '../support/http1-client.ts';
import { asSent, namespaceObject, podIn } from '../support/objects.ts';
import { writePaced } from '../support/paced-writes.ts';
import { printMetrics } from '../support/server-metrics.ts';
import { withBench } from '../support/server.ts';
import type { Bench, Target } from '../support/server.ts';
import { Deliveries, watchHttp1, watchHttp2 } from '../support/watchers.ts';

const watcherCount = 1_000;
const connectionCount = 10;
const podCount = 64;
const writerCount = 16;
const rounds = 3;
const profileTo = process.env['BENCH_PROFILE'];
const [only, rate, formerFolder] = process.argv.slice(2);
const rates = rate === undefined ? [20, 200, Infinity] : [Number(rate)];

type Protocol = 'http1' | 'http2';
interface Side {
  readonly name: string;
  readonly target: Target;
  readonly namespace: string;
  readonly deliveries: Deliveries;
  readonly writers: readonly Connection[];
  readonly request: (index: number) => Buffer;
  written: number;
}
interface Figures {
  readonly microsPerDelivery: number;
  readonly deliveriesPerSecond: number;
  readonly lagsMs: readonly number[];
}

await withBench(async (bench) => {
  const pods = bench.resource('pods');
  for (const namespace of ['busy', 'former']) {
    await bench.fill(pods, podCount, (index) => podIn(samplePod(index), namespace, index));
    await bench.fill(bench.resource('namespaces'), 1, () => namespaceObject(namespace));
  }
  for (const protocol of ['http1', 'http2'] as const) {
    if (only === undefined || only === protocol) await measure(bench, protocol);
  }
});

async function measure(bench: Bench, protocol: Protocol): Promise<void> {
  const server = await bench.server();
  const bare = await bench.bare('bare-fan-out.ts');
  const own = await open('server', server, protocol, podUpdates('busy'));
  const frame = Buffer.from(
    `{"type":"MODIFIED","object":${JSON.stringify(podIn(samplePod(0), 'busy', 0))}}\n`,
  );
  const base = await open('bare', bare, protocol, {
    namespace: 'busy',
    request: () => requestBytes('POST', '/', frame),
  });
  const former =
    formerFolder === undefined
      ? undefined
      : await open(
          'former',
          await bench.server({
            folder: formerFolder,
            flags: [`--data-dir=${bench.file('former')}`],
          }),
          protocol,
          podUpdates('former'),
        );
  const where =
    protocol === 'http1'
      ? 'connections'
      : `streams of ${String(connectionCount)} HTTP/2 connections`;
  console.log(`fan-out of a 2.5 KB Pod to ${String(watcherCount)} ${where}`);
  for (const rate of rates) await compareAt(rate, base, own, former);
  await printMetricsIfAsked(server);
  await bench.stopServer(bare);
  await bench.stopServer(server);
  if (former !== undefined) await bench.stopServer(former.target);
}

/** Writes of one of the Pods of a namespace, each of which changes it. */
function podUpdates(namespace: string): Pick<Side, 'namespace' | 'request'> {
  return {
    namespace,
    request(index) {
      const which = index % podCount;
      const object = asSent(podIn(samplePod(which), namespace, which));
      const metadata = object['metadata'] as JsonObject & { readonly name: string };
      const labels = { app: 'web', round: String(index) };
      const body = JSON.stringify({ ...object, metadata: { ...metadata, labels } });
      const path = `/api/v1/namespaces/${namespace}/pods/${metadata.name}`;
      return requestBytes('PUT', path, Buffer.from(body));
    },
  };
}

async function printMetricsIfAsked(server: Target): Promise<void> {
  if (process.env['BENCH_METRICS'] !== undefined) await printMetrics(server);
}

async function open(
  name: string,
  target: Target,
  protocol: Protocol,
  writes: Pick<Side, 'namespace' | 'request'>,
): Promise<Side> {
  const deliveries = new Deliveries(watcherCount);
  const path = (): string =>
    `/api/v1/namespaces/${writes.namespace}/pods` +
    '?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan';
  if (protocol === 'http1') await watchHttp1(target.port, path, deliveries);
  else await watchHttp2([target.port], path, deliveries, connectionCount);
  const writers = await Promise.all(
    Array.from({ length: writerCount }, () => Connection.open(target.port)),
  );
  return { name, target, deliveries, writers, ...writes, written: 0 };
}

async function compareAt(
  rate: number,
  base: Side,
  own: Side,
  former: Side | undefined,
): Promise<void> {
  const eventCount = rate === Infinity ? 400 : Math.min(rate * 2, 300);
  const figures = new Map<Side, Figures[]>([
    [base, []],
    [own, []],
  ]);
  if (former !== undefined) {
    figures.set(former, []);
    await write(former, rate, eventCount);
  }
  await write(own, rate, eventCount);
  for (let round = 0; round < rounds; round++) {
    for (const [side, results] of figures) {
      const isProfiled =
        side === own && profileTo !== undefined && rate === 200 && round === rounds - 1;
      const run = () => write(side, rate, eventCount);
      results.push(await (isProfiled ? side.target.process.profileOf(profileTo, run) : run()));
    }
  }
  console.log(rate === Infinity ? ' as fast as possible' : ` ${String(rate)} events/s`);
  for (const [side, results] of figures) print(side.name, results);
  const of = (side: Side, pick: (one: Figures) => number): number =>
    median((figures.get(side) ?? []).map(pick));
  const micros = (one: Figures): number => one.microsPerDelivery;
  verdict('deliveries per CPU-second, server to bare', of(base, micros) / of(own, micros), {
    atLeast: 0.75,
  });
  if (former !== undefined) {
    const ratio = of(own, micros) / of(former, micros);
    verdict('CPU of a delivery, this tree to the other', ratio, { atMost: 1 });
  }
  if (rate === 200) {
    const lags = (figures.get(own) ?? []).flatMap((one) => one.lagsMs);
    verdict('p99 from write response to last delivery, ms', percentile(lags, 99), { atMost: 100 });
  }
  if (rate === Infinity) {
    const perSecond = (one: Figures): number => one.deliveriesPerSecond;
    verdict('deliveries/s, server to bare', of(own, perSecond) / of(base, perSecond), {
      atLeast: 0.6,
    });
  }
}

function print(name: string, results: readonly Figures[]): void {
  const of = (pick: (one: Figures) => number): string =>
    median(results.map(pick)).toFixed(2).padStart(8);
  const lags = results.flatMap((one) => one.lagsMs);
  console.log(
    `  ${name.padEnd(7)} ${of((one) => one.microsPerDelivery)} CPU-µs a delivery` +
      ` ${median(results.map((one) => one.deliveriesPerSecond))
        .toFixed(0)
        .padStart(8)} deliveries/s` +
      `   to the last watcher p50 ${median(lags).toFixed(1)} ms,` +
      ` p99 ${percentile(lags, 99).toFixed(1)} ms`,
  );
}

/** Writes `eventCount` events at the rate, and waits until every watcher has the last. */
async function write(side: Side, rate: number, eventCount: number): Promise<Figures> {
  const { deliveries, target, writers, request } = side;
  const first = side.written;
  side.written += eventCount;
  const startedMs = performance.now();
  const deliveredBefore = deliveries.count;
  const { result: lagsMs, micros } = await target.process.cpuOf(() =>
    writePaced({ deliveries, writers, request, rate, first, count: eventCount }),
  );
  const delivered = deliveries.count - deliveredBefore;
  return {
    microsPerDelivery: micros / delivered,
    deliveriesPerSecond: delivered / ((performance.now() - startedMs) / 1_000),
    lagsMs,
  };
}
