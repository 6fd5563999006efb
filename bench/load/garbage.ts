// 100,000 objects of which nine in ten have an owner: heap of the server with its garbage
// collector's graph, beside the same bytes without references; then one owner of 10,000 is deleted.
// Run: npm run bench -- garbage [number of objects]
import type { JsonObject } from '../../lib/api/type-info.ts';
import { verdict } from '../support/compare.ts';
import { Connection, requestBytes } from '../support/http1-client.ts';
import { withBench } from '../support/server.ts';
import type { Target } from '../support/server.ts';

const objectCount = Number(process.argv[2] ?? 100_000);
const bigCount = Math.min(10_000, objectCount / 2);
const mega = 1024 * 1024;
/** Making the graph is short beside it. */
const settleMs = 10_000;

const pause = (delayMs: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, delayMs));
const uidOf = (index: number): string =>
  `${String(index).padStart(8, '0')}-1111-4222-8333-444444444444`;
/** Every tenth is an owner of the nine after it; the first has the first ten thousand. */
const ownerOf = (index: number): number => (index <= bigCount ? 0 : index - (index % 10));
const isOwner = (index: number): boolean => ownerOf(index) === index;
const namespaceOf = (index: number): string => (index <= bigCount ? 'big' : 'team');
const nameOf = (index: number): string => `object-${String(index).padStart(6, '0')}`;

function objectOf(index: number, hasReference: boolean): JsonObject {
  const owner = ownerOf(index);
  const reference = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: nameOf(owner),
    uid: uidOf(owner),
    controller: true,
    blockOwnerDeletion: true,
  };
  const said = hasReference
    ? { ownerReferences: [reference] }
    : { annotations: { reference: JSON.stringify([reference]).replaceAll('"', ' ') } };
  return {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: {
      name: nameOf(index),
      namespace: namespaceOf(index),
      uid: uidOf(index),
      creationTimestamp: '2024-01-01T00:00:00Z',
      labels: { app: 'a' },
      ...(isOwner(index) ? {} : said),
    },
    data: { text: 'x'.repeat(400) },
  };
}

const heapBytes: number[] = [];
for (const hasReference of [false, true]) {
  await withBench(async (bench) => {
    await bench.stopServer(await bench.server());
    await bench.fill(bench.resource('configmaps'), objectCount, (index) =>
      objectOf(index, hasReference),
    );
    const server = await bench.server({ watchStalls: true });
    await leading(server);
    await pause(settleMs);
    const turnMs = (await server.process.stalls()).cpuMaxMs;
    heapBytes.push((await server.process.memory()).heapBytes);
    console.log(`most CPU in one turn from process start on, ms: ${turnMs.toFixed(1)}`);
    if (hasReference) await collectBig(server);
  });
}
const [without = 0, graph = 0] = heapBytes;
console.log(`heap, MB: ${(without / mega).toFixed(1)} without, ${(graph / mega).toFixed(1)} with`);
verdict(`graph of ${String(objectCount)} objects, MB`, (graph - without) / mega, { atMost: 40 });

async function collectBig(server: Target): Promise<void> {
  const path = '/api/v1/namespaces/big/configmaps';
  const left = `${path}?limit=1`;
  const collect = async (): Promise<number> => {
    const startedMs = performance.now();
    await answerOf(server, requestBytes('DELETE', `${path}/${nameOf(0)}`));
    while ((await answerOf(server, requestBytes('GET', left))).includes('"data":'))
      await pause(200);
    return (performance.now() - startedMs) / 1000;
  };
  const { result, micros } = await server.process.cpuOf(() => server.process.stallsOf(collect));
  const { cpuMaxMs, maxMs } = result.stalls;
  const cpu = (micros / bigCount).toFixed(0);
  console.log(
    `an owner of ${String(bigCount)} is collected in ${result.result.toFixed(1)} s,` +
      ` ${cpu} CPU-µs a dependent, longest pause ${maxMs.toFixed(0)} ms`,
  );
  verdict('most CPU in one turn, ms', cpuMaxMs, { atMost: 50 });
}

async function leading(server: Target): Promise<void> {
  const isLeading = /^leader_election_master_status\{[^}]*\} 1$/m;
  while (!isLeading.test(await answerOf(server, requestBytes('GET', '/metrics')))) await pause(500);
}

async function answerOf({ port }: Target, request: Buffer): Promise<string> {
  const connection = await Connection.open(port, { keepBodies: true });
  try {
    const { status, body } = await connection.request(request);
    if (status !== 200) throw new Error(`status ${String(status)}: ${String(body)}`);
    return String(body);
  } finally {
    connection.close();
  }
}
