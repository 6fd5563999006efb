// 1,000 watchers, each with its own `spec.nodeName=` or label selector: an event costs its one
// watcher, beside one watcher alone.
// Run: npm run bench -- nodes [label]
import type { JsonObject } from '../../lib/api/type-info.ts';
import { samplePod } from '../micro/sample-pod.ts';
import { median, verdict } from '../support/compare.ts';
import { Connection, closedLoop, requestBytes } from '../support/http1-client.ts';
import { asSent, namespaceObject, podIn } from '../support/objects.ts';
import { withBench } from '../support/server.ts';
import { Deliveries, watchHttp2 } from '../support/watchers.ts';

const nodeCount = 1_000;
const podCount = 1_000;
const writesARound = 1_000;
const rounds = 5;
const now = 'watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan';
const isByLabel = process.argv[2] === 'label';
const selector = isByLabel ? 'labelSelector=shard' : 'fieldSelector=spec.nodeName';
const watchPath = (node: number): string =>
  `/api/v1/pods?${now}&${selector}%3Dnode-${String(node)}`;

await withBench(async (bench) => {
  const pod = (index: number): JsonObject => {
    const made = podIn(samplePod(index), 'busy', index, {
      nodeName: nodeOf(index),
      labels: { app: 'web', shard: nodeOf(index) },
    });
    const spec = made['spec'] as JsonObject;
    // As the server stores it: an update may not change the other name of the same field.
    return { ...made, spec: { ...spec, serviceAccount: spec['serviceAccountName'] ?? 'default' } };
  };
  await bench.fill(bench.resource('namespaces'), 1, () => namespaceObject('busy'));
  await bench.fill(bench.resource('pods'), podCount, pod);
  const server = await bench.server();
  const writers = await Promise.all(Array.from({ length: 16 }, () => Connection.open(server.port)));
  let written = 0;
  const round = async (): Promise<number> => {
    const bounds = { durationMs: 10_000, countMax: writesARound };
    const { result, micros } = await server.process.cpuOf(() =>
      closedLoop(writers, () => update(pod(written % podCount), written++), bounds),
    );
    return micros / result.count;
  };
  const costs: Record<'one' | 'all', number[]> = { one: [], all: [] };
  for (let warmUp = 0; warmUp < 6; warmUp++) await round();
  for (let turn = 0; turn < rounds; turn++) {
    for (const [name, count] of [
      ['one', 1],
      ['all', nodeCount],
    ] as const) {
      const deliveries = new Deliveries(count);
      const stop = await watchHttp2([server.port], watchPath, deliveries, 10);
      const before = written;
      costs[name].push(await round());
      const wanted = count === 1 ? (written - before) / nodeCount : written - before;
      await waitFor(() => deliveries.count >= Math.floor(wanted));
      stop();
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }
  const by = isByLabel ? 'label' : 'node';
  console.log(`update of a Pod, watchers by ${by}, server's CPU-µs a write with its event`);
  console.log(`  1 watcher       ${median(costs.one).toFixed(0)}`);
  console.log(`  1,000 watchers  ${median(costs.all).toFixed(0)}, each event to one of them`);
  verdict('1,000 watchers to one', median(costs.all) / median(costs.one), {
    atMost: isByLabel ? 1.5 : 1.25,
  });
});

function nodeOf(index: number): string {
  return `node-${String(index % nodeCount)}`;
}

function update(object: JsonObject, round: number): Buffer {
  const sent = asSent(object);
  const metadata = sent['metadata'] as JsonObject;
  const labels = { ...(metadata['labels'] as JsonObject), round: String(round) };
  const changed = { ...sent, metadata: { ...metadata, labels } };
  const path = `/api/v1/namespaces/busy/pods/${metadata['name'] as string}`;
  return requestBytes('PUT', path, Buffer.from(JSON.stringify(changed)));
}

async function waitFor(isDone: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + 10_000;
  while (!isDone()) {
    if (performance.now() > giveUpAt) throw new Error('events were lost');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
