import { beforeEach, describe, expect, test } from '@jest/globals';
import { namingProfile } from '../../api/vendor.ts';
import { systemClock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import { nextTurn } from '../../base/turn.ts';
import type { Item } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { builtInScheme } from '../../kinds/built-in-kinds.ts';
import { objectItem } from '../../registry/converted-item.ts';
import { internalClient } from '../../registry/internal-client.ts';
import { ResourceMapHolder } from '../../registry/resource-map.ts';
import { virtualStore } from '../../registry/virtual-store.ts';
import { controllerUser } from '../controller-user.ts';
import type { FollowedResource } from '../followed-resources.ts';
import { Collection } from './collection.ts';

const naming = namingProfile('svc');
const found = builtInScheme({ profile: naming }).resource({
  group: '',
  version: 'v1',
  resource: 'configmaps',
});
if (found === undefined) throw new Error('ConfigMaps are served');
const configMaps = found;
const { view } = virtualStore(configMaps, {});

let collection: Collection;
let source: FollowedResource;

beforeEach(() => {
  const options = {
    resources: new ResourceMapHolder(),
    naming,
    client: internalClient(controllerUser(naming, 'generic-garbage-collector')),
    clock: systemClock,
    log: createLogger('error'),
  };
  collection = new Collection('garbage-collector', options, new AbortController().signal);
  source = { view, namespaced: true, stores: [], round: 1 };
});

function item(name: string, metadata: NonNullable<ApiObject['metadata']> = {}): Item {
  const object = { kind: 'ConfigMap', apiVersion: 'v1' };
  const whole = { name, namespace: 'n', uid: `uid-${name}`, resourceVersion: '7', ...metadata };
  return objectItem({ ...object, metadata: whole }, configMaps, 7);
}

const ownedBy = (...names: readonly string[]): NonNullable<ApiObject['metadata']> => ({
  ownerReferences: names.map((name) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name,
    uid: `uid-${name}`,
  })),
});

/** Walks over the graph are short here. */
const walked = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
};

describe('the graph', () => {
  test('holds nothing of objects that own nothing and are not owned, or have no uid', () => {
    for (let index = 0; index < 100; index++) collection.present(source, item(`o${String(index)}`));
    for (const name of ['a', 'b']) {
      collection.present(source, item(name, { ...ownedBy('a'), uid: '' }));
    }
    expect(collection.size).toBe(0);
  });

  test('holds owners and owned, and those that wait, until they are gone', () => {
    collection.present(source, item('b', ownedBy('a')));
    collection.present(source, item('a'));
    expect(collection.size).toBe(2);
    const waiting = { finalizers: ['orphan'], deletionTimestamp: '2024-01-01T00:00:00Z' };
    collection.present(source, item('c', waiting));
    expect(collection.size).toBe(3);
    collection.absent(source, item('c', waiting));
    collection.absent(source, item('a'));
    expect(collection.size).toBe(2);
    collection.absent(source, item('b', ownedBy('a')));
    expect(collection.size).toBe(0);
  });

  test('forgets owners that are named no more', () => {
    collection.present(source, item('b', ownedBy('a', 'c')));
    collection.present(source, item('b', ownedBy('c')));
    expect(collection.size).toBe(2);
    collection.present(source, item('b'));
    expect(collection.size).toBe(0);
  });

  test('loses what is not told again when the state is told again', async () => {
    for (const name of ['b', 'c']) collection.present(source, item(name, ownedBy('a')));
    source.round += 1;
    collection.present(source, item('b', ownedBy('a')));
    collection.settled(source);
    await walked();
    expect(collection.size).toBe(2);
    source.round += 1;
    collection.settled(source);
    await walked();
    expect(collection.size).toBe(0);
  });

  test('keeps what is known of an object that cannot be read, until it is gone', async () => {
    collection.present(source, item('b', ownedBy('a')));
    const unreadable = { ...item('b'), namespace: 'n', name: 'b', corrupted: true };
    collection.present(source, unreadable);
    expect(collection.size).toBe(2);
    collection.absent(source, unreadable);
    await walked();
    expect(collection.size).toBe(0);
  });
});
