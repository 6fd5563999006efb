// The node authorizer with 5,000 nodes and 150,000 pods: the heap that its graph takes, the time
// that an event takes, and the time of decisions.
// Run: node --expose-gc bench/micro/node-authorizer.bench.ts [NODES [PODS]]
import { namingProfile } from '../../lib/api/vendor.ts';
import type { JsonObject } from '../../lib/api/type-info.ts';
import type { Attributes } from '../../lib/authz/authorizer.ts';
import { nodeAuthorizer } from '../../lib/authz/node/node-authorizer.ts';
import { NodeGraph } from '../../lib/authz/node/node-graph.ts';
import { nodeRules } from '../../lib/authz/node/node-rules.ts';
import type { ResourceView } from '../../lib/cacher/resource-view.ts';

const nodeCount = Number(process.argv[2] ?? 5_000);
const podCount = Number(process.argv[3] ?? 150_000);
const podsOfWorkload = 10;
const namespaceCount = 500;
/** One pod in so many has a claim of its own, bound to a volume with the storage's secret. */
const podsOfClaim = 5;
const heapBytesMax = 300 * 1024 ** 2;
const decisionUsMax = 20;
const rounds = 15;
const perRound = 20_000;

const naming = namingProfile('svc');
const gates = { isEnabled: () => true };

/** As they come from the store: every text is its own. */
const parsed = (object: JsonObject): JsonObject => JSON.parse(JSON.stringify(object)) as JsonObject;

function podAt(index: number): JsonObject {
  const workload = String(Math.floor(index / podsOfWorkload));
  const app = `app-${workload}`;
  const token = { serviceAccountToken: { path: 'token' } };
  const root = { configMap: { name: naming.rootCaConfigMap } };
  return parsed({
    metadata: { namespace: namespaceOf(index), name: `${app}-${String(index)}` },
    spec: {
      nodeName: nodeOf(index),
      serviceAccountName: app,
      imagePullSecrets: [{ name: 'registry' }],
      containers: [{ name: 'c', envFrom: [{ configMapRef: { name: `${app}-env` } }] }],
      volumes: [
        { name: 'token', projected: { sources: [token, root] } },
        { name: 'tls', secret: { secretName: `${app}-tls` } },
        ...(index % podsOfClaim === 0
          ? [{ name: 'data', persistentVolumeClaim: { claimName: `data-${String(index)}` } }]
          : []),
      ],
    },
  });
}

const volumeAt = (index: number): JsonObject =>
  parsed({
    metadata: { name: `pv-${String(index)}` },
    spec: {
      claimRef: { namespace: namespaceOf(index), name: `data-${String(index)}` },
      csi: { driver: 'd', nodeStageSecretRef: { namespace: 'storage', name: 'stage' } },
    },
  });

const namespaceOf = (index: number): string =>
  `namespace-${String(Math.floor(index / podsOfWorkload) % namespaceCount)}`;
const nodeOf = (index: number): string => `node-${String((index * 7) % nodeCount)}`;

function heapBytes(): number {
  for (let count = 0; count < 4; count += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const graph = new NodeGraph(naming);
const emptyBytes = heapBytes();
const fillUs = cpuUs(() => {
  for (let index = 0; index < podCount; index += 1) {
    const pod = podAt(index);
    const key = `${namespaceOf(index)}/${String(index)}`;
    graph.setPod(key, nodeOf(index), () => pod);
    if (index % podsOfClaim === 0) graph.setVolume(`/pv-${String(index)}`, volumeAt(index));
  }
});
const asked = { namespace: '', name: '' };
const readUs = cpuUs(() => {
  for (let index = 0; index < nodeCount; index += 1) graph.needs(nodeOf(index), 'secret', asked);
});
const usedBytes = heapBytes() - emptyBytes;
const isHeapKept = usedBytes <= heapBytesMax ? 'ok' : 'MISSED';
console.log(
  `${String(nodeCount)} nodes, ${String(podCount)} pods, ${String(podCount / podsOfClaim)} volumes`,
);
console.log(`heap of the graph: ${(usedBytes / 1024 ** 2).toFixed(0)} MiB (${isHeapKept})`);
console.log(`filling, objects made on the way: ${(fillUs / podCount).toFixed(1)} µs a pod`);

console.log(
  `reading them when all nodes have been asked about: ${(readUs / podCount).toFixed(1)} µs`,
);

const samplePod = podAt(0);
const again = measure(() => graph.setPod('namespace-0/0', nodeOf(0), () => samplePod));
console.log(`an event of a pod that is not asked about: ${again.toFixed(2)} µs`);
const read = measure(() => {
  graph.setPod('namespace-0/0', nodeOf(0), () => samplePod);
  graph.needs(nodeOf(0), 'secret', asked);
});
console.log(`an event of a pod, and a question: ${read.toFixed(2)} µs`);

const view = { peek: () => ({ field: () => 'node-0' }) } as unknown as ResourceView;
const authorizer = nodeAuthorizer({
  graph,
  views: {
    pods: view,
    volumeAttachments: view,
    resourceSlices: view,
    podCertificateRequests: view,
  },
  rules: nodeRules(naming, gates),
  naming,
  gates,
});

const groups = ['system:nodes', 'system:authenticated'];
const base: Attributes = {
  user: { name: 'system:node:node-0', uid: '', groups, extra: {} },
  verb: 'get',
  isResourceRequest: true,
  group: '',
  version: 'v1',
  resource: '',
  subresource: '',
  namespace: namespaceOf(0),
  name: '',
  fieldSelector: undefined,
  labelSelector: undefined,
  path: '',
};
const questions: Readonly<Record<string, Partial<Attributes>>> = {
  'secret of a pod': { resource: 'secrets', name: 'app-0-tls' },
  'secret of nobody': { resource: 'secrets', name: 'other' },
  'config map of many pods': { resource: 'configmaps', name: naming.rootCaConfigMap },
  'secret of all volumes': { resource: 'secrets', namespace: 'storage', name: 'stage' },
  'volume of a claim': { resource: 'persistentvolumes', namespace: '', name: 'pv-0' },
  'token of an account': {
    verb: 'create',
    resource: 'serviceaccounts',
    subresource: 'token',
    name: 'app-0',
  },
  'pod by its name': { resource: 'pods', name: 'app-0-0' },
  'by the last static rule': {
    resource: 'runtimeclasses',
    group: naming.resolve('node.{v}'),
    namespace: '',
  },
  'nothing that nodes may': { resource: 'deployments', group: 'apps', verb: 'list' },
};
const signal = new AbortController().signal;
for (const [claim, change] of Object.entries(questions)) {
  const asked = { ...base, ...change };
  const us = measure(() => authorizer.authorize(asked, signal));
  const decision = authorizer.authorize(asked, signal);
  const effect = decision instanceof Promise ? 'late' : decision.effect;
  const isKept = us <= decisionUsMax ? 'ok' : 'MISSED';
  console.log(`${claim}: ${us.toFixed(2)} µs (${isKept}), ${effect}`);
}

function cpuUs(run: () => void): number {
  const started = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(started);
  return user + system;
}

/** Median over rounds of CPU microseconds a call. */
function measure(run: () => unknown): number {
  const taken = Array.from({ length: rounds }, () =>
    cpuUs(() => {
      for (let call = 0; call < perRound; call += 1) run();
    }),
  );
  taken.sort((one, other) => one - other);
  return (taken[Math.floor(rounds / 2)] ?? NaN) / perRound;
}
