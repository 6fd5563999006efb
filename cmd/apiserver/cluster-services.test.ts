// Where a webhook that is a service of the cluster is found, over Services in a real etcd.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ServicesOfCluster } from '../../lib/client/webhook-config.ts';
import { RegistryOnEtcd } from '../../lib/registry/testing/registry-on-etcd.ts';
import type { Replica } from '../../lib/registry/testing/registry-on-etcd.ts';
import { VerbDriver } from '../../lib/registry/testing/verb-driver.ts';
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
