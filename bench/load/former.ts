// This tree beside another one, such as the commit before a change: GET, LIST and CREATE of Pods,
// CREATE and UPDATE of ConfigMaps, each server on its own etcd.
// Run: npm run bench -- former /path/to/the/other/tree [rounds [part of a name]]
import { samplePod } from '../micro/sample-pod.ts';
import { compare, printSides, verdict } from '../support/compare.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import type { Connection, LoadBounds, LoadResult } from '../support/http1-client.ts';
import { accountObject, asSent, configMap, namespaceObject, podIn } from '../support/objects.ts';
import { withBench } from '../support/server.ts';
import type { Bench } from '../support/server.ts';

const [folder = '', rounds = '7', part = ''] = process.argv.slice(2);
if (folder === '') throw new Error('which tree?');

const mapCount = 1_000;
const pods = '/api/v1/namespaces/busy/pods';
const maps = '/api/v1/namespaces/busy/configmaps';

/** A new request each time: writes say something new. */
type NextRequest = () => Buffer;

const loads: Readonly<Record<string, { make: () => NextRequest; bounds: LoadBounds }>> = {
  'GET of a Pod': {
    make: () => () => requestBytes('GET', `${pods}/web-000007`),
    bounds: { durationMs: 2_000, countMax: 8_000 },
  },
  'LIST of 1,000 Pods': {
    make: () => () => requestBytes('GET', `${pods}?limit=1000&resourceVersion=0`),
    bounds: { durationMs: 2_000, countMax: 100 },
  },
  'CREATE of a ConfigMap': {
    make() {
      let index = mapCount;
      return () => requestBytes('POST', maps, json(configMap('busy', index++)));
    },
    bounds: { durationMs: 4_000, countMax: 1_500 },
  },
  'CREATE of a Pod': {
    make() {
      let index = mapCount;
      return () => requestBytes('POST', pods, json(podToCreate(index++)));
    },
    bounds: { durationMs: 4_000, countMax: 1_000 },
  },
  'UPDATE of a ConfigMap': {
    make() {
      let index = 0;
      return () => {
        const labels = { round: String(index) };
        const object = configMap('busy', index++ % mapCount);
        const metadata = object['metadata'] as { readonly name: string };
        const body = json({ ...object, metadata: { ...metadata, labels } });
        return requestBytes('PUT', `${maps}/${metadata.name}`, body);
      };
    },
    bounds: { durationMs: 4_000, countMax: 1_500 },
  },
};

const podToCreate = (index: number): object => asSent(podIn(samplePod(index), 'busy', index));

const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));

await withBench(async (first) =>
  withBench(async (second) => {
    const [former, now] = [await sideOf(first, folder), await sideOf(second)];
    for (const [name, { make, bounds }] of Object.entries(loads)) {
      if (!name.includes(part)) continue;
      const runOf = ({ connections }: Started) => {
        const next = make();
        return (): Promise<LoadResult> => closedLoop(connections, next, bounds);
      };
      const sides = await compare(
        [
          { name: 'former', process: former.process, run: runOf(former) },
          { name: 'now', process: now.process, run: runOf(now) },
        ],
        Number(rounds),
      );
      console.log(name);
      printSides(sides);
      const [base, own] = sides;
      verdict('CPU, now to former', own.microsPerRequest / base.microsPerRequest, { atMost: 1.03 });
    }
  }),
);

interface Started {
  readonly process: Awaited<ReturnType<Bench['server']>>['process'];
  readonly connections: readonly Connection[];
}

async function sideOf(bench: Bench, tree?: string): Promise<Started> {
  await bench.fill(bench.resource('namespaces'), 1, () => namespaceObject('busy'));
  await bench.fill(bench.resource('serviceaccounts'), 1, () => accountObject('busy'));
  await bench.fill(bench.resource('pods'), 1_000, (index) =>
    podIn(samplePod(index), 'busy', index),
  );
  await bench.fill(bench.resource('configmaps'), mapCount, (index) => configMap('busy', index));
  const { port, process: started } = await bench.server(
    tree === undefined ? {} : { folder: tree.endsWith('/') ? tree : `${tree}/` },
  );
  return { process: started, connections: await openConnections(port, 16) };
}
