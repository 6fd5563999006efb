import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { causesOf, configMap, fresh, VerbDriver } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
});

afterAll(async () => {
  await registry.stop();
});

const workload = {
  selector: { matchLabels: { a: 'b' } },
  template: {
    metadata: { labels: { a: 'b' } },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  },
};
const annotated = { metadata: { annotations: { x: 'y' } } };
const labelled = { metadata: { labels: { x: 'y' } } };
const slice = { addressType: 'IPv4', endpoints: [] };
const device = { name: 'd', attributes: { a: { string: 'x' } } };
const withList = { name: 'd', attributes: { a: { string: 'x', strings: ['x'] } } };
const pool = { name: 'p', generation: 1, resourceSliceCount: 1 };
const devices = {
  spec: { driver: 'd.example.com', nodeName: 'n', pool, devices: [device] },
};

test.each([
  ['a config map counts nothing', 'configmaps', {}, annotated, [undefined, undefined]],
  ['annotations of a deployment', 'apps/deployments', { spec: workload }, annotated, [1, 2]],
  ['but not its labels', 'apps/deployments', { spec: workload }, labelled, [1, 1]],
  ['annotations of no other workload', 'apps/replicasets', { spec: workload }, annotated, [1, 1]],
  ['labels of a slice', 'discovery.{v}/endpointslices', slice, labelled, [1, 2]],
  [
    'a priority class has one',
    'scheduling.{v}/priorityclasses',
    { value: 1 },
    { description: 'x' },
    [1, 1],
  ],
  [
    'a CSI driver has none before the first change',
    'storage.{v}/csidrivers',
    {},
    { spec: { storageCapacity: true } },
    [undefined, 1],
  ],
  [
    'deprecated fields of a slice that are dropped',
    'discovery.{v}/endpointslices',
    { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }] },
    { endpoints: [{ addresses: ['10.0.0.1'], deprecatedTopology: { k: 'v' } }] },
    [1, 2],
  ],
  [
    'fields of a slice that are dropped',
    'resource.{v}/resourceslices',
    devices,
    { spec: { devices: [withList] } },
    [1, 2],
  ],
])('generations: %s', async (_what, resource, body, change, generations) => {
  const store = replica.store(replica.naming.resolve(resource));
  const name = fresh();
  const made = await verbs.create(store, { metadata: { name }, ...body });
  const changed = await verbs.patch(store, name, change);
  const seen = [made.metadata['generation'], changed.metadata['generation']];
  expect(seen).toEqual(generations);
});

test('kinds that count none keep what the client counts', async () => {
  const configMaps = replica.store('configmaps');
  const name = fresh();
  const made = await verbs.create(configMaps, configMap(name, {}, { generation: 7 }));
  expect(made.metadata['generation']).toBe(7);
  const next = await verbs.patch(configMaps, name, { metadata: { generation: 9 } });
  expect(next.metadata['generation']).toBe(7);
  const negative = verbs.create(configMaps, configMap(fresh(), {}, { generation: -1 }));
  expect(await causesOf(negative)).toEqual(['metadata.generation FieldValueInvalid']);
});
