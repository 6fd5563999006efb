import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sleep } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { createLogger } from '../base/log.ts';
import { serverUser } from '../base/user.ts';
import { internalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { keyspace, RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { fresh, scope, sent, VerbDriver } from '../registry/testing/verb-driver.ts';
import type { Sent } from '../registry/testing/verb-driver.ts';
import { ServiceRepairController } from './service-repair.ts';
import { during } from './testing/run-controller.ts';

const ports = keyspace.resourcePrefix('ranges/servicenodeports');
let registry: RegistryOnEtcd;
/** Gives services what they need; the other one stores what it is sent. */
let replica: Replica;
let older: Replica;
let verbs: VerbDriver;
let addresses: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  const nodePortRange = { first: 30_000, count: 100 };
  replica = await registry.replica({
    services: { clusterIpRanges: ['10.0.0.0/24'], nodePortRange },
  });
  older = await registry.replica();
  verbs = new VerbDriver(replica);
  addresses = replica.store('networking.svc.io/ipaddresses');
});

afterAll(async () => {
  await registry.stop();
});

const store = async (spec: object): Promise<Sent> => {
  const whole = { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack', ...spec };
  const body = { metadata: { name: fresh() }, spec: { ports: [{ port: 80 }], ...whole } };
  return new VerbDriver(older).create(older.store('services'), body);
};
const addressed = (ip: string, nodePort?: number): object => ({
  clusterIP: ip,
  clusterIPs: [ip],
  ...(nodePort === undefined ? {} : { type: 'NodePort', ports: [{ port: 80, nodePort }] }),
});

const isStored = async (key: string): Promise<boolean> =>
  (await replica.storage.get(key, scope().signal)).item !== undefined;

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const { signal } = scope();
  while (!(await isSo())) await sleep(20, signal);
}

async function reasons(name: string): Promise<string[]> {
  const { items } = await verbs.list(replica.store('events'));
  const all = items.map((item) => sent(item));
  return all
    .filter((event) => (event['involvedObject'] as { name: string }).name === name)
    .map((event) => event['reason'] as string)
    .sort();
}

/** Runs the controller while `run` works. `clock`: what it takes for the time. */
async function repairing(run: () => Promise<void>, clock: Clock = systemClock): Promise<void> {
  const { services } = replica;
  if (services === undefined) throw new Error('the replica has them');
  const controller = new ServiceRepairController({
    repair: services.repairOver(replica.storage),
    ...services.views,
    events: replica.store('events'),
    client: internalClient(serverUser),
    clock,
    log: createLogger('error', () => undefined),
  });
  await during(controller, run);
}

const parentOf = async (address: string): Promise<unknown> =>
  (await verbs.get(addresses, address))['spec'];

test('what services have is claimed for them, once, and their users hear of it', async () => {
  const one = await store(addressed('10.0.0.30', 30_030));
  const two = await store(addressed('10.0.0.31', 30_031));
  const double = await store(addressed('10.0.0.31', 30_031));
  const outside = await store(addressed('10.9.9.9', 40_000));
  const parentRef = (name: string): object => ({
    parentRef: { resource: 'services', namespace: 'ns', name },
  });
  // Two has its address already, and its port.
  const port = Buffer.from(JSON.stringify({ namespace: 'ns', name: two.metadata.name }));
  await replica.storage.put(`${ports}30031`, port, { expected: 0 }, scope().signal);
  await verbs.create(addresses, {
    metadata: { name: '10.0.0.31' },
    spec: parentRef(two.metadata.name),
  });
  // One's is somebody's who is not there.
  await verbs.create(addresses, { metadata: { name: '10.0.0.30' }, spec: parentRef('gone') });
  await repairing(async () => {
    await until(() => isStored(`${ports}30030`));
    await until(async () => (await reasons(outside.metadata.name)).length === 2);
    await until(async () => (await reasons(double.metadata.name)).length === 2);
    await until(async () => (await reasons(one.metadata.name)).length === 2);
  });
  expect(await parentOf('10.0.0.30')).toEqual(parentRef(one.metadata.name));
  expect(await parentOf('10.0.0.31')).toEqual(parentRef(two.metadata.name));
  expect(await reasons(one.metadata.name)).toEqual(['ClusterIPNotAllocated', 'PortNotAllocated']);
  expect(await reasons(double.metadata.name)).toEqual([
    'ClusterIPAlreadyAllocated',
    'PortAlreadyAllocated',
  ]);
  expect(await reasons(outside.metadata.name)).toEqual(['ClusterIPOutOfRange', 'PortOutOfRange']);
  expect(await reasons(two.metadata.name)).toEqual([]);
});

test('an IPAddress that is deleted by hand comes back', async () => {
  const made = await verbs.create(replica.store('services'), {
    metadata: { name: fresh() },
    spec: { ports: [{ port: 80 }] },
  });
  const { clusterIP } = made['spec'] as { readonly clusterIP: string };
  await repairing(async () => {
    await verbs.remove(addresses, clusterIP);
    await until(() => isStored(`${keyspace.resourcePrefix('ipaddresses')}${clusterIP}`));
  });
  expect(await reasons(made.metadata.name)).toEqual(['ClusterIPNotAllocated']);
});

test('what is claimed for services that are gone is released, after a time', async () => {
  const gone = await store({ type: 'ClusterIP', clusterIP: 'None', clusterIPs: ['None'] });
  const { name } = gone.metadata;
  const labels = { 'ipaddress.svc.io/managed-by': 'ipallocator.svc.io' };
  const spec = { parentRef: { resource: 'services', namespace: 'ns', name } };
  await verbs.create(addresses, { metadata: { name: '10.0.0.60', labels }, spec });
  await verbs.create(addresses, { metadata: { name: '10.0.0.61' }, spec });
  const holder = Buffer.from(JSON.stringify({ namespace: 'ns', name }));
  for (const port of ['30060', '30061']) {
    const value = port === '30060' ? holder : Buffer.from('nobody');
    await replica.storage.put(`${ports}${port}`, value, { expected: 0 }, scope().signal);
  }
  const key = (address: string): string => `${keyspace.resourcePrefix('ipaddresses')}${address}`;
  await repairing(async () => {
    await until(async () => !(await isStored(`${ports}30060`)));
    await until(async () => !(await isStored(`${ports}30061`)));
  });
  expect(await isStored(key('10.0.0.60'))).toBe(true);
  const later = { ...systemClock, nowMs: () => Date.now() + limits.orphanedAddressGraceMs };
  await repairing(async () => {
    await until(async () => !(await isStored(key('10.0.0.60'))));
  }, later);
  // Made by hand: it is not the server's to delete.
  expect(await isStored(key('10.0.0.61'))).toBe(true);
});
