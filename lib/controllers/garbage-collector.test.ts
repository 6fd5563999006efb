import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { builtInOwner, ResourceMapHolder } from '../registry/resource-map.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { configMap, fresh, scope, VerbDriver } from '../registry/testing/verb-driver.ts';
import type { Sent } from '../registry/testing/verb-driver.ts';
import { isThere, ownedBy, startCollector, until } from './testing/collector.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let configMaps: ResourceStore;
let secrets: ResourceStore;
let clusterRoles: ResourceStore;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica({ canDeleteUnreadable: true });
  verbs = new VerbDriver(replica);
  configMaps = replica.store('configmaps');
  secrets = replica.store('secrets');
  clusterRoles = replica.store(`${replica.naming.resolve('rbac.authorization.{v}')}/clusterroles`);
});

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

afterAll(async () => {
  await registry.stop();
});

const start = (options: Parameters<typeof startCollector>[1] = {}): void => {
  stops.push(startCollector(replica, options));
};
const stop = async (): Promise<void> => {
  await stops.pop()?.();
};

const held = { finalizers: ['example.com/h'] };
const create = (metadata: object = {}, store = configMaps, namespace = 'ns'): Promise<Sent> =>
  verbs.create(store, configMap(fresh(), {}, metadata), '', namespace);
const owned = (owner: Sent, more: object = {}, of = configMaps): { ownerReferences: object[] } => ({
  ownerReferences: [ownedBy(of, owner, more)],
});
const blocking = { blockOwnerDeletion: true };
const remove = async ({ metadata }: Sent, policy: string, store = configMaps): Promise<void> => {
  await verbs.remove(store, metadata.name, { body: { propagationPolicy: policy } });
};
const isGone = async ({ metadata }: Sent, store = configMaps, namespace = 'ns'): Promise<boolean> =>
  !(await isThere(store, metadata.name, namespace));
const gone = (object: Sent, store = configMaps, namespace = 'ns'): Promise<void> =>
  until(() => isGone(object, store, namespace));
const now = async ({ metadata }: Sent, store = configMaps): Promise<Sent['metadata']> =>
  (await verbs.get(store, metadata.name)).metadata;

/** All that the collector was told before is done: it is told of this last. */
async function settled(): Promise<void> {
  for (const store of [configMaps, secrets]) {
    const absent = { apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'none' };
    await gone(await create({ ownerReferences: [absent] }, store), store);
  }
}

describe('dependents of an owner that is deleted', () => {
  test('in the background go after it, and theirs after them', async () => {
    start();
    const owner = await create();
    const child = await create(owned(owner), secrets);
    const grandchild = await create(owned(child, {}, secrets));
    await remove(owner, 'Background');
    expect(await isGone(owner)).toBe(true);
    await gone(child, secrets);
    await gone(grandchild);
  });

  test('in the foreground go before it, where they block it', async () => {
    start();
    const owner = await create();
    const child = await create({ ...owned(owner, blocking), ...held });
    const grandchild = await create(owned(child, blocking));
    await remove(owner, 'Foreground');
    await gone(grandchild);
    await settled();
    expect(await now(owner)).toMatchObject({ finalizers: ['foregroundDeletion'] });
    await verbs.patch(configMaps, child.metadata.name, { metadata: { finalizers: null } });
    await gone(child);
    await gone(owner);
  });

  test('in the foreground go with it, where they do not block it', async () => {
    start();
    const owner = await create();
    const child = await create({ ...owned(owner), ...held });
    await remove(owner, 'Foreground');
    await gone(owner);
    await until(async () => 'deletionTimestamp' in (await now(child)));
  });

  test('block it no more once they say so', async () => {
    const owner = await create();
    const child = await create({ ...owned(owner, blocking), ...held });
    await remove(owner, 'Foreground');
    start();
    await until(async () => 'deletionTimestamp' in (await now(child)));
    expect(await isGone(owner)).toBe(false);
    await verbs.patch(configMaps, child.metadata.name, { metadata: owned(owner) });
    await gone(owner);
  });

  test('are orphaned first, as many as they are', async () => {
    start();
    const [owner, other] = [await create(), await create()];
    const reference = ownedBy(configMaps, other);
    const children = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const { ownerReferences } = owned(owner);
        return create({
          ownerReferences: index < 15 ? ownerReferences : [...ownerReferences, reference],
        });
      }),
    );
    await remove(owner, 'Orphan');
    await gone(owner);
    await settled();
    const left = await Promise.all(children.map((child) => now(child)));
    expect(left.map(({ ownerReferences }) => ownerReferences)).toEqual(
      children.map((_, index) => (index < 15 ? undefined : [reference])),
    );
  });

  test('are orphaned although they were made just before', async () => {
    start();
    for (let round = 0; round < 10; round++) {
      const owner = await create();
      const children = await Promise.all(
        Array.from({ length: 5 }, () => create(owned(owner), secrets)),
      );
      await remove(owner, 'Orphan');
      await gone(owner);
      for (const child of children)
        expect(await now(child, secrets)).not.toHaveProperty('ownerReferences');
    }
  });
});

describe('a dependent', () => {
  test('stays with one of its owners, and loses references to the others', async () => {
    start();
    const [first, second] = [await create(), await create()];
    const ownerReferences = [ownedBy(configMaps, first), ownedBy(configMaps, second)];
    const child = await create({ ownerReferences });
    await remove(first, 'Background');
    await until(async () => {
      const { ownerReferences: left } = await now(child);
      return JSON.stringify(left) === JSON.stringify([ownerReferences[1]]);
    });
    await remove(second, 'Background');
    await gone(child);
  });

  test('with another owner does not keep one that waits in the foreground', async () => {
    start();
    const [first, second] = [await create(), await create()];
    const references = [first, second].map((owner) => ownedBy(configMaps, owner, blocking));
    const child = await create({ ownerReferences: references });
    await remove(first, 'Foreground');
    await gone(first);
    await settled();
    expect((await now(child))['ownerReferences']).toEqual([references[1]]);
  });

  test.each([
    ['of an owner that never was', false],
    ['of another uid than the owner of that name', true],
  ])('%s is deleted', async (_claim, isNamed) => {
    start();
    const { metadata } = await create();
    const name = isNamed ? metadata.name : 'never';
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid: fresh() }];
    await gone(await create({ ownerReferences }, secrets), secrets);
  });

  test('whose owner was replaced by another of its name before a start is deleted', async () => {
    const owner = await create();
    const child = await create(owned(owner));
    await remove(owner, 'Background');
    await verbs.create(configMaps, configMap(owner.metadata.name));
    start();
    await gone(child);
  });

  test('keeps what it asked for itself: its own dependents are orphaned', async () => {
    start();
    const owner = await create();
    const child = await create({ ...owned(owner), finalizers: ['orphan'] });
    const grandchild = await create(owned(child));
    await remove(owner, 'Background');
    await gone(child);
    await settled();
    expect(await now(grandchild)).not.toHaveProperty('ownerReferences');
  });

  test('that is served in several versions is collected as any other', async () => {
    const scalers = replica.store('autoscaling/horizontalpodautoscalers', 'v1');
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
    const make = (ownerReferences: readonly object[]): Promise<Sent> => {
      const spec = { scaleTargetRef, maxReplicas: 3 };
      return verbs.create(scalers, { metadata: { name: fresh(), ownerReferences }, spec });
    };
    const [first, second] = [await create(), await create()];
    const references = [first, second].map((owner) => ownedBy(configMaps, owner));
    const [kept, lost] = [await make(references), await make(references.slice(0, 1))];
    await remove(first, 'Background');
    start();
    await gone(lost, scalers);
    await until(async () => {
      const { ownerReferences: left } = await now(kept, scalers);
      return JSON.stringify(left) === JSON.stringify(references.slice(1));
    });
  });

  test('of an owner whose kind nobody serves stays', async () => {
    start();
    const reference = { apiVersion: 'example.com/v1', kind: 'ConfigMap', name: 'x', uid: 'x' };
    const absent = { apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'none' };
    const children = [
      await create({ ownerReferences: [reference] }),
      await create({ ownerReferences: [absent, reference] }),
    ];
    await settled();
    for (const child of children) {
      expect((await now(child))['ownerReferences']).toContainEqual(reference);
    }
  });

  test('of an owner that cannot be read stays', async () => {
    const owner = await create();
    const child = await create(owned(owner), secrets);
    const { signal } = scope();
    const key = `/registry/configmaps/ns/${owner.metadata.name}`;
    const { item } = await replica.storage.get(key, signal);
    const expected = item?.modRevision ?? 0;
    await replica.storage.put(key, Buffer.from('nobody can read this'), { expected }, signal);
    start();
    await settled();
    expect(await isGone(child, secrets)).toBe(false);
    const body = { ignoreStoreReadErrorWithClusterBreakingPotential: true };
    await verbs.remove(configMaps, owner.metadata.name, { body });
    await gone(child, secrets);
  });
});

describe('owners elsewhere', () => {
  const eventsOf = async (namespace: string, { metadata }: Sent): Promise<string[]> => {
    const { items } = await verbs.list(replica.store('events'), '', namespace);
    const events = items.map((item) => item.object() as Record<string, unknown>);
    return events
      .filter(({ involvedObject: of }) => (of as { uid?: string }).uid === metadata.uid)
      .map(({ type, reason, message, source }) =>
        [type, reason, message, JSON.stringify(source)].join(' '),
      );
  };

  test('in another namespace own nothing, and the user is told', async () => {
    start();
    const owner = await create({}, configMaps, 'elsewhere');
    const child = await create(owned(owner));
    await gone(child);
    const { name, uid } = owner.metadata;
    await until(async () => (await eventsOf('ns', child)).length > 0);
    expect(await eventsOf('ns', child)).toEqual([
      `Warning OwnerRefInvalidNamespace ownerRef [v1/ConfigMap, namespace: ns, name: ${name}, ` +
        `uid: ${uid}] does not exist in namespace "ns" ` +
        '{"component":"garbage-collector-controller"}',
    ]);
    expect(await isGone(owner, configMaps, 'elsewhere')).toBe(false);
  });

  test('of a namespaced kind own nothing that has no namespace, and it stays', async () => {
    start();
    const owner = await create();
    const child = await create(owned(owner), clusterRoles);
    await until(async () => (await eventsOf('default', child)).length > 0);
    await remove(owner, 'Background');
    await settled();
    expect(await isGone(child, clusterRoles)).toBe(false);
  });

  test('without a namespace own objects of every namespace', async () => {
    start();
    const owner = await create({}, clusterRoles);
    const child = await create(owned(owner, {}, clusterRoles));
    await settled();
    expect(await isGone(child)).toBe(false);
    await remove(owner, 'Foreground', clusterRoles);
    await gone(child);
    await gone(owner, clusterRoles);
  });
});

describe('circles', () => {
  test.each(['Background', 'Foreground'])('end when one in them is deleted: %s', async (policy) => {
    start();
    const ring: Sent[] = [await create()];
    for (let count = 0; count < 3; count++)
      ring.push(await create(owned(ring.at(-1) as Sent, blocking)));
    const last = ring.at(-1) as Sent;
    const [first] = ring as [Sent];
    await verbs.patch(configMaps, first.metadata.name, { metadata: owned(last, blocking) });
    await remove(first, policy);
    for (const one of ring) await gone(one);
  });

  test('of one end, too', async () => {
    start();
    const one = await create();
    await verbs.patch(configMaps, one.metadata.name, { metadata: owned(one, blocking) });
    await remove(one, 'Foreground');
    await gone(one);
  });
});

describe('the collector', () => {
  test('takes up after a start what was deleted before', async () => {
    const owner = await create();
    const child = await create(owned(owner));
    const [waiting, orphaning] = [await create(), await create()];
    const [blocker, orphan] = [
      await create(owned(waiting, blocking)),
      await create(owned(orphaning)),
    ];
    await remove(owner, 'Background');
    await remove(waiting, 'Foreground');
    await remove(orphaning, 'Orphan');
    start();
    for (const one of [child, blocker, waiting, orphaning]) await gone(one);
    await stop();
    start();
    await settled();
    expect(await now(orphan)).not.toHaveProperty('ownerReferences');
  });

  test('follows resources that come and go', async () => {
    const resources = new ResourceMapHolder();
    const others = replica.stores.all.filter((store) => store !== secrets);
    resources.set(builtInOwner, others);
    start({ resources });
    const owner = await create({}, secrets);
    const child = await create(owned(owner, {}, secrets));
    await remove(owner, 'Background', secrets);
    await settledConfigMaps();
    expect(await isGone(child)).toBe(false); // nobody knows what a Secret is
    resources.set('late', [secrets]);
    await gone(child);
    const next = await create(owned(await create(), {}), secrets);
    resources.set('late', []);
    await settledConfigMaps();
    resources.set('late', [secrets]);
    await settled();
    expect(await isGone(next, secrets)).toBe(false);
  });

  test('does no harm beside another one, on another replica, too', async () => {
    start();
    start();
    const second = await registry.replica();
    stops.push(startCollector(second));
    const owners = await Promise.all(Array.from({ length: 9 }, () => create()));
    const children = await Promise.all(
      owners.map(async (owner) => Promise.all([1, 2, 3].map(() => create(owned(owner, blocking))))),
    );
    const policies = ['Background', 'Foreground', 'Orphan'];
    await Promise.all(owners.map((owner, index) => remove(owner, policies[index % 3] ?? '')));
    for (const owner of owners) await gone(owner);
    for (const [index, ones] of children.entries()) {
      for (const child of ones) {
        if (index % 3 < 2) await gone(child);
        else expect(await now(child)).not.toHaveProperty('ownerReferences');
      }
    }
  });
});

async function settledConfigMaps(): Promise<void> {
  const absent = { apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'none' };
  await gone(await create({ ownerReferences: [absent] }));
}
