// What rules of admission cost a write and the start: a server with thousands of rules, beside one
// without any, on the same load. Webhooks are a real server over TLS in the load generator.
// Run: npm run bench -- admission [rounds [part of a name]]
import type { JsonObject } from '../../lib/api/type-info.ts';
import { RawServer, answerText, hookTls } from '../../lib/client/testing/raw-server.ts';
import { samplePod } from '../micro/sample-pod.ts';
import { compare, median, printSides, verdict } from '../support/compare.ts';
import type { SideResult } from '../support/compare.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import type { Connection, LoadResult } from '../support/http1-client.ts';
import { accountObject, asSent, configMap, namespaceObject, podIn } from '../support/objects.ts';
import { withBench } from '../support/server.ts';
import type { Bench } from '../support/server.ts';

const rounds = Number(process.argv[2] ?? 7);
const part = process.argv[3] ?? '';
const group = 'admissionregistration.k8s.io';
const [policyCount, hookCount, manyCount, slowMs] = [1_000, 100, 32, 50];
const bounds = { durationMs: 3_000, countMax: 1_500 };
const namespaces = ['plain', 'judged', 'mutated', 'asked', 'slow', 'many'];
const hookTimeoutSeconds = 10;
const validations = [{ expression: 'object.metadata.name != "bad"' }];

interface Case {
  readonly name: string;
  readonly namespace: string;
  readonly write: (namespace: string, index: number) => Buffer;
  readonly judge: (sides: readonly [SideResult, SideResult]) => void;
}

/** CPU-µs a write more than without any rules. */
const more = (atMost: number): Case['judge'] => {
  return ([, ruled]) => verdict('CPU-µs a write more', ruled.addedMicros, { atMost });
};

/** Rules lie on Secrets of no namespace here, and on Leases, which nobody writes. */
const cases: readonly Case[] = [
  {
    name: 'rules on other resources: CREATE of a ConfigMap',
    namespace: 'plain',
    write: writeMap,
    judge: more(5),
  },
  {
    name: '1,000 policies of other namespaces: CREATE of a Secret',
    namespace: 'plain',
    write: writeSecret,
    judge: more(100),
  },
  {
    name: 'a validation: CREATE of a ConfigMap',
    namespace: 'judged',
    write: writeMap,
    judge: more(10),
  },
  { name: 'a mutation: CREATE of a Pod', namespace: 'mutated', write: writePod, judge: more(60) },
  {
    name: 'a webhook: CREATE of a ConfigMap',
    namespace: 'asked',
    write: writeMap,
    judge: more(200),
  },
];

await withBench(async (first) =>
  withBench(async (second) => {
    await using hooks = await RawServer.start(({ head, body, socket }) => {
      const answer = (): void => void socket.write(answerText(allowed(body)));
      const isSlow = head.startsWith('POST /slow');
      if (isSlow) setTimeout(answer, slowMs);
      else answer();
    });
    const { ca } = await hookTls();
    await fillRules(second, (path) => ({
      url: `https://127.0.0.1:${String(hooks.port)}/${path}`,
      caBundle: Buffer.from(ca.cert).toString('base64'),
    }));
    await compareStarts(first, second);
    const [free, ruled] = [await sideOf(first), await sideOf(second)];
    let made = 0;
    for (const { name, namespace, write, judge } of cases) {
      if (!name.includes(part)) continue;
      const run =
        ({ connections }: Started) =>
        (): Promise<LoadResult> =>
          closedLoop(connections, () => write(namespace, made++), bounds);
      const sides = await compare(
        [
          { name: 'without rules', process: free.process, run: run(free) },
          { name: 'with rules', process: ruled.process, run: run(ruled) },
        ],
        rounds,
      );
      console.log(name);
      printSides(sides);
      judge(sides);
    }
    if ('webhooks at once'.includes(part)) await compareWaits(ruled, () => made++);
  }),
);

/** The time of a write that one slow webhook judges, and of one that as many of them judge. */
async function compareWaits({ connections }: Started, next: () => number): Promise<void> {
  const p50Of = async (namespace: string): Promise<number> => {
    const load = (): Promise<LoadResult> =>
      closedLoop(connections.slice(0, 1), () => writeMap(namespace, next()), {
        durationMs: 5_000,
        countMax: 20,
      });
    await load();
    return median((await load()).latenciesMs);
  };
  const [one, many] = [await p50Of('slow'), await p50Of('many')];
  console.log(`webhooks that take ${String(slowMs)} ms, a write at a time`);
  console.log(`  one ${one.toFixed(1)} ms, ${String(manyCount)} ${many.toFixed(1)} ms`);
  verdict('time of all to that of one', many / one, { atMost: 1.5 });
}

async function compareStarts(first: Bench, second: Bench): Promise<void> {
  for (const bench of [first, second]) await bench.stopServer(await bench.server());
  const ms: [number[], number[]] = [[], []];
  const turns: [number[], number[]] = [[], []];
  for (let round = 0; round < 3; round++) {
    for (const [index, bench] of [first, second].entries()) {
      const startedMs = performance.now();
      const server = await bench.server({ watchStalls: true });
      ms[index]?.push(performance.now() - startedMs);
      turns[index]?.push((await server.process.stalls()).cpuMaxMs);
      await bench.stopServer(server);
    }
  }
  const [free, ruled] = [median(ms[0]), median(ms[1])];
  console.log(`start: without rules ${free.toFixed(0)} ms, with them ${ruled.toFixed(0)} ms`);
  verdict('start, s longer', (ruled - free) / 1_000, { atMost: 1 });
  console.log(`  most CPU in one turn without rules: ${median(turns[0]).toFixed(0)} ms`);
  verdict('most CPU in one turn once listening, ms', median(turns[1]), { atMost: 50 });
}

interface Started {
  readonly process: Awaited<ReturnType<Bench['server']>>['process'];
  readonly connections: readonly Connection[];
}

async function sideOf(bench: Bench): Promise<Started> {
  for (const namespace of namespaces) {
    await bench.fill(bench.resource('namespaces'), 1, () => {
      const { metadata, ...object } = namespaceObject(namespace);
      return { ...object, metadata: { ...(metadata as JsonObject), labels: { case: namespace } } };
    });
    await bench.fill(bench.resource('serviceaccounts'), 1, () => accountObject(namespace));
  }
  const { port, process: started } = await bench.server();
  return { process: started, connections: await openConnections(port, 16) };
}

type ClientConfig = (path: string) => JsonObject;

async function fillRules(bench: Bench, clientConfig: ClientConfig): Promise<void> {
  const label = 'Object{metadata: Object.metadata{labels: {"added": "yes"}}}';
  const mutation = { patchType: 'ApplyConfiguration', applyConfiguration: { expression: label } };
  const validating = (letter: string, count: number, resource: string, namespace: string) =>
    fillPolicies(
      bench,
      'Validating',
      { letter, count },
      { ...on(resource, namespace), validations },
    );
  await validating('l', policyCount, 'leases', 'none');
  await validating('s', policyCount, 'secrets', 'none');
  await validating('c', 1, 'configmaps', 'judged');
  await fillPolicies(
    bench,
    'Mutating',
    { letter: 'p', count: 1 },
    { ...on('pods', 'mutated'), reinvocationPolicy: 'Never', mutations: [mutation] },
  );
  const hooksOf = (count: number, path: string, resource: string, namespace: string) =>
    Array.from({ length: count }, (_, at) => ({
      name: `${path}${String(at)}.example.com`,
      clientConfig: clientConfig(path),
      rules: [ruleFor(resource)],
      namespaceSelector: { matchLabels: { case: namespace } },
      matchPolicy: 'Equivalent',
      failurePolicy: 'Fail',
      sideEffects: 'None',
      timeoutSeconds: hookTimeoutSeconds,
      admissionReviewVersions: ['v1'],
    }));
  const lists = [
    ...Array.from({ length: hookCount }, () => hooksOf(1, 'other', 'leases', 'none')),
    hooksOf(1, 'fast', 'configmaps', 'asked'),
    hooksOf(1, 'slow', 'configmaps', 'slow'),
    hooksOf(manyCount, 'slow', 'configmaps', 'many'),
  ];
  await bench.fill(
    bench.resource('validatingwebhookconfigurations', group),
    lists.length,
    (at) => ({
      kind: 'ValidatingWebhookConfiguration',
      apiVersion: `${group}/v1`,
      metadata: { name: `w${String(at)}`, generation: 1, uid: `w${String(at)}` },
      webhooks: lists[at] ?? [],
    }),
  );
}

/** Of one resource in the namespaces of one label. */
function on(resource: string, namespace: string): JsonObject {
  return {
    failurePolicy: 'Fail',
    matchConstraints: {
      matchPolicy: 'Equivalent',
      namespaceSelector: { matchLabels: { case: namespace } },
      resourceRules: [ruleFor(resource)],
    },
  };
}

function ruleFor(resource: string): JsonObject {
  const any = ['*'];
  return { operations: any, apiGroups: any, apiVersions: any, resources: [resource], scope: '*' };
}

/** Each with a binding of its own. */
async function fillPolicies(
  bench: Bench,
  kind: 'Validating' | 'Mutating',
  { letter, count }: { readonly letter: string; readonly count: number },
  spec: JsonObject,
): Promise<void> {
  const resource = `${kind.toLowerCase()}admissionpolicies`;
  const nameOf = (at: number): string => `${letter}${String(at)}`;
  const metadata = (at: number): JsonObject => ({
    name: nameOf(at),
    generation: 1,
    uid: nameOf(at),
  });
  await bench.fill(bench.resource(resource, group), count, (at) => ({
    kind: `${kind}AdmissionPolicy`,
    apiVersion: `${group}/v1`,
    metadata: metadata(at),
    spec,
    status: { observedGeneration: 1, typeChecking: {} }, // as its check has left it
  }));
  const actions = kind === 'Validating' ? { validationActions: ['Deny'] } : {};
  await bench.fill(bench.resource(`${resource.slice(0, -3)}ybindings`, group), count, (at) => ({
    kind: `${kind}AdmissionPolicyBinding`,
    apiVersion: `${group}/v1`,
    metadata: metadata(at),
    spec: { policyName: nameOf(at), ...actions },
  }));
}

function allowed(body: string): string {
  const { kind, apiVersion, request } = JSON.parse(body) as JsonObject & {
    readonly request: { readonly uid: string };
  };
  return JSON.stringify({ kind, apiVersion, response: { uid: request.uid, allowed: true } });
}

function writeMap(namespace: string, index: number): Buffer {
  return post(namespace, 'configmaps', configMap(namespace, index));
}

function writeSecret(namespace: string, index: number): Buffer {
  const { data: _, ...map } = configMap(namespace, index);
  const data = { value: Buffer.alloc(700, 'v').toString('base64') };
  return post(namespace, 'secrets', { ...map, kind: 'Secret', data });
}

function writePod(namespace: string, index: number): Buffer {
  return post(namespace, 'pods', asSent(podIn(samplePod(index), namespace, index)));
}

function post(namespace: string, resource: string, object: JsonObject): Buffer {
  const body = Buffer.from(JSON.stringify(object));
  return requestBytes('POST', `/api/v1/namespaces/${namespace}/${resource}`, body);
}
