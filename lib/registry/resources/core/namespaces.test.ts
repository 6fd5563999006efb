import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sleep } from '../../../base/abort.ts';
import { createLogger } from '../../../base/log.ts';
import type { ResourceStore } from '../../resource-store.ts';
import { RegistryOnEtcd } from '../../testing/registry-on-etcd.ts';
import type { Replica } from '../../testing/registry-on-etcd.ts';
import {
  codeOf,
  configMap,
  fresh,
  objectOf,
  scope,
  sent,
  VerbDriver,
} from '../../testing/verb-driver.ts';
import { deleteContent, endTerminatingNamespaces } from './namespace-content.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let namespaces: ResourceStore;
let configMaps: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  namespaces = replica.store('namespaces');
  configMaps = replica.store('configmaps');
}, 60_000);

afterAll(async () => {
  await registry.stop();
});

const named = (name: string, more: object = {}): object => ({ metadata: { name }, ...more });
const finalizer = 'svc';

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
    expect(await objectOf(verbs.remove(namespaces, name))).toEqual(ending);
    const finalize = { subresource: 'finalize' };
    const body = { metadata: { name, labels: { a: 'ignored' } }, spec: {} };
    const last = sent((await verbs.update(namespaces, name, body, finalize)).item);
    expect(last['spec']).toEqual({});
    expect(last.metadata['labels']).toEqual({ 'svc.io/metadata.name': name });
    expect(await codeOf(verbs.get(namespaces, name))).toBe(404);
  });

  test('that is finalized before its deletion goes with it', async () => {
    const name = fresh();
    await verbs.create(namespaces, named(name));
    await verbs.update(namespaces, name, named(name, { spec: {} }), { subresource: 'finalize' });
    expect((await verbs.remove(namespaces, name)).kind).toBe('status');
  });
});

describe('the end of namespaces', () => {
  test('deletes what is in them, one pass at a time', async () => {
    const name = fresh();
    const held = { finalizers: ['example.com/h'] };
    await verbs.create(configMaps, configMap('a'), '', name);
    await verbs.create(configMaps, configMap('b', {}, held), '', name);
    await verbs.create(configMaps, configMap('c'), '', 'elsewhere');
    const pass = (): Promise<number> =>
      deleteContent(replica.stores.all, name, scope(), replica.naming);
    expect(await pass()).toBe(1);
    expect(await pass()).toBe(1);
    expect((await verbs.list(configMaps, '', 'elsewhere')).items).toHaveLength(1);
  });

  test('waits for finalizers of the content and then removes the namespace', async () => {
    const ended = new AbortController();
    const running = endTerminatingNamespaces(
      {
        namespaces,
        stores: () => replica.stores.all,
        naming: replica.naming,
        log: createLogger('error'),
      },
      ended.signal,
    );
    try {
      const [empty, full] = [fresh(), fresh()];
      for (const name of [empty, full]) await verbs.create(namespaces, named(name));
      await verbs.create(
        configMaps,
        configMap('b', {}, { finalizers: ['example.com/h'] }),
        '',
        full,
      );
      for (const name of [empty, full]) await verbs.remove(namespaces, name);
      await isGone(empty);
      expect((await verbs.get(namespaces, full))['status']).toEqual({ phase: 'Terminating' });
      await configMaps.patch({
        ...scope(),
        path: { namespace: full, name: 'b', subresource: '' },
        kind: 'merge',
        patch: Buffer.from('{"metadata":{"finalizers":null}}'),
        options: { dryRun: false, fieldManager: '', fieldValidation: 'Warn', force: undefined },
      });
      await isGone(full);
    } finally {
      ended.abort();
      await running;
    }
  });
});

async function isGone(name: string): Promise<void> {
  const { signal } = scope();
  for (;;) {
    const { items } = await verbs.list(namespaces, `fieldSelector=metadata.name%3D${name}`);
    if (items.length === 0) return;
    await sleep(50, signal);
  }
}
