// Events end by themselves: each write of one, through either group, gives it a lease of etcd.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { configMap, fresh, VerbDriver } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
});
afterAll(() => registry.stop());

/** Of the lease that the key has; 0: none. */
async function grantedSeconds(key: string): Promise<number> {
  const { etcd } = registry;
  const text = await etcd.etcdctl('get', `/registry/${key}`, '--write-out=json', '--hex=false');
  const lease = /"lease":(\d+)/.exec(text)?.[1];
  if (lease === undefined) return 0;
  const granted = await etcd.etcdctl('lease', 'timetolive', BigInt(lease).toString(16));
  return Number(/granted with TTL\((\d+)s\)/.exec(granted)?.[1]);
}

const ttlSeconds = 3_600;
const slackSeconds = 60;
const expectLease = async (key: string): Promise<void> => {
  const seconds = await grantedSeconds(key);
  expect(seconds).toBeGreaterThanOrEqual(ttlSeconds);
  expect(seconds).toBeLessThanOrEqual(ttlSeconds + slackSeconds);
};

const about = { kind: 'Pod', namespace: 'ns', name: 'p', apiVersion: 'v1' };
const written = {
  reason: 'R',
  action: 'A',
  type: 'Normal',
  eventTime: '2020-01-01T00:00:00.000000Z',
  reportingInstance: 'i',
};
const older = { involvedObject: about, reportingComponent: 'example.com/c', ...written };
const newer = { regarding: about, reportingController: 'example.com/c', ...written };
const series = { series: { count: 2, lastObservedTime: '2020-01-01T00:00:01.000000Z' } };

test.each([
  ['events', older],
  ['events.{v}/events', newer],
])('%s have a lease from the first write on', async (name, body) => {
  const events = replica.store(replica.naming.resolve(name));
  const id = fresh();
  const key = `events/ns/${id}`;
  await verbs.create(events, { metadata: { name: id }, ...body });
  await expectLease(key);
  await verbs.patch(events, id, { ...series, metadata: { finalizers: ['example.com/f'] } });
  await expectLease(key);
  const current = await verbs.get(events, id);
  const labels = { a: 'b' };
  await verbs.update(events, id, { ...current, metadata: { ...current.metadata, labels } });
  await expectLease(key);
  await verbs.apply(events, id, { metadata: { name: id, labels } }, { query: 'fieldManager=m' });
  await expectLease(key);
  await verbs.remove(events, id);
  await expectLease(key);
});

test.each([
  ['events', older],
  ['events.{v}/events', newer],
])('%s that a PUT makes have one, too', async (name, body) => {
  const events = replica.store(replica.naming.resolve(name));
  const id = fresh();
  const { created } = await verbs.update(events, id, { metadata: { name: id }, ...body });
  expect(created).toBe(true);
  await expectLease(`events/ns/${id}`);
});

test('nothing else ends by itself', async () => {
  const name = fresh();
  await verbs.create(replica.store('configmaps'), configMap(name));
  expect(await grantedSeconds(`configmaps/ns/${name}`)).toBe(0);
});
