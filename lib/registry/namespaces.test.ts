import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ResourceStore } from './resource-store.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { causesOf, codeOf, fresh, objectOf, sent, VerbDriver } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let namespaces: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  namespaces = replica.store('namespaces');
});

afterAll(async () => {
  await registry.stop();
});

const named = (name: string, more: object = {}): object => ({ metadata: { name }, ...more });
const finalizer = 'kubernetes';

describe('a namespace', () => {
  test('is active, holds itself and carries its name as a label', async () => {
    const name = fresh();
    const made = await verbs.create(namespaces, named(name, { status: { phase: 'Terminating' } }));
    expect(made['spec']).toEqual({ finalizers: [finalizer] });
    expect(made['status']).toEqual({ phase: 'Active' });
    expect(made.metadata['labels']).toEqual({ 'svc.io/metadata.name': name });
  });

  test('keeps its finalizers and status in an ordinary write', async () => {
    const name = fresh();
    await verbs.create(namespaces, named(name));
    const body = { spec: { finalizers: ['example.com/x'] }, status: { phase: 'Terminating' } };
    const now = sent((await verbs.update(namespaces, name, named(name, body))).item);
    expect([now['spec'], now['status']]).toEqual([
      { finalizers: [finalizer] },
      { phase: 'Active' },
    ]);
  });

  test('is terminating once deleted, and gone once finalized', async () => {
    const name = fresh();
    await verbs.create(namespaces, named(name));
    const ending = await objectOf(verbs.remove(namespaces, name));
    expect(ending['status']).toEqual({ phase: 'Terminating' });
    expect(ending.metadata).toHaveProperty('deletionTimestamp');
    expect(ending.metadata).not.toHaveProperty('deletionGracePeriodSeconds');
    expect(await objectOf(verbs.remove(namespaces, name))).toEqual(ending);
    const finalize = { subresource: 'finalize' };
    const body = { metadata: { name, labels: { a: 'b' } }, spec: {} };
    const last = sent((await verbs.update(namespaces, name, body, finalize)).item);
    expect(last['spec']).toEqual({});
    expect(last.metadata['labels']).toEqual({ a: 'b', 'svc.io/metadata.name': name });
    expect(await codeOf(verbs.get(namespaces, name))).toBe(404);
  });

  test('takes qualified or standard finalizers alone', async () => {
    const name = fresh();
    await verbs.create(namespaces, named(name));
    const body = named(name, { spec: { finalizers: [finalizer, 'x'] } });
    const refused = verbs.update(namespaces, name, body, { subresource: 'finalize' });
    expect(await causesOf(refused)).toEqual(['spec.finalizers[1] FieldValueInvalid']);
  });

  test('that is finalized before its deletion goes with it', async () => {
    const name = fresh();
    await verbs.create(namespaces, named(name));
    await verbs.update(namespaces, name, named(name, { spec: {} }), { subresource: 'finalize' });
    expect((await verbs.remove(namespaces, name)).kind).toBe('status');
  });
});
