// Definitions as a resource: what a write of them keeps, counts and completes.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import type { ResourceStore } from './resource-store.ts';
import { causesOf, codeOf, fresh, VerbDriver } from './testing/verb-driver.ts';

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

afterAll(async () => {
  await registry.stop();
});

const version = (name: string, storage: boolean): object => ({
  ...{ name, served: true, storage },
  schema: { openAPIV3Schema: { type: 'object' } },
});

interface Body {
  readonly metadata: { readonly name: string };
  readonly spec: object;
}

function definition(more: object = {}): Body {
  const plural = `${fresh()}s`;
  return {
    metadata: { name: `${plural}.e.com` },
    spec: {
      group: 'e.com',
      scope: 'Namespaced',
      names: { plural, kind: `K${plural}` },
      versions: [version('v1', true)],
    },
    ...more,
  };
}

describe('a definition that is made', () => {
  test('is completed, has its first generation, and no status but the stored version', async () => {
    const body = definition({ status: { storedVersions: ['v9'], conditions: [{ type: 'X' }] } });
    const made = await verbs.create(store, body);
    const [plural = ''] = body.metadata.name.split('.');
    expect(made).toMatchObject({
      metadata: { generation: 1 },
      spec: {
        conversion: { strategy: 'None' },
        names: { singular: `k${plural}`, listKind: `K${plural}List` },
      },
      status: { storedVersions: ['v1'] },
    });
    expect((made['status'] as { conditions?: unknown[] }).conditions ?? []).toEqual([]);
  });

  test('has a port of its webhook service', async () => {
    const body = definition();
    const conversion = {
      strategy: 'Webhook',
      webhook: {
        clientConfig: { service: { namespace: 'n', name: 's' } },
        conversionReviewVersions: ['v1'],
      },
    };
    const spec = { ...body.spec, conversion };
    const made = await verbs.create(store, { ...body, spec });
    expect(made).toMatchObject({
      spec: { conversion: { webhook: { clientConfig: { service: { port: 443 } } } } },
    });
  });
});

describe('a definition that is changed', () => {
  test('keeps its status, counts changes of the spec, remembers where objects lie', async () => {
    const { metadata } = await verbs.create(store, definition());
    const labelled = await verbs.patch(store, metadata.name, { metadata: { labels: { a: 'b' } } });
    expect(labelled.metadata['generation']).toBe(1);
    const changed = await verbs.patch(store, metadata.name, {
      spec: { versions: [version('v1', false), version('v2', true)] },
      status: { storedVersions: [], conditions: [{ type: 'X', status: 'True' }] },
    });
    expect(changed).toMatchObject({
      metadata: { generation: 2 },
      status: { storedVersions: ['v1', 'v2'] },
    });
  });

  test('keeps every version that objects may be stored in', async () => {
    const { metadata } = await verbs.create(store, definition());
    const only = { spec: { versions: [version('v2', true)] } };
    expect(await causesOf(verbs.patch(store, metadata.name, only))).toEqual([
      expect.stringContaining('status.storedVersions[0]'),
    ]);
  });

  test('names the revision that it changes', async () => {
    const { metadata, ...made } = await verbs.create(store, definition());
    const blind = { ...made, metadata: { ...metadata, resourceVersion: '' } };
    expect(await codeOf(verbs.update(store, metadata.name, blind))).toBe(422);
  });

  test('is not made by an update', async () => {
    const { metadata, ...made } = await verbs.create(store, definition());
    const name = 'absents.e.com';
    const absent = { ...made, metadata: { ...metadata, name } };
    expect(await codeOf(verbs.update(store, name, absent))).toBe(404);
  });
});

test('a write of the status writes metadata, keeps the spec and its generation', async () => {
  const { metadata } = await verbs.create(store, definition());
  const change = {
    metadata: { labels: { a: 'b' }, finalizers: ['e.com/f'] },
    spec: { scope: 'Cluster' },
    status: { acceptedNames: { plural: 'as', kind: 'A' }, storedVersions: [] },
  };
  const byStatus = { subresource: 'status' };
  const changed = await verbs.patch(store, metadata.name, change, byStatus);
  expect(changed).toMatchObject({
    metadata: { generation: 1, labels: { a: 'b' }, finalizers: ['e.com/f'] },
    spec: { scope: 'Namespaced' },
    status: { acceptedNames: { plural: 'as' } },
  });
  const wrong = { status: { acceptedNames: { plural: 'A' } } };
  expect(await causesOf(verbs.patch(store, metadata.name, wrong, byStatus))).toEqual([
    expect.stringContaining('status.acceptedNames.plural'),
  ]);
});
