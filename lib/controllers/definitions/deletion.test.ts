// Definitions that end: their objects first, whatever holds them, by any number of controllers.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AdmissionPlugin } from '../../admission/plugin.ts';
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { systemClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { createLogger } from '../../base/log.ts';
import { forbidden } from '../../base/status.ts';
import { serverUser } from '../../base/user.ts';
import { internalClient } from '../../registry/internal-client.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import { keyspace, RegistryOnEtcd } from '../../registry/testing/registry-on-etcd.ts';
import { failure, objectOf, scope } from '../../registry/testing/verb-driver.ts';
import { until } from '../testing/collector.ts';
import { customStores } from '../testing/custom-store.ts';
import {
  conditionsIn,
  definition,
  definitionReplica,
  untilDefinition,
} from '../testing/definition-replica.ts';
import type { DefinitionReplica } from '../testing/definition-replica.ts';
import { during, runController } from '../testing/run-controller.ts';
import { DefinitionDeletion } from './deletion.ts';

const finalizer = 'customresourcecleanup.apiextensions.svc.io';
let registry: RegistryOnEtcd;
let one: DefinitionReplica;
let stop: () => Promise<void>;
/** Names of objects whose deletion is refused. */
const kept = new Set<string>();
/** In the order in which their deletion was asked for. */
const asked: string[] = [];
const stores = new Map<string, ResourceStore>();

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  one = await definitionReplica(registry);
  stop = one.accept();
});

afterAll(async () => {
  await stop();
  await registry.stop();
});

const keeper: AdmissionPlugin = {
  name: 'Keeper',
  sideEffects: false,
  handles: ({ operation }) => operation === 'DELETE',
  validate({ resource, namespace, name }) {
    asked.push(`${namespace}/${name}`);
    if (kept.has(name)) throw forbidden(resource, name, 'it is kept');
  },
};

const deletion = ({ clock = systemClock }: { readonly clock?: Clock } = {}): DefinitionDeletion =>
  new DefinitionDeletion({
    definitions: one.definitions,
    storeOf: (name) => stores.get(name),
    storage: one.replica.storage,
    keyspace,
    naming: one.replica.naming,
    client: internalClient(serverUser),
    clock,
    log: createLogger('error'),
  });

/** An established definition and its store. */
async function served(plural: string, group = 'example.com'): Promise<ResourceStore> {
  const name = `${plural}.${group}`;
  await one.verbs.create(one.definitions, definition({ plural, kind: plural }, { group }));
  await untilDefinition(one, name, (object) =>
    has(object, 'Established True InitialNamesAccepted'),
  );
  let store = stores.get(name);
  if (store === undefined) {
    [store] = customStores(one.replica, { group, plural, kind: plural, plugins: [keeper] });
    if (store === undefined) throw new Error('a kind has a store');
    stores.set(name, store);
  }
  return store;
}

const has = (object: JsonObject | undefined, condition: string): boolean =>
  object !== undefined && conditionsIn(object).includes(condition);

const countOf = async (store: ResourceStore): Promise<number> => {
  const prefix = keyspace.resourcePrefix(store.resource.storagePrefix);
  const { items } = await one.replica.storage.list({ prefix, limitCount: 0 }, scope().signal);
  return items.length;
};

/** Keeps the definition when all is done, to be looked at. */
async function hold(name: string): Promise<void> {
  const metadata = { finalizers: ['example.com/hold'] };
  await one.verbs.patch(one.definitions, name, { metadata });
}

/** Until its objects are gone, as it says; then lets it go. */
async function untilEnded(name: string): Promise<void> {
  const isEnded = (object: JsonObject | undefined): boolean =>
    object !== undefined && conditionsIn(object).some((one) => one.startsWith('Terminating False'));
  await untilDefinition(one, name, isEnded);
  await one.verbs.patch(one.definitions, name, { metadata: { finalizers: null } });
  await untilDefinition(one, name, isGone);
}

const isGone = (object: JsonObject | undefined): boolean => object === undefined;

/** What watchers see of the condition, until the definition is gone. */
async function statesOf(name: string, work: () => Promise<unknown>): Promise<string[]> {
  const signal = AbortSignal.timeout(30_000);
  const start = { from: 'state', at: { mode: 'latest' }, bookmark: false } as const;
  const cursor = await one.definitions.view.watch({ name }, start, { bookmarks: false }, signal);
  const states: string[] = [];
  try {
    await work();
    for (let isThere = true; isThere;) {
      for (const { type, item } of (await cursor.next(signal)) ?? []) {
        const conditions = recordsAt(recordAt(item?.object(), 'status'), 'conditions');
        const one = conditions.find((condition) => textAt(condition, 'type') === 'Terminating');
        const text = `${textAt(one, 'status')} ${textAt(one, 'reason')} ${textAt(one, 'message')}`;
        if (one !== undefined && states.at(-1) !== text) states.push(text);
        if (type === 'DELETED') isThere = false;
      }
    }
  } finally {
    cursor.close();
  }
  return states;
}

const pending =
  'True InstanceDeletionPending ' +
  'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon';
const inProgress = 'True InstanceDeletionInProgress CustomResource deletion is in progress';

describe('a DELETE', () => {
  test('adds time, finalizer and condition in one write, whatever the policy', async () => {
    await served('news');
    const name = 'news.example.com';
    const wrong = one.verbs.remove(one.definitions, name, {
      body: { preconditions: { uid: 'x' } },
    });
    expect((await failure(wrong)).code).toBe(409);
    const query = 'propagationPolicy=Orphan';
    const ending = await objectOf(one.verbs.remove(one.definitions, name, { query }));
    expect(ending.metadata).toMatchObject({ finalizers: [finalizer], generation: 1 });
    expect(ending.metadata).not.toHaveProperty('deletionGracePeriodSeconds');
    const { deletionTimestamp } = ending.metadata;
    expect(recordAt(ending as unknown as JsonObject, 'status')?.['conditions']).toContainEqual({
      type: 'Terminating',
      status: 'True',
      lastTransitionTime: deletionTimestamp,
      reason: 'InstanceDeletionPending',
      message:
        'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    });
    expect(await objectOf(one.verbs.remove(one.definitions, name))).toEqual(ending);
    // Of a second one, too, the precondition counts.
    const again = one.verbs.remove(one.definitions, name, {
      body: { preconditions: { uid: 'x' } },
    });
    expect((await failure(again)).code).toBe(409);
    await during(deletion(), () => untilDefinition(one, name, isGone));
  });
});

describe('the objects of a definition', () => {
  test('are deleted namespace by namespace, as anybody would; then it goes', async () => {
    const store = await served('widgets');
    for (const namespace of ['b', 'a']) {
      for (const name of ['y', 'x']) {
        await one.verbs.create(store, { metadata: { name } }, '', namespace);
      }
    }
    asked.length = 0;
    const states = await statesOf('widgets.example.com', async () => {
      await hold('widgets.example.com');
      await one.verbs.remove(one.definitions, 'widgets.example.com');
      await during(deletion(), () => untilEnded('widgets.example.com'));
    });
    expect(states).toEqual([
      pending,
      inProgress,
      'False InstanceDeletionCompleted removed all instances',
    ]);
    expect(asked).toEqual(['a/x', 'a/y', 'b/x', 'b/y']);
    expect(await countOf(store)).toBe(0);
    // Made again, it is empty.
    await served('widgets');
    expect((await one.verbs.list(store, '', 'a')).items).toEqual([]);
  });

  test('hold it by their finalizers, and let it go with the last one', async () => {
    const store = await served('helds');
    const finalizers = ['example.com/hold'];
    await one.verbs.create(store, { metadata: { name: 'x', finalizers } });
    await one.verbs.create(store, { metadata: { name: 'y' } });
    await during(deletion(), async () => {
      await one.verbs.remove(one.definitions, 'helds.example.com');
      await until(async () => (await countOf(store)) === 1);
      await until(async () => {
        const held = await one.verbs.get(store, 'x');
        return held.metadata.deletionTimestamp !== undefined;
      });
      const state = (await one.verbs.get(one.definitions, 'helds.example.com')) as unknown;
      const isWaiting = has(state as JsonObject, 'Terminating True InstanceDeletionInProgress');
      expect(isWaiting).toBe(true);
      await one.verbs.patch(store, 'x', { metadata: { finalizers: null } });
      await untilDefinition(one, 'helds.example.com', isGone);
    });
  });

  test('that cannot be deleted keep it, and it says why; others are deleted', async () => {
    const store = await served('refuseds');
    for (const name of ['a', 'b', 'c']) await one.verbs.create(store, { metadata: { name } });
    kept.add('a').add('b');
    const name = 'refuseds.example.com';
    const states = await statesOf(name, async () => {
      await hold(name);
      await one.verbs.remove(one.definitions, name);
      await during(deletion(), async () => {
        const reason = 'Terminating True InstanceDeletionFailed';
        await untilDefinition(one, name, (object) => has(object, reason));
        expect(await countOf(store)).toBe(2);
        kept.clear();
        await untilEnded(name);
      });
    });
    const text = (object: string): string =>
      `refuseds.example.com "${object}" is forbidden: it is kept`;
    expect(states).toContain(
      'True InstanceDeletionFailed could not issue all deletes: ' + `[${text('a')}, ${text('b')}]`,
    );
    expect(states.at(-1)).toBe('False InstanceDeletionCompleted removed all instances');
  });

  test('that cannot be reached keep it until they can be', async () => {
    const store = await served('lonelies');
    const name = 'lonelies.example.com';
    await one.verbs.create(store, { metadata: { name: 'x' } });
    stores.delete(name);
    await one.verbs.remove(one.definitions, name);
    await during(deletion(), async () => {
      const reason = 'Terminating True InstanceDeletionFailed';
      await untilDefinition(one, name, (object) => has(object, reason));
      stores.set(name, store);
      await untilDefinition(one, name, isGone);
    });
    expect(await countOf(store)).toBe(0);
  });

  test('that stay for a minute are told in the condition', async () => {
    const store = await served('longs');
    const name = 'longs.example.com';
    await one.verbs.create(store, { metadata: { name: 'x', finalizers: ['example.com/hold'] } });
    await hold(name);
    await one.verbs.remove(one.definitions, name);
    const nowMs = (): number => Date.now() + limits.instancesGoneWaitMs;
    const states = await statesOf(name, () =>
      during(deletion({ clock: { ...systemClock, nowMs } }), async () => {
        const reason = 'Terminating True InstanceDeletionCheck';
        await untilDefinition(one, name, (object) => has(object, reason));
        await one.verbs.patch(store, 'x', { metadata: { finalizers: null } });
        await untilEnded(name);
      }),
    );
    expect(states).toEqual([
      pending,
      inProgress,
      'True InstanceDeletionCheck could not confirm zero CustomResources remaining: ' +
        'timed out waiting for the condition',
      'False InstanceDeletionCompleted removed all instances',
    ]);
  });

  test('are deleted in several pages, and by several controllers at once', async () => {
    const store = await served('manies');
    const names = Array.from({ length: 1_100 }, (_, at) => `x${String(at)}`);
    const { storage } = one.replica;
    await Promise.all(
      names.map((name) => {
        const object = {
          apiVersion: 'example.com/v1',
          kind: 'manies',
          metadata: { name, namespace: 'ns', uid: name },
        };
        const key = keyspace.key('example.com/manies', 'ns', name);
        const value = Buffer.from(JSON.stringify(object));
        return storage.put(key, value, { expected: 0 }, scope().signal);
      }),
    );
    const name = 'manies.example.com';
    await one.verbs.remove(one.definitions, name);
    await during(deletion(), () => during(deletion(), () => untilDefinition(one, name, isGone)));
    expect(await countOf(store)).toBe(0);
  });

  test('are deleted by whoever leads next, where the leader stopped half-way', async () => {
    const store = await served('lefts');
    const name = 'lefts.example.com';
    const finalizers = ['example.com/hold'];
    for (const one_ of ['a', 'b', 'c', 'd']) {
      await one.verbs.create(store, { metadata: { name: one_ } });
    }
    await one.verbs.create(store, { metadata: { name: 'x', finalizers } });
    kept.add('c');
    await one.verbs.remove(one.definitions, name);
    const leave = runController(deletion());
    await until(async () => (await countOf(store)) === 2);
    await leave();
    kept.clear();
    await one.verbs.patch(store, 'x', { metadata: { finalizers: null } });
    expect(await countOf(store)).toBeGreaterThan(0);
    await during(deletion(), () => untilDefinition(one, name, isGone));
    expect(await countOf(store)).toBe(0);
  });
});

describe('a definition', () => {
  test('that was never established goes at once, and says so', async () => {
    const conflict = definition({ plural: 'nevers', kind: 'Never' }, { group: 'never.com' });
    const first = definition({ plural: 'firsts', kind: 'Never' }, { group: 'never.com' });
    await one.verbs.create(one.definitions, first);
    await untilDefinition(one, 'firsts.never.com', (object) => has(object, accepted));
    await one.verbs.create(one.definitions, conflict);
    const name = 'nevers.never.com';
    const reason = 'Established False NotAccepted';
    await untilDefinition(one, name, (object) => has(object, reason));
    const states = await statesOf(name, async () => {
      await hold(name);
      await one.verbs.remove(one.definitions, name);
      await during(deletion(), () => untilEnded(name));
    });
    expect(states).toEqual([
      pending,
      inProgress,
      'False NeverEstablished resource was never established',
    ]);
  });

  test.each([
    ['customresourcedefinitions', 'apiextensions.svc.io'],
    ['apiservices', 'apiregistration.svc.io'],
  ])('whose objects would be %s of the server leaves them alone', async (plural, group) => {
    const name = `${plural}.${group}`;
    const annotations = { 'api-approved.svc.io': 'unapproved' };
    await one.verbs.create(
      one.definitions,
      definition({ plural, kind: 'Other', singular: 'other' }, { group }, { annotations }),
    );
    await untilDefinition(one, name, (object) => has(object, accepted));
    const before = (await one.verbs.list(one.definitions)).items.length;
    const states = await statesOf(name, async () => {
      await hold(name);
      await one.verbs.remove(one.definitions, name);
      await during(deletion(), () => untilEnded(name));
    });
    expect(states.at(-1)).toBe(
      'False OverlappingBuiltInResource instances overlap with built-in resources in storage',
    );
    expect((await one.verbs.list(one.definitions)).items.length).toBe(before - 1);
  });

  test('that somebody else holds, too, stays and says that its objects are gone', async () => {
    await served('others');
    const name = 'others.example.com';
    await hold(name);
    await one.verbs.remove(one.definitions, name);
    await during(deletion(), async () => {
      const reason = 'Terminating False InstanceDeletionCompleted';
      const state = await untilDefinition(one, name, (object) => has(object, reason));
      expect(recordAt(state, 'metadata')?.['finalizers']).toEqual(['example.com/hold']);
      await untilEnded(name);
    });
  });
});

const accepted = 'NamesAccepted True NoConflicts';
