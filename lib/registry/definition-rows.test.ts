// Definitions as others see them: names that belong together, where they and their objects lie in
// etcd, the table, and what clients may write into the status.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import type { ResourceStore } from './resource-store.ts';
import { failure, fresh, scope, VerbDriver } from './testing/verb-driver.ts';
import type { Sent } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let store: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  store = replica.store(replica.naming.resolve('apiextensions.{v}/customresourcedefinitions'));
});
afterAll(() => registry.stop());

const version = (name: string, storage: boolean): object => ({
  ...{ name, served: true, storage },
  schema: { openAPIV3Schema: { type: 'object' } },
});
const definition = (plural: string, names: object = {}): object => ({
  metadata: { name: `${plural}.e.com` },
  spec: {
    ...{ group: 'e.com', scope: 'Namespaced', versions: [version('v1', true)] },
    names: { plural, kind: `K${plural}`, ...names },
  },
});
const made = (): Promise<Sent> => verbs.create(store, definition(`${fresh()}s`));
const byStatus = { subresource: 'status' };

test('the name is names.plural + . + group', async () => {
  const { message } = await failure(verbs.create(store, definition('as', { plural: 'bs' })));
  expect(message).toContain(
    'metadata.name: Invalid value: "as.e.com": must be spec.names.plural+"."+spec.group',
  );
});

test('an empty plural is no name, and fails the name', async () => {
  const { message } = await failure(verbs.create(store, definition('as', { plural: '' })));
  expect(message).toContain('spec.names.plural: Required value');
  expect(message).toContain('metadata.name: Invalid value: ');
});

test('it lies below its group and resource, in the version that is served', async () => {
  const { metadata } = await made();
  const key = replica.naming.resolve(
    `/registry/apiextensions.{v}/customresourcedefinitions/${metadata.name}`,
  );
  const found = await replica.storage.get(key, scope().signal);
  const bytes = Buffer.from(found.item?.value ?? []).toString('latin1');
  expect(bytes).toContain(replica.naming.resolve('"apiVersion":"apiextensions.{v}/v1"'));
});

test('storedVersions grow with the storage flag, and shrink by writes of the status', async () => {
  const { metadata } = await made();
  const versions = [version('v1', false), version('v2', true)];
  const moved = await verbs.patch(store, metadata.name, { spec: { versions } });
  expect(moved['status']).toMatchObject({ storedVersions: ['v1', 'v2'] });
  const status = { storedVersions: ['v2'] };
  const shrunk = await verbs.patch(store, metadata.name, { status }, byStatus);
  expect(shrunk['status']).toMatchObject({ storedVersions: ['v2'] });
  const only = { spec: { versions: [version('v2', true)] } };
  expect(await verbs.patch(store, metadata.name, only)).toMatchObject({
    metadata: { generation: 3 },
    status: { storedVersions: ['v2'] },
  });
});

test('clients may write observedGeneration, of the status and of conditions', async () => {
  const { metadata } = await made();
  const conditions = [
    {
      ...{ type: 'X', status: 'True', reason: 'R', message: 'm', observedGeneration: 1 },
      lastTransitionTime: '2024-01-01T00:00:00Z',
    },
  ];
  const status = { observedGeneration: 1, conditions };
  const changed = await verbs.patch(store, metadata.name, { status }, byStatus);
  expect(changed['status']).toMatchObject(status);
});
