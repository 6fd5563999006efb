import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { formatQuantity, parseQuantity } from '../api/quantity.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { limits } from '../base/limits.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { configMap, failure, fresh, VerbDriver } from '../registry/testing/verb-driver.ts';
import type { Sent } from '../registry/testing/verb-driver.ts';
import { Random } from '../../scripts/fuzz/random.ts';
import { until } from './testing/collector.ts';
import { customStores } from './testing/custom-store.ts';
import { startQuotaController } from './testing/quotas.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let store: Readonly<
  Record<'quotas' | 'configMaps' | 'pods' | 'services' | 'claims', ResourceStore>
>;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  store = {
    quotas: replica.store('resourcequotas'),
    configMaps: replica.store('configmaps'),
    pods: replica.store('pods'),
    services: replica.store('services'),
    claims: replica.store('persistentvolumeclaims'),
  };
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});
afterAll(async () => {
  await registry.stop();
});

type Texts = Readonly<Record<string, string>>;
interface Status {
  readonly hard?: Texts;
  readonly used?: Texts;
}

const start = (options: Parameters<typeof startQuotaController>[1] = {}): void => {
  stops.push(startQuotaController(replica, options));
};
const newQuota = (hard: Texts, spec: object = {}): Promise<Sent> =>
  verbs.create(store.quotas, { metadata: { name: fresh() }, spec: { hard, ...spec } });
const statusOf = async ({ metadata: { name } }: Sent): Promise<Status> =>
  (await verbs.get(store.quotas, name))['status'] ?? {};

/** Waits until it says so. */
async function says(quota: Sent, used: Texts): Promise<void> {
  const isSo = async (): Promise<boolean> => {
    const found = (await statusOf(quota)).used ?? {};
    return (
      Object.keys(found).length === Object.keys(used).length &&
      Object.entries(used).every(([name, text]) => found[name] === text)
    );
  };
  await until(isSo);
}

const podBody = (requests: Texts, spec: object = {}): object => ({
  metadata: { name: fresh() },
  spec: { containers: [{ name: 'c', image: 'i', resources: { requests } }], ...spec },
});
const gone = { body: { gracePeriodSeconds: 0 } };

describe('q.controller: the status of a quota', () => {
  test('q.controller: is what its spec says, and what all stored objects take', async () => {
    const kept = await verbs.create(store.configMaps, configMap(fresh()));
    const quota = await newQuota({ configmaps: '5', pods: '1', 'requests.storage': '1Gi' });
    start();
    await says(quota, { configmaps: '1', pods: '0', 'requests.storage': '0' });
    expect((await statusOf(quota)).hard).toEqual({
      configmaps: '5',
      pods: '1',
      'requests.storage': '1Gi',
    });
    await verbs.patch(store.quotas, quota.metadata.name, { spec: { hard: { pods: null } } });
    await says(quota, { configmaps: '1', 'requests.storage': '0' });
    await verbs.remove(store.configMaps, kept.metadata.name);
    await says(quota, { configmaps: '0', 'requests.storage': '0' });
  });

  test('q.controller: a name that nobody can count is left out', async () => {
    start();
    const quota = await newQuota({ 'count/widgets.example.com': '1', secrets: '1' });
    await says(quota, { secrets: '0' });
  });

  test('q.controller: custom resources join as they are served', async () => {
    start();
    const quota = await newQuota({ 'count/gadgets.example.com': '1' });
    await says(quota, {});
    const [gadgets] = customStores(replica, {
      group: 'example.com',
      plural: 'gadgets',
      kind: 'Gadget',
    });
    if (gadgets === undefined) throw new Error('there is one version');
    await verbs.create(gadgets, { metadata: { name: 'a' } });
    replica.stores.set('gadgets', [gadgets]);
    await says(quota, { 'count/gadgets.example.com': '1' });
    await verbs.remove(gadgets, 'a');
    await says(quota, { 'count/gadgets.example.com': '0' });
    replica.stores.set('gadgets', []);
    replica.cache.remove(gadgets.resource);
  });

  test('q.controller: what a client writes there is corrected', async () => {
    start();
    const quota = await newQuota({ secrets: '3' });
    await says(quota, { secrets: '0' });
    const status = { hard: { secrets: '9' }, used: { secrets: '7' } };
    const { name } = quota.metadata;
    await verbs.patch(store.quotas, name, { status }, { subresource: 'status' });
    await says(quota, { secrets: '0' });
    expect((await statusOf(quota)).hard).toEqual({ secrets: '3' });
    const { metadata, ...rest } = await verbs.get(store.quotas, name);
    const { resourceVersion: _any, ...meta } = metadata;
    const body = { ...rest, metadata: meta, status };
    await verbs.update(store.quotas, name, body, { subresource: 'status' });
    await says(quota, { secrets: '0' });
  });

  test('q.controller: is not written over a version that was not counted for', async () => {
    const quota = await newQuota({ secrets: '3' });
    start();
    const names = Array.from({ length: 20 }, fresh);
    const { name } = quota.metadata;
    for (const label of names) {
      await verbs.patch(store.quotas, name, { metadata: { labels: { [label]: 'x' } } });
    }
    await says(quota, { secrets: '0' });
    expect((await verbs.get(store.quotas, name)).metadata['labels']).toEqual(
      Object.fromEntries(names.map((label) => [label, 'x'])),
    );
  });

  test('q.controller: everything is counted anew from time to time, and drift is counted', async () => {
    const clock = new ManualClock();
    let driftCount = 0;
    const quota = await newQuota({ 'count/serviceaccounts': '5' });
    const syncPeriodMs = 300_000;
    start({ clock, syncPeriodMs, onQuotaDrift: () => driftCount++ });
    await says(quota, { 'count/serviceaccounts': '0' });
    await until(async () => {
      clock.pass(limits.quotaRecheckMs);
      return Promise.resolve(clock.waitsMs.length === 1);
    });
    await verbs.create(replica.store('serviceaccounts'), { metadata: { name: fresh() } });
    clock.pass(syncPeriodMs);
    await says(quota, { 'count/serviceaccounts': '1' });
    await until(() => Promise.resolve(driftCount === 1));
  });
});

describe('q.controller: what is given back', () => {
  test('q.controller: when a pod ends, or is deleted', async () => {
    const pod = await verbs.create(store.pods, podBody({ cpu: '1' }));
    const quota = await newQuota({ 'requests.cpu': '5', pods: '5', 'count/pods': '5' });
    start();
    await says(quota, { 'requests.cpu': '1', pods: '1', 'count/pods': '1' });
    const status = { phase: 'Succeeded' };
    const { name } = pod.metadata;
    await verbs.patch(store.pods, name, { status }, { subresource: 'status' });
    await says(quota, { 'requests.cpu': '0', pods: '0', 'count/pods': '1' });
    await verbs.remove(store.pods, name, gone);
    await says(quota, { 'requests.cpu': '0', pods: '0', 'count/pods': '0' });
  });

  test('q.controller: when a pod leaves a scope', async () => {
    const pod = await verbs.create(store.pods, podBody({ cpu: '1' }));
    const quota = await newQuota({ pods: '5' }, { scopes: ['NotTerminating'] });
    const other = await newQuota({ pods: '5' }, { scopes: ['Terminating'] });
    start();
    await says(quota, { pods: '1' });
    const { name } = pod.metadata;
    await verbs.patch(store.pods, name, { spec: { activeDeadlineSeconds: 5 } });
    await says(quota, { pods: '0' });
    await says(other, { pods: '1' });
    await verbs.remove(store.pods, name, gone);
    await says(other, { pods: '0' });
  });

  test('q.controller: when a pod is resized, or what is in force of it changes', async () => {
    const pod = await verbs.create(store.pods, podBody({ cpu: '2' }));
    const quota = await newQuota({ 'requests.cpu': '5' });
    start();
    await says(quota, { 'requests.cpu': '2' });
    const { name } = pod.metadata;
    const containerOf = (cpu: string): object => ({
      spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }] },
    });
    await verbs.patch(store.pods, name, containerOf('1'), {
      subresource: 'resize',
      kind: 'strategic',
    });
    await says(quota, { 'requests.cpu': '1' });
    const [imageID, image, restartCount, ready] = ['', 'i', 0, true];
    const status = {
      containerStatuses: [
        { name: 'c', image, imageID, restartCount, ready, resources: { requests: { cpu: '3' } } },
      ],
    };
    await verbs.patch(store.pods, name, { status }, { subresource: 'status' });
    await says(quota, { 'requests.cpu': '3' });
    await verbs.remove(store.pods, name, gone);
    await says(quota, { 'requests.cpu': '0' });
  });

  test('q.controller: when a service has another type', async () => {
    const ports = [{ port: 1, nodePort: 30_001 }];
    const service = await verbs.create(store.services, {
      metadata: { name: `s-${fresh()}` },
      spec: { type: 'NodePort', ports, clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] },
    });
    const quota = await newQuota({ 'services.nodeports': '5', services: '5' });
    start();
    await says(quota, { 'services.nodeports': '1', services: '1' });
    const { name } = service.metadata;
    await verbs.patch(store.services, name, {
      spec: { type: 'ClusterIP', ports: [{ port: 1, nodePort: null }] },
    });
    await says(quota, { 'services.nodeports': '0', services: '1' });
    await verbs.remove(store.services, name);
    await says(quota, { 'services.nodeports': '0', services: '0' });
  });

  test('q.controller: when less is set aside for a claim, or its classes change', async () => {
    const claim = await verbs.create(store.claims, {
      metadata: { name: fresh() },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    const ofClass = { scopeName: 'VolumeAttributesClass', operator: 'In', values: ['fast'] };
    const scopeSelector = { matchExpressions: [ofClass] };
    const quota = await newQuota({ 'requests.storage': '5Gi' });
    const fast = await newQuota({ persistentvolumeclaims: '5' }, { scopeSelector });
    start();
    await says(quota, { 'requests.storage': '1Gi' });
    await says(fast, { persistentvolumeclaims: '0' });
    const { name } = claim.metadata;
    const setStatus = (status: object): Promise<Sent> =>
      verbs.patch(store.claims, name, { status }, { subresource: 'status' });
    await setStatus({
      allocatedResources: { storage: '2Gi' },
      currentVolumeAttributesClassName: 'fast',
    });
    await says(quota, { 'requests.storage': '2Gi' });
    await says(fast, { persistentvolumeclaims: '1' });
    await setStatus({ allocatedResources: null, currentVolumeAttributesClassName: 'slow' });
    await says(quota, { 'requests.storage': '1Gi' });
    await says(fast, { persistentvolumeclaims: '0' });
    await verbs.remove(store.claims, name);
    await says(quota, { 'requests.storage': '0' });
  });
});

describe('q.object', () => {
  test('q.object: nothing in spec.hard means nothing in the status', async () => {
    start();
    const quota = await newQuota({ secrets: '1' });
    await says(quota, { secrets: '0' });
    await verbs.patch(store.quotas, quota.metadata.name, { spec: { hard: null } });
    await until(async () => Object.keys((await statusOf(quota)).hard ?? {}).length === 0);
    expect((await statusOf(quota)).used ?? {}).toEqual({});
  });

  test('q.object: scopes do not change', async () => {
    const quota = await newQuota({ pods: '1' }, { scopes: ['BestEffort'] });
    const { name } = quota.metadata;
    const changed = { spec: { scopes: ['NotBestEffort'] } };
    const { code, message } = await failure(verbs.patch(store.quotas, name, changed));
    expect([code, message]).toEqual([422, expect.stringContaining('field is immutable')]);
  });

  test('q.object: spec and status are written apart', async () => {
    const quota = await newQuota({ pods: '1' });
    const { name } = quota.metadata;
    const both = { spec: { hard: { pods: '2' } }, status: { hard: { pods: '3' } } };
    const ofSpec = await verbs.patch(store.quotas, name, both);
    expect([ofSpec['spec'], ofSpec['status']]).toEqual([{ hard: { pods: '2' } }, {}]);
    const other = { ...both, spec: { hard: { pods: '9' } } };
    const ofStatus = await verbs.patch(store.quotas, name, other, { subresource: 'status' });
    expect([ofStatus['spec'], ofStatus['status']]).toEqual([
      { hard: { pods: '2' } },
      { hard: { pods: '3' } },
    ]);
  });
});

/** What the model knows of a thing that is stored. */
interface Thing {
  readonly resource: 'pods' | 'services' | 'claims';
  readonly name: string;
  readonly cpuMilli: number;
  readonly gibi: number;
  readonly portCount: number;
  hasDeadline: boolean;
  hasEnded: boolean;
}

const modelHard = {
  pods: '1000',
  'count/pods': '1000',
  'requests.cpu': '1000',
  services: '1000',
  'services.nodeports': '1000',
  'requests.storage': '1000Gi',
  persistentvolumeclaims: '1000',
};

/** By nothing but sums over all things. */
function naive(things: readonly Thing[], scope: string): Texts {
  const of = (resource: string): readonly Thing[] =>
    things.filter((thing) => thing.resource === resource && (scope === '' || resource === 'pods'));
  const pods = of('pods').filter((pod) => {
    if (scope === 'Terminating') return pod.hasDeadline;
    if (scope === 'NotTerminating') return !pod.hasDeadline;
    if (scope === 'BestEffort') return pod.cpuMilli === 0;
    return scope === '' || pod.cpuMilli > 0;
  });
  const sum = (list: readonly Thing[], what: (thing: Thing) => number): number =>
    list.reduce((total, thing) => total + what(thing), 0);
  const running = pods.filter(({ hasEnded }) => !hasEnded);
  return {
    pods: String(running.length),
    'count/pods': String(pods.length),
    'requests.cpu': `${String(sum(running, ({ cpuMilli }) => cpuMilli))}m`,
    services: String(of('services').length),
    'services.nodeports': String(sum(of('services'), ({ portCount }) => portCount)),
    'requests.storage': `${String(sum(of('claims'), ({ gibi }) => gibi))}Gi`,
    persistentvolumeclaims: String(of('claims').length),
  };
}

const canonical = (text: string): string => {
  const quantity = parseQuantity(text);
  return quantity === undefined ? text : formatQuantity(quantity);
};

test.each([1, 2])('q.controller: usage equals a naive sum, seed %i', async (seed) => {
  const random = new Random(seed);
  const things: Thing[] = [];
  const make = async (): Promise<void> => {
    const resource = random.of(['pods', 'services', 'claims'] as const);
    const name = `n${fresh()}`;
    const thing: Thing = {
      resource,
      name,
      cpuMilli: random.of([0, 100, 250]),
      gibi: 1 + random.below(3),
      portCount: random.below(3),
      hasDeadline: false,
      hasEnded: false,
    };
    await verbs.create(store[resource], { ...bodyOf(thing), metadata: { name } });
    things.push(thing);
  };
  const change = async (thing: Thing): Promise<void> => {
    const { resource, name } = thing;
    if (resource !== 'pods' || random.below(3) === 0) {
      await verbs.remove(store[resource], name, gone);
      things.splice(things.indexOf(thing), 1);
    } else if (random.below(2) === 0) {
      await verbs.patch(store.pods, name, { spec: { activeDeadlineSeconds: 9 } });
      thing.hasDeadline = true;
    } else {
      const status = { phase: 'Failed' };
      await verbs.patch(store.pods, name, { status }, { subresource: 'status' });
      thing.hasEnded = true;
    }
  };
  for (let step = 0; step < 10; step++) await make();
  const scopes = ['', 'Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort'];
  const quotas: [Sent, string][] = [];
  for (const scope of scopes) {
    const names = scope === '' ? Object.keys(modelHard) : ['pods', 'count/pods'];
    if (scope.includes('T')) names.push('requests.cpu');
    const hard = Object.fromEntries(
      Object.entries(modelHard).filter(([key]) => names.includes(key)),
    );
    quotas.push([await newQuota(hard, scope === '' ? {} : { scopes: [scope] }), scope]);
  }
  start();
  for (let step = 0; step < 40; step++) {
    const thing = random.below(5) < 2 ? undefined : things[random.below(things.length)];
    await (thing === undefined ? make() : change(thing));
  }
  for (const [{ metadata }, scope] of quotas) {
    // What was made meanwhile is charged by who stores it, and here only counted.
    await verbs.patch(store.quotas, metadata.name, { metadata: { labels: { counted: 'anew' } } });
    const quota = await verbs.get(store.quotas, metadata.name);
    const hard = (quota['spec'] as { readonly hard: Texts }).hard;
    const sums = Object.entries(naive(things, scope)).filter(([name]) => name in hard);
    await says(quota, Object.fromEntries(sums.map(([name, text]) => [name, canonical(text)])));
  }
  for (const thing of [...things]) await verbs.remove(store[thing.resource], thing.name, gone);
});

function bodyOf({ resource, cpuMilli, gibi, portCount }: Thing): object {
  switch (resource) {
    case 'pods':
      return podBody(cpuMilli === 0 ? {} : { cpu: `${String(cpuMilli)}m` });
    case 'services': {
      const ports = Array.from({ length: portCount }, (_, at) => ({
        name: `p${String(at)}`,
        port: at + 1,
        nodePort: 30_000 + at,
      }));
      const type = portCount === 0 ? 'ExternalName' : 'NodePort';
      const spec = portCount === 0 ? { externalName: 'x.example.com' } : { ports };
      return { spec: { type, ...spec } };
    }
    case 'claims':
      return {
        spec: {
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: `${String(gibi)}Gi` } },
        },
      };
  }
}
