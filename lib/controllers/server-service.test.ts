import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sleep } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { createLogger } from '../base/log.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { serverUser } from '../base/user.ts';
import { internalClient } from '../registry/internal-client.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { scope, VerbDriver } from '../registry/testing/verb-driver.ts';
import type { Sent } from '../registry/testing/verb-driver.ts';
import { createKeyspace } from '../storage-etcd/keys.ts';
import { LivingReplicas } from '../storage-etcd/living-replicas.ts';
import type { ReplicaAddress } from '../storage-etcd/living-replicas.ts';
import { DefaultServiceCidr } from './default-service-cidr.ts';
import { DefaultService } from './default-service.ts';
import { ServerEndpoints } from './server-endpoints.ts';
import { ServerService } from './server-service.ts';
import { runController } from './testing/run-controller.ts';

let registry: RegistryOnEtcd;
let replicas: Replica[];
let verbs: VerbDriver;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replicas = [await registry.replica(), await registry.replica(), await registry.replica()];
  verbs = new VerbDriver(replica(0));
});

afterAll(async () => {
  await registry.stop();
});

const paths = {
  range: 'networking.svc.io/servicecidrs',
  service: 'services',
  endpoints: 'endpoints',
  slice: 'discovery.svc.io/endpointslices',
} as const;
type Part = keyof typeof paths;
const keyspace = createKeyspace('/registry');
const at = (ip: string, port = 6443): ReplicaAddress => ({ ip, port });

beforeEach(async () => {
  for (const part of Object.keys(paths) as Part[]) {
    const store = replica(0).store(paths[part]);
    const { items } = await verbs.list(store, '', part === 'range' ? '' : 'default');
    for (const { name } of items) {
      await verbs.remove(store, name, part === 'range' ? {} : { namespace: 'default' });
    }
  }
});

describe('a start', () => {
  test('makes range, Service, Endpoints and slice, as Kubernetes does', async () => {
    const { stop } = await started(0, { own: at('10.0.0.1') });
    const range = await read('range');
    expect(range).toMatchObject({
      spec: { cidrs: ['10.96.0.0/16'] },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
    const service = await read('service');
    expect(service).toMatchObject({
      metadata: { labels: { component: 'apiserver', provider: 'svc' } },
      spec: {
        type: 'ClusterIP',
        clusterIP: '10.96.0.1',
        ipFamilyPolicy: 'SingleStack',
        sessionAffinity: 'None',
        ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }],
      },
    });
    const ports = [{ name: 'https', port: 6443, protocol: 'TCP' }];
    expect(await read('endpoints')).toMatchObject({
      metadata: { labels: { 'endpointslice.svc.io/skip-mirror': 'true' } },
      subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports }],
    });
    expect(await read('slice')).toMatchObject({
      metadata: { labels: { 'svc.io/service-name': 'svc' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
      ports,
    });
    await stop();
  });

  test('with a node port makes a Service of that type', async () => {
    const { stop } = await started(0, { nodePort: 31_234 });
    expect(await read('service')).toMatchObject({
      spec: { type: 'NodePort', ports: [{ port: 443, targetPort: 6443, nodePort: 31_234 }] },
    });
    await stop();
  });

  test('of a replica that nobody reaches makes no endpoints', async () => {
    const { stop } = await started(0);
    expect(await exists('service')).toBe(true);
    expect([await exists('endpoints'), await exists('slice')]).toEqual([false, false]);
    await stop();
  });

  test('of several replicas at once makes everything once', async () => {
    const ips = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
    const all = await Promise.all(ips.map((ip, index) => started(index, { own: at(ip) })));
    await until(async () => (await publishedIps()).join() === ips.join());
    for (const { stop } of all) await stop();
  });
});

describe('what somebody changes', () => {
  test.each<Part>(['range', 'service', 'endpoints', 'slice'])(
    'and deletes, of %s, comes back at once',
    async (part) => {
      // No time passes: neither a period nor a back-off helps.
      const { stop } = await started(0, { own: at('10.0.0.1'), clock: new ManualClock() });
      const { uid } = (await read(part)).metadata;
      await verbs.remove(replica(0).store(paths[part]), 'svc', inDefault(part));
      await until(async () => (await exists(part)) && (await read(part)).metadata.uid !== uid);
      await stop();
    },
  );

  test.each<[string, Part, object, (object: Sent) => unknown, unknown]>([
    [
      'ports and type of the Service',
      'service',
      { spec: { type: 'LoadBalancer', ports: [{ name: 'x', port: 1, protocol: 'TCP' }] } },
      ({ spec }) => (spec as { type: string }).type,
      'ClusterIP',
    ],
    [
      'addresses of the Endpoints',
      'endpoints',
      { subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 1 }] }] },
      ({ subsets }) => JSON.stringify(subsets).includes('10.0.0.1'),
      true,
    ],
    [
      'labels of the Endpoints',
      'endpoints',
      { metadata: { labels: null } },
      ({ metadata }) => metadata['labels'],
      { 'endpointslice.svc.io/skip-mirror': 'true' },
    ],
    [
      'addresses of the slice',
      'slice',
      { endpoints: [] },
      ({ endpoints }) => (endpoints as unknown[] | undefined)?.length,
      1,
    ],
    [
      'labels of the slice',
      'slice',
      { metadata: { labels: null } },
      ({ metadata }) => metadata['labels'],
      { 'svc.io/service-name': 'svc' },
    ],
  ])('%s: is put right', async (_name, part, patch, read1, wished) => {
    const { stop } = await started(0, { own: at('10.0.0.1'), clock: new ManualClock() });
    await merge(part, patch);
    await until(async () => same(read1(await read(part)), wished));
    await stop();
  });

  test('labels of its own on the Service, stay', async () => {
    const { stop } = await started(0, { own: at('10.0.0.1') });
    await merge('service', { metadata: { labels: { mine: 'x' } }, spec: { type: 'NodePort' } });
    await until(async () => (await read('service')).spec?.['type'] === 'ClusterIP');
    expect((await read('service')).metadata['labels']).toMatchObject({ mine: 'x' });
    await stop();
  });
});

describe('addresses of replicas', () => {
  test('come with each and go with each; the last one leaves none', async () => {
    const first = await started(0, { own: at('10.0.0.1') });
    const second = await started(1, { own: at('10.0.0.2') });
    expect(await publishedIps()).toEqual(['10.0.0.1', '10.0.0.2']);
    await first.stop();
    expect(await publishedIps()).toEqual(['10.0.0.2']);
    await second.stop();
    expect(await publishedIps()).toEqual([]);
    expect((await read('slice'))['endpoints'] ?? []).toEqual([]);
    expect((await read('endpoints'))['subsets'] ?? []).toEqual([]);
  });

  test('of one whose key ended go at once, whatever the clocks of the others say', async () => {
    const killed = new LivingReplicas(replica(1).storage, keyspace);
    await killed.refresh(at('10.0.0.9'), scope().signal);
    const clock = new ManualClock();
    const { stop } = await started(0, { own: at('10.0.0.1'), clock });
    expect(await publishedIps()).toEqual(['10.0.0.1', '10.0.0.9']);
    await killed.remove(at('10.0.0.9'), scope().signal); // as etcd does at its end
    await until(async () => (await publishedIps()).join() === '10.0.0.1');
    await stop();
  });

  test('with different ports are side by side; the Service keeps the port of one', async () => {
    const first = await started(0, { own: at('10.0.0.1', 7000), port: 7000 });
    const second = await started(1, { own: at('10.0.0.1', 7001), port: 7001 });
    const slices = replica(0).store(paths.slice);
    const names = async (): Promise<string[]> =>
      (await verbs.list(slices, '', 'default')).items.map(({ name }) => name);
    expect(await names()).toEqual(['svc', 'svc-ipv4-7001']);
    expect((await read('endpoints'))['subsets']).toHaveLength(2);
    const targetPort = async (): Promise<unknown> => {
      const { ports } = (await read('service'))['spec'] as { ports: { targetPort: number }[] };
      return ports[0]?.targetPort;
    };
    expect(await targetPort()).toBe(7000);
    await first.stop();
    await until(async () => (await targetPort()) === 7001);
    expect(await names()).toEqual(['svc']);
    await second.stop();
  });

  test('of another family make the slice anew', async () => {
    await (await started(0, { own: at('10.0.0.1') })).stop();
    const { stop } = await started(0, { own: at('fd00::1') });
    expect(await read('slice')).toMatchObject({
      addressType: 'IPv6',
      endpoints: [{ addresses: ['fd00::1'] }],
    });
    await stop();
  });

  test('stay while the key is refreshed, every few seconds', async () => {
    const clock = new ManualClock();
    const { stop } = await started(0, { own: at('10.0.0.1'), clock });
    const revision = async (): Promise<number> => {
      const key = keyspace.key('masterleases', '', '10.0.0.1:6443');
      return (await replica(0).storage.get(key, scope().signal)).item?.modRevision ?? 0;
    };
    for (let round = 0; round < 3; round++) {
      const before = await revision();
      await until(() => Promise.resolve(clock.waitsMs.length > 0));
      clock.pass(limits.replicaRefreshIntervalMs);
      await until(async () => (await revision()) > before);
    }
    await stop();
    expect(await revision()).toBe(0);
  });
});

describe('a stored range that differs from the flag', () => {
  test('gets its second family', async () => {
    await (await started(0)).stop();
    const { stop } = await started(0, { cidrs: ['10.96.0.0/16', 'fd00::/112'] });
    expect((await read('range'))['spec']).toEqual({ cidrs: ['10.96.0.0/16', 'fd00::/112'] });
    await stop();
  });

  test.each([
    [['10.97.0.0/16']],
    [['fd00::/112']],
    [['fd00::/112', '10.96.0.0/16']],
    [['10.97.0.0/16', 'fd00::/112']],
  ])('stays as it is for %j; an event and a line of the log tell it once', async (cidrs) => {
    await (await started(0)).stop();
    const { uid } = (await read('range')).metadata;
    const lines: string[] = [];
    const { stop, reconcileRange } = await started(0, { cidrs, lines });
    await reconcileRange();
    expect((await read('range')).spec).toEqual({ cidrs: ['10.96.0.0/16'] });
    await stop();
    const told = lines.filter((line) => line.includes('differs from --service-cluster-ip-range'));
    expect(told).toHaveLength(1);
    const { items } = await verbs.list(replica(0).store('events'), '', 'default');
    const events = items
      .map((item) => item.object() as { involvedObject?: { uid?: string }; reason?: string })
      .filter(({ involvedObject }) => involvedObject?.uid === uid);
    expect(events.map(({ reason }) => reason)).toEqual([
      'KubernetesDefaultServiceCIDRInconsistent',
    ]);
  });
});

interface StartOptions {
  readonly own?: ReplicaAddress;
  readonly cidrs?: readonly string[];
  readonly port?: number;
  readonly nodePort?: number;
  readonly clock?: Clock;
  readonly lines?: string[];
}

/** As a replica starts it. */
async function started(
  index: number,
  options: StartOptions = {},
): Promise<{ stop: () => Promise<void>; reconcileRange: () => Promise<unknown> }> {
  const { own, cidrs = ['10.96.0.0/16'], port = 6443, nodePort = 0, lines = [] } = options;
  const clock = options.clock ?? systemClock;
  const { naming, storage } = replica(index);
  const store = (name: string) => replica(index).store(name);
  const stores = {
    ranges: store(paths.range),
    services: store(paths.service),
    endpoints: store(paths.endpoints),
    slices: store(paths.slice),
  };
  const log = createLogger('info', (line) => lines.push(line));
  const living = new LivingReplicas(storage, keyspace);
  const shared = { cidrs, naming, client: internalClient(serverUser), clock, log };
  const livingPorts = async (signal: AbortSignal): Promise<number[]> =>
    (await living.list(signal)).replicas.map((one) => one.port);
  const range = new DefaultServiceCidr({ ...shared, ...stores, events: store('events') });
  const controller = new ServerService({
    range,
    service: new DefaultService({ ...shared, ...stores, port, nodePort, livingPorts }),
    endpoints: new ServerEndpoints({ ...shared, ...stores }),
    stores,
    objectName: 'svc',
    replicas: living,
    own,
    clock,
    log,
  });
  await controller.bootstrap(scope().signal);
  return {
    reconcileRange: () => range.reconcile(scope().signal),
    stop: runController(controller),
  };
}

function replica(index: number): Replica {
  const found = replicas[index];
  if (found === undefined) throw new Error('no such replica');
  return found;
}

const inDefault = (part: Part): { readonly namespace?: string } =>
  part === 'range' ? {} : { namespace: 'default' };

type Found = Sent & { readonly spec?: Record<string, unknown> };

/** As the first replica has it: it sees every write that was answered. */
async function find(part: Part): Promise<Found | undefined> {
  const store = replica(0).store(paths[part]);
  const key = { namespace: inDefault(part).namespace ?? '', name: 'svc' };
  const item = await store.view.get(key, { mode: 'latest' }, scope().signal);
  return item && (JSON.parse(Buffer.from(item.json()).toString()) as Found);
}

async function read(part: Part): Promise<Found> {
  const found = await find(part);
  if (found === undefined) throw new Error(`there is no ${part}`);
  return found;
}

const exists = async (part: Part): Promise<boolean> => (await find(part)) !== undefined;

async function publishedIps(): Promise<readonly string[]> {
  const subsets = (await find('endpoints'))?.['subsets'] as
    readonly { readonly addresses: readonly { readonly ip: string }[] }[] | undefined;
  return (subsets ?? []).flatMap(({ addresses }) => addresses.map(({ ip }) => ip));
}

async function merge(part: Part, patch: object): Promise<void> {
  await replica(0)
    .store(paths[part])
    .patch({
      ...scope(),
      path: { namespace: inDefault(part).namespace ?? '', name: 'svc', subresource: '' },
      kind: 'merge',
      patch: Buffer.from(JSON.stringify(patch)),
      options: { dryRun: false, fieldManager: '', fieldValidation: 'Warn', force: undefined },
    });
}

const same = (left: unknown, right: unknown): boolean =>
  JSON.stringify(left) === JSON.stringify(right);

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const { signal } = scope();
  while (!(await isTrue())) await sleep(20, signal);
}
