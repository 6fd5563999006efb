import { expect, test } from '@jest/globals';
import { encodeStored } from '../codec/stored-form.ts';
import { FollowedObjects } from './followed-objects.ts';
import type { Item } from './resource-view.ts';
import { widget, widgets } from './testing/cache-fixture.ts';
import { resourceCacheAt } from './testing/item-source.ts';

const item = (name: string, corrupted = false): Item =>
  ({ namespace: 'a', name, ...(corrupted ? { corrupted } : {}) }) as unknown as Item;

function keeping() {
  const held = new Set<string>();
  const objects = new FollowedObjects({
    set: (_item, key) => held.add(key),
    remove: (key) => held.delete(key),
  });
  return { held, objects };
}

test('what does not come again after a restart is removed once the rest has come', () => {
  const { held, objects } = keeping();
  for (const name of ['x', 'y', 'z']) objects.present(item(name));
  objects.synced();
  objects.restarted();
  objects.present(item('x'));
  objects.present(item('new'));
  expect([...held]).toEqual(['a/x', 'a/y', 'a/z', 'a/new']);
  objects.synced();
  expect([...held]).toEqual(['a/x', 'a/new']);
  objects.synced();
  expect(held.size).toBe(2);
});

test('a restart within a restart forgets nothing of what is held', () => {
  const { held, objects } = keeping();
  objects.present(item('x'));
  objects.synced();
  objects.restarted();
  objects.present(item('y'));
  objects.restarted();
  objects.present(item('y'));
  objects.synced();
  expect([...held]).toEqual(['a/y']);
});

test('what is deleted, or cannot be read, is removed at once', () => {
  const { held, objects } = keeping();
  for (const name of ['x', 'y']) objects.present(item(name));
  objects.absent(item('x'));
  objects.present(item('y', true));
  expect(held.size).toBe(0);
  objects.present(item('y'));
  expect([...held]).toEqual(['a/y']);
});

test('it is whole with the first end of the state', async () => {
  const { objects } = keeping();
  let isWhole = false;
  void objects.whole.then(() => (isWhole = true));
  objects.present(item('x'));
  await Promise.resolve();
  expect(isWhole).toBe(false);
  objects.synced();
  await objects.whole;
  expect(isWhole).toBe(true);
});

test('objects are looked at once: nothing decoded is kept of them', () => {
  const { cache, log } = resourceCacheAt(10);
  const names = ['x', 'y'];
  const load = (name: string, revision: number): Item => {
    const { value } = encodeStored(widget(`a/${name}`), widgets);
    cache.put(`a/${name}`, value, revision, 0);
    log.advance(revision, 0);
    const loaded = cache.get(`a/${name}`);
    if (loaded === undefined) throw new Error('it was put');
    return loaded;
  };
  const { budget } = cache.source;
  const seen: unknown[] = [];
  const objects = new FollowedObjects({
    set: (_item, _key, object) => seen.push(object().metadata?.name),
    remove: () => undefined,
  });
  names.forEach((name, index) => objects.present(load(name, 11 + index)));
  expect(budget.use().memoBytes).toBe(0);
  objects.synced();
  objects.present(load('x', 13));
  expect(budget.use().memoBytes).toBe(0);
  expect(seen).toEqual(['x', 'y', 'x']);
});

test('what an item takes the place of is given where it was told', () => {
  const given: (string | undefined)[] = [];
  const objects = new FollowedObjects({
    set: (_item, _key, _object, previous) => given.push(previous?.name),
    remove: () => undefined,
  });
  objects.present(item('x'), item('x'));
  objects.present(item('x'), item('x'));
  objects.absent(item('x'));
  objects.present(item('x'), item('x'));
  expect(given).toEqual([undefined, 'x', undefined]);
});
