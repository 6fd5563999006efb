// Custom resources over a real etcd, as one replica and as two serve them.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLogger } from '../base/log.ts';
import { ResourceMapHolder } from '../registry/resource-map.ts';
import { StoreReplaced } from '../registry/store-replaced.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import { failure, VerbDriver } from '../registry/testing/verb-driver.ts';
import { ServedDefinitions } from './served-definitions.ts';
import { definingReplica } from './testing/definitions-on-etcd.ts';
import type { ServingDefinitions } from './testing/definitions-on-etcd.ts';

let registry: RegistryOnEtcd;
let custom: ServingDefinitions;
let verbs: VerbDriver;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  custom = await definingReplica(registry);
  verbs = new VerbDriver(custom.replica);
});
afterAll(async () => {
  custom.end();
  await registry.stop();
});

test('a definition is served by who stored it once the write is answered', async () => {
  await custom.define({ plural: 'widgets', versions: [{ name: 'v1' }, { name: 'v2' }] });
  const made = await verbs.create(custom.store('widgets'), { metadata: { name: 'a' }, spec: {} });
  expect(made).toMatchObject({ kind: 'Widget', apiVersion: 'example.com/v1' });
  const other = await verbs.get(custom.store('widgets', 'v2'), 'a');
  expect(other).toMatchObject({ kind: 'Widget', apiVersion: 'example.com/v2' });
});

test('another replica serves what was defined before it began', async () => {
  await custom.define({ plural: 'gadgets', versions: [{ name: 'v1' }] });
  const other = await definingReplica(registry);
  const theirs = new VerbDriver(other.replica);
  const made = await theirs.create(other.store('gadgets'), { metadata: { name: 'b' } });
  expect(made).toMatchObject({ kind: 'Gadget' });
  other.end();
});

test('what is read of a definition that is gone is not told', async () => {
  await custom.define({ plural: 'doodads', versions: [{ name: 'v1' }] });
  const other = await definingReplica(registry);
  const theirs = new VerbDriver(other.replica);
  const store = other.store('doodads');
  expect(await theirs.list(store)).toMatchObject({ items: [] });
  other.end(); // It follows definitions no more: as if it were late.
  await custom.undefine('doodads.example.com');
  await expect(theirs.list(store)).rejects.toBeInstanceOf(StoreReplaced);
  await expect(theirs.get(store, 'a')).rejects.toBeInstanceOf(StoreReplaced);
});

test('a definition of a kind of the server itself is not served and hinders nothing', async () => {
  const { naming } = custom.replica;
  const group = naming.resolve('apiregistration.{v}');
  const annotations = { [naming.resolve('api-approved.{kubernetes}.io')]: 'unapproved, of a test' };
  await custom.define({ group, plural: 'apiservices', versions: [{ name: 'v1' }], annotations });
  const name = `${group}/apiservices`;
  expect(custom.replica.store(name).resource.kind.kind).toBe('APIService');
  await verbs.list(custom.replica.store(name));
  await custom.define({ plural: 'after', versions: [{ name: 'v1' }] });
  expect(custom.store('after').resource.resource).toBe('after');
});

test('before definitions were read nothing is absent: 503, to be tried again', async () => {
  const { scheme, naming, cache } = custom.replica;
  const group = naming.resolve('apiextensions.{v}');
  const definitions = scheme.storedResource(group, 'customresourcedefinitions');
  if (definitions === undefined) throw new Error('definitions are served');
  const resources = new ResourceMapHolder();
  const view = cache.view(definitions);
  const log = createLogger('error');
  const served = new ServedDefinitions({
    scheme,
    view,
    resources,
    makeStores: () => undefined,
    log,
  });
  const refused = await failure(resources.proven(AbortSignal.timeout(60_000)));
  expect([served.isWhole, refused.code, refused.details]).toEqual([
    false,
    503,
    { retryAfterSeconds: 1 },
  ]);
});
