import { describe, expect, test } from '@jest/globals';
import { widgetResource } from '../codec/testing/sample-types.ts';
import { ResourceMapHolder } from './resource-map.ts';
import type { ResourceStore } from './resource-store.ts';

/** Only the record of a store matters to the map. */
function storeNamed(resource: string, version = 'v1'): ResourceStore {
  return { resource: { ...widgetResource, resource, version } } as unknown as ResourceStore;
}
const of = (resource: string, version = 'v1') => ({ group: 'example.com', version, resource });

describe('resources by owner', () => {
  test('a set replaces what the owner had, and nothing else', () => {
    const holder = new ResourceMapHolder();
    const [a, b, other] = [storeNamed('a'), storeNamed('b'), storeNamed('other')];
    holder.set('one', [a, b]);
    holder.set('two', [other]);
    const next = storeNamed('a');
    holder.set('one', [next]);
    const { current } = holder;
    expect(current.find(of('a'))).toBe(next);
    expect(current.find(of('b'))).toBeUndefined();
    expect(current.find(of('other'))).toBe(other);
    expect(new Set(current.all)).toEqual(new Set([next, other]));
    holder.set('one', []);
    expect(current.all).toEqual([other]);
  });

  test('what another owner serves stays with it', () => {
    const holder = new ResourceMapHolder();
    const [first, second] = [storeNamed('a'), storeNamed('a')];
    holder.set('built-in', [first]);
    holder.set('definition', [second, storeNamed('a', 'v2')]);
    expect(holder.current.find(of('a'))).toBe(first);
    holder.set('definition', []);
    expect(holder.current.find(of('a'))).toBe(first);
    expect(holder.current.find(of('a', 'v2'))).toBeUndefined();
  });

  test('a group version has stores or a proxy, whichever came first', () => {
    const holder = new ResourceMapHolder();
    const proxy = {
      group: 'example.com',
      version: 'v1',
      proxy: { serve: () => Promise.resolve() },
    };
    holder.set('stores', [storeNamed('a'), storeNamed('b')]);
    holder.set('proxy', [proxy, { ...proxy, version: 'v2' }]);
    expect(holder.findProxy(of('a'))).toBeUndefined();
    expect(holder.findProxy(of('a', 'v2'))).toEqual({ ...proxy, version: 'v2' });
    holder.set('more', [storeNamed('c', 'v2'), storeNamed('c', 'v3')]);
    expect(holder.find(of('c', 'v2'))).toBeUndefined();
    holder.set('stores', [storeNamed('a')]);
    holder.set('proxy', [proxy]);
    expect(holder.proxies).toEqual([]);
    holder.set('stores', []);
    const before = holder.version;
    holder.set('proxy', [proxy]);
    expect([holder.findProxy(of('a')), holder.version > before]).toEqual([proxy, true]);
    expect(holder.all.map(({ resource }) => resource.version)).toEqual(['v3']);
    holder.set('proxy', []);
    expect(holder.findProxy(of('a'))).toBeUndefined();
  });

  test('a list that was taken stays as it was', () => {
    const holder = new ResourceMapHolder();
    holder.set('one', [storeNamed('a')]);
    const { all, version } = holder.current;
    expect(holder.current.all).toBe(all);
    holder.set('two', [storeNamed('b')]);
    expect(all.length).toBe(1);
    expect(holder.current.all.length).toBe(2);
    expect(holder.current.version).not.toBe(version);
  });

  test('a change among 2,000 owners looks at its own stores only', () => {
    let looks = 0;
    const counted = (resource: string): ResourceStore =>
      ({
        get resource() {
          looks += 1;
          return { ...widgetResource, resource };
        },
      }) as unknown as ResourceStore;
    const holder = new ResourceMapHolder();
    for (let i = 0; i < 2_000; i += 1) {
      holder.set(`owner ${String(i)}`, [counted(`a${String(i)}`), counted(`b${String(i)}`)]);
    }
    expect(looks).toBe(4_000);
    looks = 0;
    holder.set('owner 1000', [counted('a1000'), counted('c')]);
    expect(holder.current.find(of('c'))).toBeDefined();
    expect(looks).toBe(4); // two that go and two that come
    expect(holder.current.all.length).toBe(4_000);
    expect(looks).toBe(4);
  });
});
