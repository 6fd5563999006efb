// Custom objects beside ConfigMaps of equal bytes: GET, LIST, CREATE and UPDATE, without rules; and
// a list by a selectable field of them beside one of Pods by their node.
// Run: npm run bench -- custom
import type { JsonObject } from '../../lib/api/type-info.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import { samplePod } from '../micro/sample-pod.ts';
import { compare, printSides, verdict } from '../support/compare.ts';
import { Asker, createBytes, definitionWith, nameOf } from '../support/definitions.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import type { Connection, LoadResult } from '../support/http1-client.ts';
import { asSent, configMap, namespaceObject, podIn } from '../support/objects.ts';
import { withBench } from '../support/server.ts';
import type { Target } from '../support/server.ts';

const rounds = 5;
const writeCount = 1_500;
const [podCount, nodeCount, listCount] = [5_000, 50, 1_000];
const group = 'bench.example.com';
const keeps = `${namingProfile('kubernetes').schemaExtensionPrefix}preserve-unknown-fields`;
const core = '/api/v1/namespaces/bench';
const own = `/apis/${group}/v1/namespaces/bench`;
const json = (object: JsonObject): Buffer => Buffer.from(JSON.stringify(object));
const apiVersion = `${group}/v1`;

/** As a ConfigMap is: its data are described strings. */
const settingsDefinition = definitionWith(
  { group },
  { plural: 'settings', kind: 'Settings' },
  {
    type: 'object',
    properties: { data: { type: 'object', additionalProperties: { type: 'string' } } },
  },
);
/** As a Pod is, without a description of its parts but of the field that selects. */
const workDefinition = definitionWith(
  { group },
  { plural: 'works', kind: 'Work' },
  {
    type: 'object',
    properties: {
      spec: { type: 'object', [keeps]: true, properties: { nodeName: { type: 'string' } } },
      status: { type: 'object', [keeps]: true },
    },
  },
  { selectableFields: [{ jsonPath: '.spec.nodeName' }], subresources: {} },
);

const settings = (namespace: string, index: number): JsonObject => ({
  ...configMap(namespace, index),
  kind: 'Settings',
  apiVersion,
});
const podOf = (index: number): JsonObject =>
  podIn(samplePod(index), 'bench', index, { nodeName: `node-${String(index % nodeCount)}` });

await withBench(async (bench) => {
  await bench.fill(bench.resource('namespaces'), 1, () => namespaceObject('bench'));
  await bench.fill(bench.resource('pods'), podCount, podOf);
  const server = await bench.server({ flags: ['--admission-control=NamespaceLifecycle'] });
  const asker = await Asker.open(server.port);
  for (const definition of [settingsDefinition, workDefinition]) {
    await asker.ask(createBytes(definition));
    await asker.established(nameOf(definition));
  }
  asker.close();
  const connections = await openConnections(server.port, 16, { keepBodies: true });
  const measure = measureOn(server);
  await measureWrites(measure, connections);
  await measure('GET of 1 KB', 1.2, [
    reads(connections, `${core}/configmaps/settings-000007`, 3_000),
    reads(connections, `${own}/settings/settings-000007`, 3_000),
  ]);
  const page = `?limit=${String(listCount)}&resourceVersion=0`;
  await measure(`LIST of ${String(listCount)} of 1 KB`, 1.2, [
    reads(connections, `${core}/configmaps${page}`, 150),
    reads(connections, `${own}/settings${page}`, 150),
  ]);
  await closedLoop(
    connections,
    (index) => {
      const work = { ...asSent(podOf(index)), apiVersion, kind: 'Work' };
      return requestBytes('POST', `${own}/works`, json(work));
    },
    { durationMs: 120_000, countMax: podCount },
  );
  const selector = '?fieldSelector=spec.nodeName%3Dnode-7';
  await measure(`LIST of ${String(podCount / nodeCount)} of 2.5 KB by a field`, 1.2, [
    reads(connections, `${core}/pods${selector}`, 800),
    reads(connections, `${own}/works${selector}`, 800),
  ]);
});

type Run = () => Promise<LoadResult>;
type Measure = (name: string, atMost: number, runs: readonly [Run, Run]) => Promise<void>;

/** Both sides are the same server. */
function measureOn({ process }: Target): Measure {
  return async (name, atMost, [builtIn, custom]) => {
    const [base, other] = await compare(
      [
        { name: 'built-in', process, run: builtIn },
        { name: 'custom', process, run: custom },
      ],
      rounds,
    );
    console.log(name);
    printSides([base, other]);
    const ratio = other.microsPerRequest / base.microsPerRequest;
    const bytesRatio = other.microsPerMegabyte / base.microsPerMegabyte;
    const isList = name.startsWith('LIST');
    verdict(`CPU${isList ? ' a byte' : ''}, custom to built-in`, isList ? bytesRatio : ratio, {
      atMost,
    });
  };
}

function reads(connections: readonly Connection[], path: string, countMax: number): Run {
  const request = requestBytes('GET', path);
  return () => closedLoop(connections, () => request, { durationMs: 4_000, countMax });
}

async function measureWrites(measure: Measure, connections: readonly Connection[]): Promise<void> {
  const sides = [
    { path: `${core}/configmaps`, make: configMap, created: 0 },
    { path: `${own}/settings`, make: settings, created: 0 },
  ] as const;
  await measure('CREATE of 1 KB', 1.5, [
    creates(connections, sides[0]),
    creates(connections, sides[1]),
  ]);
  await measure('UPDATE of 1 KB', 1.5, [
    updates(connections, sides[0]),
    updates(connections, sides[1]),
  ]);
}

interface WrittenKind {
  readonly path: string;
  readonly make: typeof configMap;
  created: number;
}

function creates(connections: readonly Connection[], kind: WrittenKind): Run {
  const bounds = { durationMs: 4_000, countMax: writeCount };
  const next = (): Buffer =>
    requestBytes('POST', kind.path, json(kind.make('bench', kind.created++)));
  return () => closedLoop(connections, next, bounds);
}

/** Of the resourceVersion that was read last: without one a custom object is not updated. */
function updates(connections: readonly Connection[], { path, make }: WrittenKind): Run {
  const versions = new Map<number, string>();
  let round = 0;
  return async () => {
    const startedMs = performance.now();
    const latenciesMs: number[] = [];
    round++;
    const work = async (connection: Connection, first: number): Promise<void> => {
      for (let index = first; index < writeCount; index += connections.length) {
        const object = make('bench', index);
        const metadata = object['metadata'] as JsonObject & { readonly name: string };
        const target = `${path}/${metadata.name}`;
        const known = versions.get(index) ?? (await versionAfter(requestBytes('GET', target)));
        const labels = { app: 'web', round: String(round) };
        const change = { ...metadata, labels, resourceVersion: known };
        const body = json({ ...object, metadata: change });
        const sentMs = performance.now();
        versions.set(index, await versionAfter(requestBytes('PUT', target, body)));
        latenciesMs.push(performance.now() - sentMs);
      }

      async function versionAfter(request: Buffer): Promise<string> {
        const { status, body } = await connection.request(request);
        const version = /"resourceVersion":"(\d+)"/.exec(String(body))?.[1];
        if (status > 299 || version === undefined) throw new Error(String(body));
        return version;
      }
    };
    await Promise.all(connections.map(work));
    const seconds = (performance.now() - startedMs) / 1_000;
    return { count: writeCount, seconds, bodyBytes: 0, latenciesMs };
  };
}
