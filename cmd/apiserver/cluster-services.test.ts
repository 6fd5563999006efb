// Where a webhook that is a service of the cluster is found, over Services in a real etcd.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServicesOfCluster } from '../../lib/client/webhook-config.ts';
import { RegistryOnEtcd } from '../../lib/registry/testing/registry-on-etcd.ts';
import type { Replica } from '../../lib/registry/testing/registry-on-etcd.ts';
import { VerbDriver } from '../../lib/registry/testing/verb-driver.ts';
import type { ResourceStore } from '../../lib/registry/resource-store.ts';
import { clusterServices } from './cluster-services.ts';

const signal = AbortSignal.timeout(60_000);
const ports = [
  { name: 'https', port: 443, targetPort: 8443 },
  { name: 'more', port: 9443 },
];
let registry: RegistryOnEtcd;
let replica: Replica;
let resolve: ServicesOfCluster['resolve'];
beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  const clusterIpRanges = ['10.0.0.0/24', 'fd00::/112'];
  replica = await registry.replica({
    services: { clusterIpRanges, nodePortRange: { first: 30_000, count: 80 } },
  });
  const services = replica.store('services');
  const verbs = new VerbDriver(replica);
  const make = (name: string, spec: object): Promise<unknown> =>
    verbs.create(services, { metadata: { name }, spec });
  await make('plain', { clusterIP: '10.0.0.7', ports });
  await make('six', { clusterIP: 'fd00::7', ipFamilies: ['IPv6'], ports });
  await make('headless', { clusterIP: 'None', ports });
  await make('outside', { type: 'ExternalName', externalName: 'localhost' });
  await make('numbered', { type: 'ExternalName', externalName: '127.0.0.1.nowhere.invalid' });
  await verbs.get(services, 'plain');
  const slices = replica.store('discovery.svc.io/endpointslices').stored.view;
  const views = { services: services.stored.view, slices, naming: replica.naming };
  const found = clusterServices({ ...views, routesToEndpoints: false });
  resolve = (...asked) => found.resolve(...asked);
});
afterAll(() => registry.stop());

test.each([
  ['plain', 443, '10.0.0.7'],
  ['plain', 9443, '10.0.0.7'],
  ['six', 443, 'fd00::7'],
])('a service %s is called at port %d of its own address', async (name, port, ip) => {
  expect(await resolve({ namespace: 'ns', name, port }, signal)).toEqual([{ ip }]);
});

test('a service outside of the cluster is where its name is', async () => {
  const found = await resolve({ namespace: 'ns', name: 'outside', port: 1234 }, signal);
  expect(found.map(({ ip }) => ip)).toContain('127.0.0.1');
  const unknown = resolve({ namespace: 'ns', name: 'numbered', port: 443 }, signal);
  await expect(unknown).rejects.toThrow('nowhere.invalid');
});

test.each([
  ['is not there', 'none', 443, 'service "none" not found'],
  ['has not the port', 'plain', 8443, 'no service port 8443 found for service "plain"'],
  ['is headless', 'headless', 443, 'cannot route to service with ClusterIP "None"'],
])('a service that %s is said to be so', async (_claim, name, port, text) => {
  await expect(resolve({ namespace: 'ns', name, port }, signal)).rejects.toThrow(text);
});

test('a service of another namespace is another one', async () => {
  const other = resolve({ namespace: 'other', name: 'plain', port: 443 }, signal);
  await expect(other).rejects.toThrow('service "plain" not found');
});

test('where Services are not served, there are none', async () => {
  const nowhere = clusterServices({
    ...{ services: undefined, slices: undefined },
    naming: replica.naming,
    routesToEndpoints: false,
  });
  const none = nowhere.resolve({ namespace: 'ns', name: 'plain', port: 443 }, signal);
  await expect(none).rejects.toThrow('service "plain" not found');
});

describe('endpoints behind a service', () => {
  let found: ServicesOfCluster;
  let direct: ServicesOfCluster;
  let driver: VerbDriver;
  const asked = { namespace: 'ns', name: 'plain', port: 443 };
  const slices = (): ResourceStore => replica.store('discovery.svc.io/endpointslices');
  const label = 'svc.io/service-name';
  const writeSlice = (name: string, slice: object): Promise<unknown> =>
    driver.create(slices(), {
      metadata: { name, labels: { [label]: 'plain' } },
      addressType: 'IPv4',
      ports: [
        { name: 'https', port: 8443 },
        { name: 'more', port: 9999 },
      ],
      ...slice,
    });
  /** Memory has seen all that was written. */
  const settle = (): Promise<unknown> =>
    slices().stored.view.list({}, { mode: 'latest' }, { limitCount: 0 }, signal);

  beforeAll(async () => {
    driver = new VerbDriver(replica);
    const views = {
      services: replica.store('services').stored.view,
      slices: slices().stored.view,
      naming: replica.naming,
    };
    found = clusterServices({ ...views, routesToEndpoints: false });
    direct = clusterServices({ ...views, routesToEndpoints: true });
    await expect(direct.resolve(asked, signal)).rejects.toThrow(
      'no endpoints available for service "plain"',
    );
    const ready = (...addresses: readonly string[]): object => ({ addresses });
    await writeSlice('a', {
      endpoints: [
        ready('10.1.0.1'),
        { ...ready('10.1.0.2'), conditions: { ready: true } },
        { ...ready('10.1.0.3'), conditions: { ready: false } },
      ],
    });
    await writeSlice('six', { addressType: 'IPv6', endpoints: [ready('fd00::1')] });
    await writeSlice('other', {
      metadata: { name: 'other', labels: { [label]: 'another' } },
      endpoints: [ready('10.1.0.9')],
    });
    await settle();
  });

  test('h.client-service: ready ones of the port, of the primary family first', async () => {
    const addresses = await direct.resolve(asked, signal);
    const texts = addresses.map(({ ip, port }) => `${ip} ${String(port)}`);
    expect(texts.toSorted()).toEqual(['10.1.0.1 8443', '10.1.0.2 8443']);
    const more = await direct.resolve({ ...asked, port: 9443 }, signal);
    expect(new Set(more.map(({ port }) => port))).toEqual(new Set([9999]));
    expect(direct.places(asked)?.addresses.length).toBe(2);
  });

  test('u.balance: they are the same until one of them changes', async () => {
    const before = found.places(asked);
    expect(before?.addresses).toEqual([{ ip: '10.0.0.7' }]);
    expect([...(before?.behind ?? [])].toSorted()).toEqual([
      '10.1.0.1:8443',
      '10.1.0.2:8443',
      '[fd00::1]:8443',
    ]);
    expect(found.places(asked)).toBe(before);
    await driver.remove(slices(), 'a');
    await settle();
    expect([...(found.places(asked)?.behind ?? [])]).toEqual(['[fd00::1]:8443']);
    expect(direct.places(asked)?.addresses).toEqual([{ ip: 'fd00::1', port: 8443 }]);
  });

  test('of a service that is not there, or outside, are not known', () => {
    expect(found.places({ ...asked, name: 'none' })).toBeUndefined();
    expect(found.places({ ...asked, name: 'outside' })).toBeUndefined();
    expect(found.places({ ...asked, port: 1 })).toBeUndefined();
  });
});
