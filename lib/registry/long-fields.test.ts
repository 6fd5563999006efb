// Values of selectable fields may be as long as objects are: every such field of every kind, in all
// its versions, is written, read, selected, watched and deleted with one.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { JsonObject, ResourceInfo } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { selectableFields } from '../api/selectable-fields.ts';
import { canonicalObject } from '../codec/normalise.ts';
import { encodeStored } from '../codec/stored-form.ts';
import { createKeyspace } from '../storage-etcd/keys.ts';
import { parseListOptions } from './options.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { fresh, namesOf, params, scope, sent, VerbDriver } from './testing/verb-driver.ts';

const scheme = builtInScheme({ profile: namingProfile('svc') });
const keyspace = createKeyspace('/registry');
const length = 70_000;
const long = 'n'.repeat(length);
const alike = `${'n'.repeat(length - 1)}m`;

let registry: RegistryOnEtcd;
let replica: Replica;
let other: Replica;
let verbs: VerbDriver;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  other = await registry.replica();
  verbs = new VerbDriver(replica);
});

afterAll(async () => {
  await registry.stop();
});

/** An object with `value` in the field `path`. */
function withField(
  resource: ResourceInfo,
  path: string,
  { name, value }: { readonly name: string; readonly value: string },
): JsonObject {
  const { kind, namespaced } = resource;
  const place = namespaced ? { namespace: 'ns' } : {};
  const metadata = { name, ...place, uid: 'u', creationTimestamp: '2024-01-01T00:00:00Z' };
  const object: JsonObject = { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata };
  const keys = (path === 'source' ? 'source.component' : path).split('.');
  const last = keys.pop() ?? '';
  let into = object;
  for (const key of keys) into = into[key] = {};
  into[last] = value;
  return object;
}

const selecting = (path: string, operator: '=' | '!=', value = long): string =>
  new URLSearchParams({ fieldSelector: `${path}${operator}${value}` }).toString();

function isText(resource: ResourceInfo, path: string): boolean {
  const object = withField(resource, path, { name: 'a', value: 'x' });
  try {
    return selectableFields(canonicalObject(object, resource.type), resource)[path] === 'x';
  } catch {
    return false; // Booleans and counts, which are never long.
  }
}
const fields = scheme.storedResources.flatMap((resource) =>
  resource.fieldSelectors
    .filter((path) => !path.startsWith('metadata.') && isText(resource, path))
    .map((path) => [resource.resource, path, resource] as const),
);

describe.each(fields)('%s by %s', (_name, path, resource) => {
  test('an object with a long value is like any other', async () => {
    const { group, version, namespaced, storagePrefix } = resource;
    const store = replica.store(`${group}/${resource.resource}`, version);
    const { signal } = scope();
    const { revision } = await verbs.list(store);
    const options = parseListOptions(params(selecting(path, '=')));
    const ask = { namespace: namespaced ? 'ns' : '', name: '', options, signal };
    const { cursor } = await store.watch({
      ...ask,
      options: { ...options, resourceVersion: String(revision) },
    });
    const [name, twin] = [fresh(), fresh()];
    const put = async (of: { name: string; value: string }): Promise<void> => {
      const bytes = encodeStored(withField(resource, path, of), resource).value;
      const key = keyspace.key(storagePrefix, namespaced ? 'ns' : '', of.name);
      const written = await replica.storage.put(key, bytes, { expected: 0 }, signal);
      if (!written.ok) throw new Error('the key is new');
    };
    await put({ name, value: long });
    await put({ name: twin, value: alike });
    const wanted: object = withField(resource, path, { name, value: long });
    expect(await verbs.get(store, name)).toMatchObject(wanted);
    for (const each of [replica, other]) {
      const driver = new VerbDriver(each);
      const at = each.store(`${group}/${resource.resource}`, version);
      const exact = `&resourceVersionMatch=Exact&resourceVersion=${String(revision + 2)}`;
      for (const query of ['', exact]) {
        const found = await driver.list(at, selecting(path, '=') + query);
        expect(namesOf(found)).toEqual([name]);
        const rest = await driver.list(at, selecting(path, '!=') + query);
        expect(namesOf(rest)).toContain(twin);
        expect(namesOf(rest)).not.toContain(name);
      }
    }
    await verbs.remove(store, name, { query: 'gracePeriodSeconds=0' });
    await verbs.remove(store, twin, { query: 'gracePeriodSeconds=0' });
    const seen: string[] = [];
    while (seen.at(-1) !== `DELETED ${name}`) {
      for (const event of (await cursor.next(signal)) ?? []) {
        seen.push(
          `${event.type} ${event.item === undefined ? '' : sent(event.item).metadata.name}`,
        );
      }
    }
    cursor.close();
    expect(seen[0]).toBe(`ADDED ${name}`);
    expect(seen.join()).not.toContain(twin);
  });
});

test.each<[string, string, object]>([
  ['secrets', 'type', { type: long }],
  ['events', 'reason', { reason: long, involvedObject: { namespace: 'ns' } }],
  [
    'pods',
    'spec.schedulerName',
    { spec: { schedulerName: long, containers: [{ name: 'a', image: 'b' }] } },
  ],
])('clients write %s with a long %s', async (kind, path, body) => {
  const store = replica.store(kind);
  const name = fresh();
  const made = await verbs.create(store, { metadata: { name }, ...body });
  expect(made).toMatchObject(body);
  const patched = await verbs.patch(store, name, { metadata: { labels: { a: 'b' } } });
  expect(patched).toMatchObject(body);
  const elsewhere = new VerbDriver(other);
  const { resourceVersion } = patched.metadata;
  expect(await elsewhere.get(other.store(kind), name, resourceVersion)).toEqual(patched);
  expect(namesOf(await elsewhere.list(other.store(kind), selecting(path, '=')))).toEqual([name]);
  await verbs.remove(store, name, { query: 'gracePeriodSeconds=0' });
  expect(namesOf(await verbs.list(store, selecting(path, '=')))).toEqual([]);
});

test('metadata may be long in every part', async () => {
  const store = replica.store('configmaps');
  const count = 1_000;
  const many = <T>(make: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => make(index));
  const key = (index: number): string => `${'k'.repeat(60)}.example.com/${String(index)}`;
  const metadata = {
    generateName: 'g'.repeat(200),
    labels: Object.fromEntries(many((at) => [key(at), 'v'.repeat(63)])),
    annotations: { 'example.com/a': 'ä'.repeat(100_000) },
    finalizers: many(key),
    ownerReferences: many((at) => `owner-${String(at)}`).map((name) => ({
      apiVersion: 'example.com/v1',
      kind: 'Owner',
      name,
      uid: name,
    })),
  };
  const made = await verbs.create(store, { metadata });
  expect(made.metadata).toMatchObject(metadata);
  const { name, resourceVersion } = made.metadata;
  const elsewhere = new VerbDriver(other);
  expect(await elsewhere.get(other.store('configmaps'), name, resourceVersion)).toEqual(made);
  const label = params(`labelSelector=${encodeURIComponent(key(count - 1))}`).toString();
  expect(namesOf(await elsewhere.list(other.store('configmaps'), label))).toEqual([name]);
  await verbs.patch(store, name, { metadata: { finalizers: null } });
  await verbs.remove(store, name);
  expect(namesOf(await verbs.list(store, label))).toEqual([]);
});
