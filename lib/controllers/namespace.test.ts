import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sleep } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { internalClient } from '../registry/internal-client.ts';
import { builtInOwner, ResourceMapHolder } from '../registry/resource-map.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { configMap, fresh, scope, VerbDriver } from '../registry/testing/verb-driver.ts';
import { controllerUser } from './controller-user.ts';
import { deleteContent, NamespaceChanged } from './namespace-content.ts';
import { NamespaceController } from './namespace.ts';
import { runController } from './testing/run-controller.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let namespaces: ResourceStore;
let configMaps: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica({ canDeleteUnreadable: true });
  verbs = new VerbDriver(replica);
  namespaces = replica.store('namespaces');
  configMaps = replica.store('configmaps');
});

afterAll(async () => {
  await registry.stop();
});

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message: string;
}

/** Overwrites what is stored with what nobody can read. */
async function spoil(path: string): Promise<void> {
  const { signal } = scope();
  const key = `/registry/${path}`;
  const { item } = await replica.storage.get(key, signal);
  const expected = item?.modRevision ?? 0;
  await replica.storage.put(key, Buffer.from('not an object'), { expected }, signal);
}

const named = (name: string): object => ({ metadata: { name } });
const held = { finalizers: ['example.com/h'] };

describe('one pass over the content', () => {
  test('deletes what can go and counts what is held, in this namespace alone', async () => {
    const name = fresh();
    await verbs.create(configMaps, configMap('a'), '', name);
    await verbs.create(configMaps, configMap('b', {}, held), '', name);
    await verbs.create(configMaps, configMap('c'), '', 'elsewhere');
    for (let count = 0; count < 2; count++) {
      const result = await onePass(name);
      expect([...result.countByResource]).toEqual([['configmaps.', 1]]);
      expect([...result.countByFinalizer]).toEqual([['example.com/h', 1]]);
      expect(result.failures).toEqual([]);
    }
    expect((await verbs.list(configMaps, '', 'elsewhere')).items).toHaveLength(1);
  });

  test('leaves everything else alone while there are pods', async () => {
    const name = fresh();
    const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] };
    const pods = replica.store('pods');
    await verbs.create(pods, { metadata: { name: 'p' }, spec }, '', name);
    await verbs.create(configMaps, configMap('a'), '', name);
    expect([...(await onePass(name)).countByResource]).toEqual([['pods.', 1]]);
    expect((await verbs.list(configMaps, '', name)).items).toHaveLength(1);
    await verbs.remove(pods, 'p', { body: { gracePeriodSeconds: 0 }, namespace: name });
    expect([...(await onePass(name)).countByResource]).toEqual([]);
    expect((await verbs.list(configMaps, '', name)).items).toHaveLength(0);
  });

  test('deletes the rest beside what cannot be read, which remains and is named', async () => {
    const name = fresh();
    for (const one of ['a', 'b']) await verbs.create(configMaps, configMap(one), '', name);
    await spoil(`configmaps/${name}/a`);
    for (let count = 0; count < 2; count++) {
      const result = await onePass(name);
      expect([...result.countByResource]).toEqual([['configmaps.', 1]]);
      expect(result.failures.join()).toContain(`${name}/a`);
    }
    const body = { ignoreStoreReadErrorWithClusterBreakingPotential: true };
    await verbs.remove(configMaps, 'a', { body, namespace: name });
    expect([...(await onePass(name)).countByResource]).toEqual([]);
  });

  test('deletes nothing when the namespace is another one by now', async () => {
    const name = fresh();
    await verbs.create(configMaps, configMap('a'), '', name);
    const confirm = (): Promise<void> => Promise.reject(new NamespaceChanged(name));
    await expect(onePass(name, confirm)).rejects.toThrow(NamespaceChanged);
    expect((await verbs.list(configMaps, '', name)).items).toHaveLength(1);
  });
});

async function onePass(
  namespace: string,
  confirm = (): Promise<void> => Promise.resolve(),
): ReturnType<typeof deleteContent> {
  const { naming, storage, stores } = replica;
  const { signal } = scope();
  const since = await storage.currentRevision(signal);
  const client = internalClient(controllerUser(naming, 'namespace-controller'));
  return deleteContent({ namespace, since, stores: stores.all, client, signal, confirm });
}

describe('the namespace controller', () => {
  test('removes empty and full namespaces, and waits for finalizers of the content', async () => {
    const { stop } = startController();
    try {
      const [empty, full] = [fresh(), fresh()];
      for (const name of [empty, full]) await verbs.create(namespaces, named(name));
      await verbs.create(configMaps, configMap('b', {}, held), '', full);
      for (const name of [empty, full]) await verbs.remove(namespaces, name);
      await until(async () => (await count(empty)) === 0);
      await until(async () => {
        const { status } = await verbs.get(namespaces, full);
        return JSON.stringify(status).includes('SomeFinalizersRemain');
      });
      const { status } = await verbs.get(namespaces, full);
      expect(status).toMatchObject({
        phase: 'Terminating',
        conditions: [
          { type: 'NamespaceDeletionDiscoveryFailure', status: 'False' },
          { type: 'NamespaceDeletionGroupVersionParsingFailure', status: 'False' },
          { type: 'NamespaceDeletionContentFailure', status: 'False', reason: 'ContentDeleted' },
          { type: 'NamespaceContentRemaining', status: 'True', reason: 'SomeResourcesRemain' },
          { type: 'NamespaceFinalizersRemaining', status: 'True', reason: 'SomeFinalizersRemain' },
        ],
      });
      await letGo(full);
      await until(async () => (await count(full)) === 0);
    } finally {
      await stop();
    }
  });

  test('does not wait for its back-off when what held a namespace goes', async () => {
    const name = fresh();
    await verbs.create(namespaces, named(name));
    await verbs.create(configMaps, configMap('b', {}, held), '', name);
    await verbs.remove(namespaces, name);
    const clock = new ManualClock(); // stands still: no back-off ends
    const { stop } = startController(clock);
    try {
      await until(() => Promise.resolve(clock.waitsMs.length > 0));
      await letGo(name);
      await until(async () => (await count(name)) === 0);
    } finally {
      await stop();
    }
  });

  test('keeps a namespace while something in it cannot be read, and says what', async () => {
    const name = fresh();
    await verbs.create(namespaces, named(name));
    await verbs.create(configMaps, configMap('a'), '', name);
    await spoil(`configmaps/${name}/a`);
    await verbs.remove(namespaces, name);
    const { stop } = startController();
    try {
      const conditionOf = async (type: string): Promise<Condition | undefined> => {
        const { status } = await verbs.get(namespaces, name);
        const { conditions = [] } = status as { conditions?: readonly Condition[] };
        return conditions.find((condition) => condition.type === type);
      };
      await until(async () => (await conditionOf('NamespaceContentRemaining'))?.status === 'True');
      expect(await conditionOf('NamespaceContentRemaining')).toMatchObject({
        message: 'Some resources are remaining: configmaps. has 1 resource instances',
      });
      expect(await conditionOf('NamespaceDeletionContentFailure')).toMatchObject({
        status: 'True',
        message: expect.stringContaining(`${name}/a`),
      });
      const body = { ignoreStoreReadErrorWithClusterBreakingPotential: true };
      await verbs.remove(configMaps, 'a', { body, namespace: name });
      await until(async () => (await count(name)) === 0);
    } finally {
      await stop();
    }
  });

  test('ends the others beside a namespace that cannot be read', async () => {
    const [broken, other, later] = [fresh(), fresh(), fresh()];
    for (const name of [broken, other, later]) await verbs.create(namespaces, named(name));
    await spoil(`namespaces/${broken}`);
    await verbs.remove(namespaces, other);
    const { stop } = startController();
    try {
      await until(async () => (await count(other)) === 0);
      await verbs.remove(namespaces, later);
      await until(async () => (await count(later)) === 0);
    } finally {
      await stop();
      const body = { ignoreStoreReadErrorWithClusterBreakingPotential: true };
      await verbs.remove(namespaces, broken, { body });
    }
  });

  test('works beside another one without harm', async () => {
    const stops = [startController(), startController()];
    try {
      const names = Array.from({ length: 5 }, fresh);
      for (const name of names) {
        await verbs.create(namespaces, named(name));
        for (const one of ['a', 'b']) await verbs.create(configMaps, configMap(one), '', name);
      }
      await Promise.all(names.map((name) => verbs.remove(namespaces, name)));
      for (const name of names) {
        await until(async () => (await count(name)) === 0);
        expect((await verbs.list(configMaps, '', name)).items).toHaveLength(0);
      }
    } finally {
      for (const { stop } of stops) await stop();
    }
  });
});

function startController(clock: Clock = systemClock): { stop: () => Promise<void> } {
  const resources = new ResourceMapHolder();
  resources.set(builtInOwner, replica.stores.all);
  const { naming } = replica;
  const controller = new NamespaceController({
    namespaces,
    resources,
    naming,
    client: internalClient(controllerUser(naming, 'namespace-controller')),
    clock,
    log: createLogger('error'),
  });
  return { stop: runController(controller) };
}

async function letGo(namespace: string): Promise<void> {
  await configMaps.patch({
    ...scope(),
    path: { namespace, name: 'b', subresource: '' },
    kind: 'merge',
    patch: Buffer.from('{"metadata":{"finalizers":null}}'),
    options: { dryRun: false, fieldManager: '', fieldValidation: 'Warn', force: undefined },
  });
}

const count = async (name: string): Promise<number> =>
  (await verbs.list(namespaces, `fieldSelector=metadata.name%3D${name}`)).items.length;

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const { signal } = scope();
  while (!(await isTrue())) await sleep(20, signal);
}
