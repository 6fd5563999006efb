// CREATE and UPDATE of a 1 KB ConfigMap and a 2.5 KB Pod, beside the same bytes put by the same
// etcd client.
import { writeFileSync } from 'node:fs';
import type { JsonObject } from '../../lib/api/type-info.ts';
import { encodeStored } from '../../lib/codec/stored-form.ts';
import { samplePod } from '../micro/sample-pod.ts';
import { compare, printSides, verdict } from '../support/compare.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import type { Connection, LoadResult } from '../support/http1-client.ts';
import { accountObject, asSent, configMap, namespaceObject, podIn } from '../support/objects.ts';
import { withBench } from '../support/server.ts';
import type { Bench, Target } from '../support/server.ts';

const concurrency = 16;
const countMax = 2_000;
const durationMs = 4_000;
const rounds = 4;
const json = (object: JsonObject): Buffer => Buffer.from(JSON.stringify(object));

await withBench(async (bench) => {
  await bench.fill(bench.resource('namespaces'), 1, () => namespaceObject('bench'));
  await bench.fill(bench.resource('serviceaccounts'), 1, () => accountObject('bench'));
  const server = await bench.server();
  const connections = await openConnections(server.port, concurrency);
  await measure(bench, server, connections, 'configmaps', (index) => configMap('bench', index));
  await measure(bench, server, connections, 'pods', (index) =>
    asSent(podIn(samplePod(index), 'bench', index)),
  );
});

async function measure(
  bench: Bench,
  server: Target,
  connections: readonly Connection[],
  resource: string,
  make: (index: number) => JsonObject,
): Promise<void> {
  const valueFile = bench.file(`${resource}.bin`);
  writeFileSync(valueFile, encodeStored(make(0), bench.resource(resource)).value);
  const bare = await bench.bare('bare-put.ts', [bench.etcd.endpoints.join(','), valueFile]);
  const path = `/api/v1/namespaces/bench/${resource}`;
  const bounds = { durationMs, countMax };
  let created = 0;
  let put = 0;
  const create = (): Promise<LoadResult> =>
    closedLoop(connections, () => requestBytes('POST', path, json(make(created++))), bounds);
  const update = (): Promise<LoadResult> =>
    closedLoop(
      connections,
      (index) => {
        const object = make(index % created);
        const { name } = object['metadata'] as { name: string };
        const labels = { app: 'web', round: String(Math.random()) };
        const changed = { ...object, metadata: { ...(object['metadata'] as JsonObject), labels } };
        return requestBytes('PUT', `${path}/${name}`, json(changed));
      },
      bounds,
    );
  const barePut = async (isUpdate: boolean): Promise<LoadResult> => {
    const first = isUpdate ? 0 : put;
    const result = (await bare.process.run(
      resource,
      first,
      countMax,
      isUpdate,
      concurrency,
    )) as LoadResult;
    if (!isUpdate) put += result.count;
    return result;
  };
  for (const [verb, run, isUpdate] of [
    ['CREATE', create, false],
    ['UPDATE', update, true],
  ] as const) {
    const [base, own] = await compare(
      [
        { name: 'bare put', process: bare.process, run: () => barePut(isUpdate) },
        { name: 'server', process: server.process, run },
      ],
      rounds,
    );
    console.log(
      `${verb} of ${resource}, ${String(json(make(0)).length)} bytes,` +
        ` ${String(concurrency)} at a time`,
    );
    printSides([base, own]);
    verdict('CPU, server to bare put', own.microsPerRequest / base.microsPerRequest, { atMost: 3 });
  }
  await bench.stopServer(bare);
}
