// Custom kinds that come and go, as the controllers meet them: namespaces end with their objects,
// garbage is collected across kinds, and nobody is asked to convert anything for that.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sleep } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { createLogger } from '../base/log.ts';
import { internalError } from '../base/status.ts';
import { internalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { configMap, fresh, scope, VerbDriver } from '../registry/testing/verb-driver.ts';
import { controllerUser } from './controller-user.ts';
import { NamespaceController } from './namespace.ts';
import { isThere, ownedBy, startCollector, until } from './testing/collector.ts';
import { customStores } from './testing/custom-store.ts';
import { during } from './testing/run-controller.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let configMaps: ResourceStore;
let stopCollector: () => Promise<void>;
/** How often somebody asked for a conversion, which always fails. */
let conversionCount = 0;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  configMaps = replica.store('configmaps');
  stopCollector = startCollector(replica);
});

afterAll(async () => {
  await stopCollector();
  await registry.stop();
});

beforeEach(() => {
  conversionCount = 0;
});

interface Served {
  readonly stored: ResourceStore;
  /** Of the version that is converted. */
  readonly other: ResourceStore;
  /** Neither is served any more. */
  end(): void;
}

/** A kind in two versions, of which the other one comes first. */
function serve({ isClusterScoped = false } = {}): Served {
  const plural = fresh();
  const convertAll = (): Promise<never> => {
    conversionCount++;
    return Promise.reject(internalError('the webhook is broken'));
  };
  const [stored, other] = customStores(replica, {
    group: 'example.com',
    plural,
    kind: plural.toUpperCase(),
    otherVersion: 'v2',
    converter: { convertAll },
    isClusterScoped,
  });
  if (stored === undefined || other === undefined) throw new Error('there are two versions');
  replica.stores.set(plural, [other, stored]);
  const end = (): void => {
    replica.stores.set(plural, []);
    replica.cache.remove(stored.resource);
  };
  return { stored, other, end };
}

const metadataOf = (name: string, more: object = {}): object => ({ metadata: { name, ...more } });
const isGone = async (store: ResourceStore, name: string, namespace = 'ns'): Promise<boolean> =>
  !(await isThere(store, name, namespace));

test('a namespace ends with its custom objects, held ones too, without conversion', async () => {
  const { stored } = serve();
  const namespaces = replica.store('namespaces');
  const namespace = fresh();
  const { naming, stores } = replica;
  const controller = new NamespaceController({
    namespaces,
    resources: stores,
    naming,
    client: internalClient(controllerUser(naming, 'namespace-controller')),
    clock: systemClock,
    log: createLogger('error'),
  });
  await verbs.create(namespaces, metadataOf(namespace));
  for (const name of ['a', 'b']) await verbs.create(stored, metadataOf(name), '', namespace);
  await verbs.create(stored, metadataOf('c', { finalizers: ['example.com/h'] }), '', namespace);
  await during(controller, async () => {
    await verbs.remove(namespaces, namespace);
    await until(async () => {
      const { items } = await verbs.list(stored, '', namespace);
      return items.length === 1;
    });
    const patch = { metadata: { finalizers: null } };
    await stored.patch({
      ...scope(),
      path: { namespace, name: 'c', subresource: '' },
      kind: 'merge',
      patch: Buffer.from(JSON.stringify(patch)),
      options: {
        dryRun: false,
        fieldManager: 'test',
        fieldValidation: 'Ignore',
        force: undefined,
      },
    });
    await until(async () => !(await isThere(namespaces, namespace)));
  });
  expect(conversionCount).toBe(0);
});

describe('the garbage collector', () => {
  test.each(['Background', 'Foreground'])(
    'deletes dependents across kinds, named in any version: %s',
    async (policy) => {
      const [owners, dependents] = [serve({ isClusterScoped: true }), serve()];
      const [owner, middle, last] = [fresh(), fresh(), fresh()];
      const made = await verbs.create(owners.stored, metadataOf(owner));
      const blocks = { blockOwnerDeletion: true };
      const byOwner = { ownerReferences: [ownedBy(owners.other, made, blocks)] };
      const between = await verbs.create(dependents.stored, metadataOf(middle, byOwner));
      const byMiddle = { ownerReferences: [ownedBy(dependents.stored, between, blocks)] };
      await verbs.create(configMaps, configMap(last, {}, byMiddle));
      await verbs.remove(owners.stored, owner, { query: `propagationPolicy=${policy}` });
      await until(() => isGone(configMaps, last));
      await until(() => isGone(dependents.stored, middle));
      await until(() => isGone(owners.stored, owner));
      expect(conversionCount).toBe(0);
    },
  );

  test('orphans dependents, and takes references to former owners from the others', async () => {
    const [owners, dependents] = [serve(), serve()];
    const [first, second] = [
      await verbs.create(owners.stored, metadataOf(fresh())),
      await verbs.create(owners.stored, metadataOf(fresh())),
    ];
    const name = fresh();
    const ownerReferences = [ownedBy(owners.other, first), ownedBy(owners.stored, second)];
    await verbs.create(dependents.stored, metadataOf(name, { ownerReferences }));
    const left = async (): Promise<number> => {
      const { metadata } = await verbs.get(dependents.stored, name);
      return (metadata['ownerReferences'] as unknown[] | undefined)?.length ?? 0;
    };
    await verbs.remove(owners.stored, first.metadata.name);
    await until(async () => (await left()) === 1);
    const query = 'propagationPolicy=Orphan';
    await verbs.remove(owners.stored, second.metadata.name, { query });
    await until(() => isGone(owners.stored, second.metadata.name));
    expect(await left()).toBe(0);
    expect(conversionCount).toBe(0);
  });

  test('deletes dependents of an owner whose kind goes with it', async () => {
    for (let round = 0; round < 5; round++) {
      const owners = serve();
      const made = await verbs.create(owners.stored, metadataOf(fresh()));
      const name = fresh();
      const ownerReferences = [ownedBy(owners.stored, made)];
      await verbs.create(configMaps, configMap(name, {}, { ownerReferences }));
      await sleep(limits.servedResourcesCheckMs + 100, scope().signal); // it is followed
      await verbs.remove(owners.stored, made.metadata.name);
      owners.end();
      await until(() => isGone(configMaps, name));
    }
  });

  test('leaves dependents of an owner that is stored and served no more', async () => {
    const owners = serve();
    const made = await verbs.create(owners.stored, metadataOf(fresh()));
    const name = fresh();
    const ownerReferences = [ownedBy(owners.stored, made)];
    await verbs.create(configMaps, configMap(name, {}, { ownerReferences }));
    await sleep(limits.servedResourcesCheckMs + 100, scope().signal);
    owners.end();
    await sleep(3 * limits.servedResourcesCheckMs, scope().signal);
    expect(await isThere(configMaps, name)).toBe(true);
    // Nobody knows an owner of a kind that never was.
    const unknown = { apiVersion: 'nobody.example.com/v1', kind: 'None', name: 'x', uid: fresh() };
    const other = fresh();
    await verbs.create(configMaps, configMap(other, {}, { ownerReferences: [unknown] }));
    await sleep(limits.servedResourcesCheckMs, scope().signal);
    expect(await isThere(configMaps, other)).toBe(true);
  });
});
