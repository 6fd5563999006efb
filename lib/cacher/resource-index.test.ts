import { describe, expect, test } from '@jest/globals';
import type { CachedItem } from './item.ts';
import { ResourceIndex } from './resource-index.ts';
import type { ItemOrder, PathRange } from './resource-index.ts';

/** The index looks at nothing but the path. */
const item = (path: string, mark = 0): CachedItem =>
  ({ path, sortKey: path, mark }) as unknown as CachedItem;
const everything: PathRange = { start: '', isAfter: false, end: undefined };

function walked(order: ItemOrder, range: PathRange = everything): string[] {
  const seen: string[] = [];
  order.walk(range, ({ path }) => {
    seen.push(path);
    return true;
  });
  return seen;
}

/** Small, repeatable, printed with the failure. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('the index', () => {
  test.each([1, 2, 3])('agrees with a sorted map under random changes (seed %i)', (seed) => {
    const next = random(seed);
    const index = new ResourceIndex();
    const model = new Map<string, CachedItem>();
    const snapshots: { readonly order: ItemOrder; readonly paths: string[] }[] = [];
    for (let step = 0; step < 6_000; step++) {
      const path = `${String(Math.floor(next() * 8))}/${String(Math.floor(next() * 400))}`;
      if (next() < 0.6) {
        const added = item(path, step);
        expect(index.set(added)).toBe(model.get(path));
        model.set(path, added);
      } else {
        expect(index.delete(path)).toBe(model.get(path));
        model.delete(path);
      }
      if (step % 500 === 0) {
        snapshots.push({ order: index.snapshot(), paths: [...model.keys()].sort() });
      }
    }
    const sorted = [...model.keys()].sort();
    expect(walked(index)).toEqual(sorted);
    expect(index.size).toBe(sorted.length);
    for (const path of sorted) expect(index.get(path)).toBe(model.get(path));
    for (const { order, paths } of snapshots) expect(walked(order)).toEqual(paths);
    for (let step = 0; step < 200; step++) {
      const [start = '', end = ''] = [next(), next()]
        .map((n) => String(n * 8).replace('.', '/'))
        .sort();
      const range = {
        start: next() < 0.5 ? (sorted[step] ?? '') : start,
        isAfter: next() < 0.5,
        end,
      };
      const expected = sorted.filter(
        (path) => (range.isAfter ? path > range.start : path >= range.start) && path < end,
      );
      expect(walked(index, range)).toEqual(expected);
      if (range.start <= end) expect(index.count(range)).toBe(expected.length);
    }
  });

  test('ordered keys fill chunks; a snapshot is the same until the next write', () => {
    const index = new ResourceIndex();
    for (let i = 0; i < 2_000; i++) index.set(item(String(10_000 + i)));
    const first = index.snapshot();
    expect(index.snapshot()).toBe(first);
    index.delete('10500');
    expect(index.snapshot()).not.toBe(first);
    expect(first.size).toBe(2_000);
    expect(first.get('10500')).toBeDefined();
    expect(index.get('10500')).toBeUndefined();
  });

  test('a fork changes without being seen by the index or its snapshots', () => {
    const index = new ResourceIndex();
    for (const path of ['a', 'b', 'c']) index.set(item(path));
    const snapshot = index.snapshot();
    const fork = index.fork();
    fork.delete('b');
    index.set(item('d'));
    expect(walked(fork)).toEqual(['a', 'c']);
    expect(walked(index)).toEqual(['a', 'b', 'c', 'd']);
    expect(walked(snapshot)).toEqual(['a', 'b', 'c']);
  });
});
