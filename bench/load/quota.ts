// Creates of a 2.5 KB Pod through three replicas, by as many clients at each: in a namespace whose
// pods, CPU and memory a quota counts, beside one without.
import type { JsonObject } from '../../lib/api/type-info.ts';
import { samplePod } from '../micro/sample-pod.ts';
import { median, percentile, verdict } from '../support/compare.ts';
import { closedLoop, Connection, openConnections, requestBytes } from '../support/http1-client.ts';
import type { LoadResult } from '../support/http1-client.ts';
import { accountObject, asSent, namespaceObject, podIn } from '../support/objects.ts';
import { withBench } from '../support/server.ts';
import type { Target } from '../support/server.ts';

const replicaCount = 3;
const concurrency = Number(process.argv[2] ?? 16);
const bounds = { durationMs: 3_000, countMax: 3_000 };
const rounds = 5;
const hard = { pods: '1000000', 'requests.cpu': '1M', 'requests.memory': '1Pi' };
const used = { pods: '0', 'requests.cpu': '0', 'requests.memory': '0' };

interface Figures {
  readonly perSecond: number;
  readonly microsPerRequest: number;
  readonly p99Ms: number;
}

await withBench(async (bench) => {
  for (const namespace of ['free', 'counted']) {
    await bench.fill(bench.resource('namespaces'), 1, () => namespaceObject(namespace));
    await bench.fill(bench.resource('serviceaccounts'), 1, () => accountObject(namespace));
  }
  await bench.fill(bench.resource('resourcequotas'), 1, () => ({
    kind: 'ResourceQuota',
    apiVersion: 'v1',
    metadata: { name: 'all', namespace: 'counted' },
    spec: { hard },
    status: { hard, used },
  }));
  const servers: Target[] = [];
  for (let count = 0; count < replicaCount; count++) {
    const flags = [`--data-dir=${bench.file(`replica-${String(count)}`)}`];
    servers.push(await bench.server({ flags }));
  }
  const connections = await Promise.all(
    servers.map(({ port }) => openConnections(port, concurrency)),
  );
  let made = 0;
  const run = (namespace: string) => load(servers, connections, () => podOf(namespace, made++));
  const results: Record<'free' | 'counted', Figures[]> = { free: [], counted: [] };
  for (let round = -1; round < rounds; round++) {
    for (const namespace of ['free', 'counted'] as const) {
      const figures = await run(namespace);
      if (round >= 0) results[namespace].push(figures);
    }
  }
  console.log(
    `CREATE of Pods, ${String(replicaCount)} replicas, ${String(concurrency)} at a time each`,
  );
  const of = (side: 'free' | 'counted', pick: (one: Figures) => number): number =>
    median(results[side].map(pick));
  for (const side of ['free', 'counted'] as const) {
    console.log(
      `  ${side.padEnd(8)} ${of(side, (one) => one.perSecond)
        .toFixed(0)
        .padStart(7)} creates/s` +
        ` ${of(side, (one) => one.microsPerRequest)
          .toFixed(0)
          .padStart(7)} CPU-µs each` +
        `   p99 ${of(side, (one) => one.p99Ms).toFixed(1)} ms`,
    );
  }
  const perSecond = (one: Figures): number => one.perSecond;
  const ratio = of('counted', perSecond) / of('free', perSecond);
  await report(servers[0]);
  verdict('creates a second, with a quota to without', ratio, { atLeast: 0.5 });
});

/** What is charged, and how many transactions did it at the first replica. */
async function report(server: Target | undefined): Promise<void> {
  if (server === undefined) return;
  const connection = await Connection.open(server.port, { keepBodies: true });
  const textOf = async (path: string): Promise<string> =>
    String((await connection.request(requestBytes('GET', path))).body);
  const quota = await textOf('/api/v1/namespaces/counted/resourcequotas/all');
  console.log(`  charged: ${/"used":\{[^}]*\}/.exec(quota)?.[0] ?? quota}`);
  const name = 'apiserver_admission_quota_transactions_total';
  const metrics = (await textOf('/metrics')).split('\n');
  const counts = metrics.filter((line) => line.startsWith(name));
  console.log(counts.map((line) => `  ${line}`).join('\n'));
  connection.close();
}

function podOf(namespace: string, index: number): Buffer {
  const pod = asSent(podIn(samplePod(index), namespace, index));
  return requestBytes('POST', `/api/v1/namespaces/${namespace}/pods`, json(pod));
}

function json(object: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(object));
}

/** All replicas at once. */
async function load(
  servers: readonly Target[],
  connections: readonly (readonly Connection[])[],
  request: () => Buffer,
): Promise<Figures> {
  const startedMs = performance.now();
  const sides = await Promise.all(
    servers.map(({ process }, at) =>
      process.cpuOf<LoadResult>(() => closedLoop(connections[at] ?? [], request, bounds)),
    ),
  );
  const seconds = (performance.now() - startedMs) / 1e3;
  let [count, micros] = [0, 0];
  const latencies: number[] = [];
  for (const side of sides) {
    count += side.result.count;
    micros += side.micros;
    latencies.push(...side.result.latenciesMs);
  }
  return {
    perSecond: count / seconds,
    microsPerRequest: micros / count,
    p99Ms: percentile(latencies, 99),
  };
}
