// Random pods, services, claims and quotas: what quotas say is what a model finds by plain sums.
import { afterAll, beforeAll, test } from '@jest/globals';
import { formatQuantity, parseQuantity } from '../api/quantity.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { fresh, VerbDriver } from '../registry/testing/verb-driver.ts';
import type { Sent } from '../registry/testing/verb-driver.ts';
import { Random } from '../../scripts/fuzz/random.ts';
import { until } from './testing/collector.ts';
import { startQuotaController } from './testing/quotas.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let stop: () => Promise<void>;
let store: Readonly<Record<'quotas' | 'pods' | 'services' | 'claims', ResourceStore>>;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  store = {
    quotas: replica.store('resourcequotas'),
    pods: replica.store('pods'),
    services: replica.store('services'),
    claims: replica.store('persistentvolumeclaims'),
  };
  stop = startQuotaController(replica);
});
afterAll(async () => {
  await stop();
  await registry.stop();
});

type Texts = Readonly<Record<string, string>>;

const newQuota = (hard: Texts, spec: object = {}): Promise<Sent> =>
  verbs.create(store.quotas, { metadata: { name: fresh() }, spec: { hard, ...spec } });
const usedOf = async ({ metadata: { name } }: Sent): Promise<Texts> => {
  const { status } = await verbs.get(store.quotas, name);
  return (status as { readonly used?: Texts } | undefined)?.used ?? {};
};
const gone = { body: { gracePeriodSeconds: 0 } };

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
    await until(async () => {
      const used = await usedOf(quota);
      return sums.every(([name, text]) => used[name] === canonical(text));
    });
  }
  for (const thing of [...things]) await verbs.remove(store[thing.resource], thing.name, gone);
});

function bodyOf({ resource, cpuMilli, gibi, portCount }: Thing): object {
  switch (resource) {
    case 'pods':
      return { spec: { containers: [containerOf(cpuMilli)] } };
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

const containerOf = (cpuMilli: number): object => ({
  name: 'c',
  image: 'i',
  resources: { requests: cpuMilli === 0 ? {} : { cpu: `${String(cpuMilli)}m` } },
});
