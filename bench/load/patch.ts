// A merge patch, a strategic merge patch and an apply of a 2.5 KB Pod, each of which changes a
// label, beside the same bytes put by the same etcd client; applies that change nothing beside a
// GET; and applies of lists with many keys.
import { writeFileSync } from 'node:fs';
import type { JsonObject } from '../../lib/api/type-info.ts';
import { encodeStored } from '../../lib/codec/stored-form.ts';
import { samplePod } from '../micro/sample-pod.ts';
import { compare, printSides, verdict } from '../support/compare.ts';
import type { Side, SideResult } from '../support/compare.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import type { LoadResult } from '../support/http1-client.ts';
import { accountObject, asSent, configMap, namespaceObject, podIn } from '../support/objects.ts';
import { withBench } from '../support/server.ts';
import type { Target } from '../support/server.ts';

const concurrency = 16;
const podCount = 500;
const bounds = { durationMs: 4_000, countMax: 2_000 };
const rounds = 4;

await withBench(async (bench) => {
  await bench.fill(bench.resource('namespaces'), 1, () => namespaceObject('bench'));
  await bench.fill(bench.resource('serviceaccounts'), 1, () => accountObject('bench'));
  const server = await bench.server();
  const connections = await openConnections(server.port, concurrency);
  const path = '/api/v1/namespaces/bench/pods';
  const load = (request: (index: number) => Buffer, countMax = bounds.countMax) =>
    closedLoop(connections, request, { ...bounds, countMax });
  const apply = (index: number, labels?: JsonObject): Buffer =>
    patch(index % podCount, 'apply-patch+yaml', configuration(index % podCount, labels));
  const patch = (index: number, type: string, body: JsonObject): Buffer =>
    requestBytes('PATCH', `${path}/${nameOf(index)}?fieldManager=bench`, json(body), [
      `content-type: application/${type}`,
    ]);
  const relabel = (): JsonObject => ({ metadata: { labels: { round: String(Math.random()) } } });

  await load((index) => apply(index), podCount);
  const valueFile = bench.file('pod.bin');
  writeFileSync(
    valueFile,
    encodeStored(podIn(samplePod(0), 'bench', 0), bench.resource('pods')).value,
  );
  const bare = await bench.bare('bare-put.ts', [bench.etcd.endpoints.join(','), valueFile]);
  const barePut = async (): Promise<LoadResult> =>
    (await bare.process.run('pods', 0, bounds.countMax, true, concurrency)) as LoadResult;
  await bare.process.run('pods', 0, bounds.countMax, false, concurrency);

  for (const [name, atMost, request] of [
    ['merge patch', 3, (index: number) => patch(index % podCount, 'merge-patch+json', relabel())],
    [
      'strategic merge patch',
      3,
      (index: number) => patch(index % podCount, 'strategic-merge-patch+json', relabel()),
    ],
    ['apply', 3.5, (index: number) => apply(index, { applied: String(Math.random()) })],
  ] as const) {
    const sides = await compare(
      [
        { name: 'bare put', process: bare.process, run: barePut },
        { name: 'server', process: server.process, run: () => load(request) },
      ],
      rounds,
    );
    report(`${name} of a Pod, ${String(concurrency)} at a time`, sides, 'bare put', atMost);
  }
  const noOp = async (
    title: string,
    pathOf: (index: number) => string,
    send: (index: number) => Buffer,
  ): Promise<void> => {
    await load(send, podCount);
    const side = (name: string, request: (index: number) => Buffer): Side => ({
      name,
      process: server.process,
      run: () => load((index) => request(index % podCount)),
    });
    const get = side('GET', (index) => requestBytes('GET', pathOf(index)));
    report(title, await compare([get, side('apply', send)], rounds), 'a GET', 1.5);
  };
  await noOp('apply that changes nothing', (index) => `${path}/${nameOf(index)}`, apply);
  const mapPath = (index: number): string =>
    `/api/v1/namespaces/bench/configmaps/settings-${String(index).padStart(6, '0')}`;
  await noOp('apply that changes nothing of a ConfigMap', mapPath, (index) => {
    const body = json(configMap('bench', index));
    return requestBytes('PATCH', `${mapPath(index)}?fieldManager=bench`, body, [
      'content-type: application/apply-patch+yaml',
    ]);
  });
  for (const count of [1_000, 3_000, 10_000]) await measureKeys(server, count);
});

/** One at a time, each of which changes every value of a list with so many keys. */
async function measureKeys({ port, process }: Target, count: number): Promise<void> {
  const connections = await openConnections(port, 1);
  const name = `keys-${String(count)}`;
  const path = `/apis/apps/v1/namespaces/bench/deployments/${name}?fieldManager=bench`;
  const request = (): Buffer =>
    requestBytes('PATCH', path, json(withKeys(name, count)), [
      'content-type: application/apply-patch+yaml',
    ]);
  const runs = Math.ceil(30_000 / count);
  const run = () => closedLoop(connections, request, { durationMs: 20_000, countMax: runs });
  await run();
  const { micros } = await process.cpuOf(run);
  const { stalls } = await process.stallsOf(run);
  console.log(`apply of ${String(count)} keys: ${(micros / runs / 1e3).toFixed(1)} CPU-ms`);
  verdict('most CPU in one turn, ms', stalls.cpuMaxMs, { atMost: 50 });
}

function report(
  title: string,
  sides: readonly [SideResult, SideResult],
  beside: string,
  atMost: number,
): void {
  const [base, own] = sides;
  console.log(title);
  printSides(sides);
  const ratio = own.microsPerRequest / base.microsPerRequest;
  verdict(`CPU, server to ${beside}`, ratio, { atMost });
}

function json(object: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(object));
}

function nameOf(index: number): string {
  const { name } = podIn(samplePod(index), 'bench', index)['metadata'] as { name: string };
  return name;
}

function configuration(index: number, labels: JsonObject = {}): JsonObject {
  const { status: _status, ...pod } = asSent(podIn(samplePod(index), 'bench', index));
  const metadata = pod['metadata'] as JsonObject;
  return {
    ...pod,
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, labels: { ...(metadata['labels'] as JsonObject), ...labels } },
  };
}

function withKeys(name: string, count: number): JsonObject {
  const value = String(Math.random());
  const env = Array.from({ length: count }, (_, index) => ({ name: `V${String(index)}`, value }));
  const labels = { app: 'keys' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'c', image: 'i', env }] },
      },
    },
  };
}
