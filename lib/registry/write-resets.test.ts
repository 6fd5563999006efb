// What writes of each kind leave as it is, and when its generation is counted: the record of the
// kind says so, and one object of every kind shows that it holds.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResourceInfo } from '../api/type-info.ts';
import { parseScript } from './testing/rule-script.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { VerbDriver } from './testing/verb-driver.ts';
import type { Sent } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
});
afterAll(() => registry.stop());

/** Valid objects of all kinds, which the scripts of validation begin with. */
const folder = join(import.meta.dirname, 'testdata/validation');
const bases = new Map<string, string>();
for (const file of readdirSync(folder)) {
  for (const one of parseScript(readFileSync(join(folder, file), 'utf8'))) {
    if (one.isBaseValid && !bases.has(one.resource)) bases.set(one.resource, one.base);
  }
}

interface Sample {
  /** A merge patch of what counts, which is valid. */
  readonly change: object;
  /** For kinds that have one. */
  readonly status?: object;
}
const condition = (type: string): object => ({
  type,
  status: 'True',
  reason: 'R',
  message: 'm',
  lastTransitionTime: '2020-01-01T00:00:00Z',
});
const conditions = (type: string): object => ({ conditions: [condition(type)] });
const webhooks = { webhooks: [] };
const counts = { replicas: 2 };
const paused = { spec: { minReadySeconds: 5 } };

const samples: Readonly<Record<string, Sample>> = {
  configmaps: { change: { data: { a: 'b' } } },
  endpoints: { change: { subsets: [{ addresses: [{ ip: '10.0.0.1' }] }] } },
  limitranges: { change: { spec: { limits: [] } } },
  namespaces: { change: {}, status: conditions('A') },
  nodes: { change: { spec: { unschedulable: true } }, status: { capacity: { cpu: '4' } } },
  persistentvolumeclaims: { change: { spec: { volumeName: 'v' } }, status: { phase: 'Lost' } },
  persistentvolumes: {
    change: { spec: { persistentVolumeReclaimPolicy: 'Delete' } },
    status: { phase: 'Available' },
  },
  pods: { change: { spec: { activeDeadlineSeconds: 5 } }, status: { message: 'm' } },
  podtemplates: { change: { template: { metadata: { labels: { x: 'y' } } } } },
  replicationcontrollers: { change: paused, status: counts },
  resourcequotas: { change: { spec: { hard: { pods: '7' } } }, status: { hard: { pods: '1' } } },
  secrets: { change: { data: { a: 'YQ==' } } },
  serviceaccounts: { change: { automountServiceAccountToken: false } },
  services: { change: { spec: { publishNotReadyAddresses: true } }, status: conditions('A') },
  'apiregistration.{v}/apiservices': {
    change: { spec: { versionPriority: 7 } },
    status: conditions('Available'),
  },
  'apps/controllerrevisions': { change: { revision: 7 } },
  'apps/daemonsets': { change: paused, status: { currentNumberScheduled: 1 } },
  'apps/deployments': { change: paused, status: counts },
  'apps/replicasets': { change: paused, status: counts },
  'apps/statefulsets': { change: paused, status: counts },
  'autoscaling/horizontalpodautoscalers': {
    change: { spec: { maxReplicas: 9 } },
    status: { currentReplicas: 2, desiredReplicas: 3 },
  },
  'batch/cronjobs': {
    change: { spec: { suspend: true } },
    status: { lastScheduleTime: '2020-01-01T00:00:00Z' },
  },
  'batch/jobs': { change: { spec: { parallelism: 4 } }, status: { active: 1 } },
  'certificates.{v}/certificatesigningrequests': { change: {}, status: conditions('Failed') },
  'networking.{v}/ingressclasses': {
    change: { spec: { parameters: { kind: 'K', name: 'other', scope: 'Cluster' } } },
  },
  'networking.{v}/ingresses': {
    change: { spec: { ingressClassName: 'other' } },
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
  },
  'networking.{v}/ipaddresses': { change: {} },
  'networking.{v}/networkpolicies': { change: { spec: { policyTypes: ['Egress'] } } },
  'networking.{v}/servicecidrs': { change: {}, status: conditions('Ready') },
  'policy/poddisruptionbudgets': {
    change: { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } },
    status: { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
  },
  'rbac.authorization.{v}/clusterrolebindings': { change: { subjects: null } },
  'rbac.authorization.{v}/clusterroles': { change: { rules: null } },
  'rbac.authorization.{v}/rolebindings': { change: { subjects: null } },
  'rbac.authorization.{v}/roles': { change: { rules: null } },
  'storage.{v}/csinodes': { change: { spec: { drivers: [] } } },
  'storage.{v}/csistoragecapacities': { change: { capacity: '7' } },
  'storage.{v}/storageclasses': { change: { allowVolumeExpansion: true } },
  'storage.{v}/volumeattachments': { change: {}, status: { attached: true } },
  'storage.{v}/volumeattributesclasses': { change: {} },
  'admissionregistration.{v}/mutatingwebhookconfigurations': { change: webhooks },
  'admissionregistration.{v}/validatingadmissionpolicies': {
    change: { spec: { failurePolicy: 'Ignore' } },
    status: { observedGeneration: 1 },
  },
  'admissionregistration.{v}/validatingadmissionpolicybindings': {
    change: { spec: { validationActions: ['Audit'] } },
  },
  'admissionregistration.{v}/validatingwebhookconfigurations': { change: webhooks },
  'apiextensions.{v}/customresourcedefinitions': {
    change: { spec: { names: { categories: ['all'] } } },
    status: conditions('Established'),
  },
  'coordination.{v}/leases': { change: { spec: { holderIdentity: 'other' } } },
  'node.{v}/runtimeclasses': { change: { overhead: { podFixed: { cpu: '1' } } } },
  'resource.{v}/deviceclasses': { change: { spec: { config: [] } } },
  'resource.{v}/resourceclaims': { change: {}, status: { allocation: { devices: {} } } },
  'resource.{v}/resourceclaimtemplates': { change: {} },
  'flowcontrol.apiserver.{v}/flowschemas': {
    change: { spec: { matchingPrecedence: 7 } },
    status: conditions('Dangling'),
  },
  'flowcontrol.apiserver.{v}/prioritylevelconfigurations': {
    change: { spec: { limited: { lendablePercent: 7 } } },
    status: conditions('A'),
  },
};

/** Their generation has rules of its own, or is none of the client's: generations.test.ts. */
const ownRules: ReadonlySet<string> = new Set([
  'events',
  'discovery.{v}/endpointslices',
  'resource.{v}/resourceslices',
  'scheduling.{v}/priorityclasses',
  'storage.{v}/csidrivers',
]);

const paths = (record: ResourceInfo, subresource: string): readonly string[] =>
  record.resetBySubresource[subresource] ?? [];
const generationOf = (object: Sent): unknown => object.metadata['generation'];
const labelsOf = (object: Sent): object => object.metadata['labels'] ?? {};

/** All but metadata and status. */
const contentOf = ({ metadata: _metadata, status: _status, ...content }: Sent): object => content;

describe.each(Object.entries(samples))('%s', (name, { change, status }) => {
  const first = { metadata: { labels: { main: 'x' }, generation: 9 }, status };
  let made: Sent;
  let record: ResourceInfo;
  let where: ReturnType<Replica['store']>;
  let id: string;

  beforeAll(async () => {
    where = replica.store(replica.naming.resolve(name));
    record = where.resource;
    const base = JSON.parse(replica.naming.resolve(bases.get(name) ?? '{}')) as {
      metadata: Record<string, unknown>;
    };
    const { namespace: _namespace, ...metadata } = base.metadata;
    const body = { ...base, status, metadata: { ...metadata, generation: 7 } };
    made = await verbs.create(where, body);
    id = made.metadata.name;
  });

  test('begins with its own generation, or keeps what the client counts', () => {
    expect(generationOf(made)).toBe(record.hasGeneration ? 1 : 7);
  });

  test('main writes change labels, and no status, and count what is no metadata', async () => {
    const labelled = await verbs.patch(where, id, first);
    expect(labelsOf(labelled)).toMatchObject({ main: 'x' });
    expect([labelled['status'], generationOf(labelled)]).toEqual([
      status === undefined ? labelled['status'] : made['status'],
      generationOf(made),
    ]);
    if (Object.keys(change).length === 0) return;
    const changed = await verbs.patch(where, id, change);
    expect(contentOf(changed)).not.toEqual(contentOf(labelled));
    expect(generationOf(changed)).toBe(record.hasGeneration ? 2 : 7);
    expect(await verbs.patch(where, id, change)).toEqual(changed);
  });

  if (status === undefined) return;
  test('status writes change that, and no content', async () => {
    const subresource = 'status';
    const before = await verbs.get(where, id);
    const undone = Object.fromEntries(Object.keys(change).map((member) => [member, made[member]]));
    const metadata = { labels: { part: 'x' } };
    const patch = { ...undone, metadata, status };
    const now = await verbs.patch(where, id, patch, { subresource });
    expect(now['status']).toMatchObject(status ?? {});
    expect(contentOf(now)).toEqual(contentOf(before));
    expect(generationOf(now)).toBe(generationOf(before));
    const keepsLabels = paths(record, subresource).some((path) =>
      ['metadata', 'metadata.labels'].includes(path.replace(/ .*/, '')),
    );
    expect(Object.keys(labelsOf(now)).includes('part')).toBe(!keepsLabels);
    const again = await verbs.patch(where, id, { ...first, status: null });
    expect(again['status']).toEqual(now['status']);
  });
});

test('every stored kind is here, or has generations of its own', () => {
  const names = replica.scheme.storedResources
    .filter(({ version }) => version === 'v1' || version === 'v2')
    .map(({ group, resource }) => (group === '' ? resource : `${group}/${resource}`));
  const known = [...Object.keys(samples), ...ownRules].map((name) => replica.naming.resolve(name));
  const shown = names.filter((name) => !known.includes(name));
  expect(shown).toEqual([]);
});
