import { expect, test } from '@jest/globals';
import { labelPredicate, parseLabelRequirements } from '../api/selector.ts';
import { limits } from '../base/limits.ts';
import { nextTurn } from '../base/turn.ts';
import { encodeStored } from '../codec/stored-form.ts';
import { itemsByLabel } from './indexed-search.ts';
import { MemoryBudget } from './memory-budget.ts';
import { PageBuilder } from './page-builder.ts';
import type { ResourceCache } from './resource-cache.ts';
import type { Item, ItemKey, Selection } from './resource-view.ts';
import { rangeOf } from './select.ts';
import { widget, widgets } from './testing/cache-fixture.ts';
import { itemSource, resourceCacheAt } from './testing/item-source.ts';

const seed = Number(process.env['CACHER_SEED'] ?? Date.now() % 100_000);

function randomFrom(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const selecting = (text: string, namespace?: string): Selection => {
  const labelTerms = parseLabelRequirements(text);
  const labels = labelPredicate(labelTerms);
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels, labelTerms }),
  };
};

interface Listed {
  readonly items: readonly Item[];
  readonly isCut: boolean;
  readonly seenCount: number;
}

function list(cache: ResourceCache, select: Selection, limitCount = 0, after?: ItemKey): Listed {
  const built = new PageBuilder(select, { limitCount }, { checksNamespace: false });
  itemsByLabel(cache, select, after).walk(rangeOf(select, after), (item) => built.add(item));
  return { items: built.finish(), isCut: built.isCut, seenCount: built.seenCount };
}

const unnarrowed = ({ labelTerms: _labelTerms, ...rest }: Selection): Selection => rest;

function filled(limitBytes = Infinity) {
  const budget = new MemoryBudget(limitBytes, () => undefined);
  const made = resourceCacheAt(1, { ...itemSource(), budget });
  let revision = 1;
  const put = (path: string, labels: Record<string, string>): void => {
    const { value } = encodeStored(widget(path, { labels }), widgets);
    made.cache.put(path, value, ++revision, 0);
    made.log.advance(revision, 0);
  };
  const remove = (path: string): void => {
    made.cache.delete(path, ++revision, 0);
    made.log.advance(revision, 0);
  };
  return { ...made, budget, put, remove };
}

/** As many as an index is made for, one of each hundred rare. */
function usual(limitBytes = Infinity) {
  const made = filled(limitBytes);
  for (let index = 0; index < 2 * limits.labelIndexItemsMin; index++)
    made.put(`n/w${String(index)}`, { app: index % 100 === 7 ? 'rare' : 'web' });
  return made;
}

async function built(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await nextTurn();
}

const rare = selecting('app=rare');
const rareCount = (2 * limits.labelIndexItemsMin) / 100;

test('a label that is selected by for the third time has an index', async () => {
  const { cache, budget } = usual();
  expect(list(cache, rare).seenCount).toBe(cache.objectCount);
  await built();
  expect(list(cache, rare).seenCount).toBe(cache.objectCount);
  await built();
  expect(list(cache, rare).seenCount).toBe(rareCount);
  expect(cache.labels.keys).toEqual(['app']);
  expect(budget.use().indexBytes).toBeGreaterThan(0);
});

test('few objects are looked through, and what selects most of them is no index', async () => {
  const { cache, put } = filled();
  put('n/one', { app: 'rare' });
  for (let use = 0; use < 5; use++) list(cache, rare);
  expect(cache.labels.keys).toEqual([]);
  const many = usual().cache;
  const web = selecting('app=web');
  for (let use = 0; use < 3; use++) {
    expect(list(many, web).seenCount).toBe(many.objectCount);
    await built();
  }
});

test.each(['!app', 'app!=rare', 'app notin (rare)', 'app>5'])('%s needs no index', async (text) => {
  const { cache } = usual();
  for (let use = 0; use < 5; use++) list(cache, selecting(text));
  await built();
  expect(cache.labels.keys).toEqual([]);
});

test('uses that lie further apart than the idle time are no use again and again', async () => {
  const { cache, budget } = usual();
  for (let use = 0; use < 5; use++) {
    list(cache, rare);
    budget.nowMs += limits.labelIndexIdleMs + 1;
  }
  await built();
  expect(cache.labels.keys).toEqual([]);
});

test('an index that is not used goes, one that is used stays', async () => {
  const { cache, budget } = usual();
  for (let use = 0; use < 2; use++) list(cache, rare);
  await built();
  for (let step = 0; step < 4; step++) {
    budget.nowMs += limits.labelIndexIdleMs / 2;
    list(cache, rare);
    budget.expire(0);
  }
  expect(cache.labels.keys).toEqual(['app']);
  budget.nowMs += limits.labelIndexIdleMs + 1;
  budget.expire(0);
  expect(cache.labels.keys).toEqual([]);
  expect(budget.use().indexBytes).toBe(0);
});

test('an index goes before anything else when the budget is full, and needs room', async () => {
  const { cache, budget, put } = usual(100_000_000);
  for (let use = 0; use < 2; use++) list(cache, rare);
  await built();
  const [item] = list(cache, rare).items;
  item?.encoded('table', () => new Uint8Array(1_000));
  const { stateBytes, memoBytes, logBytes, indexBytes, limitBytes } = budget.use();
  expect(indexBytes).toBeGreaterThan(0);
  budget.addState(limitBytes - stateBytes - memoBytes - logBytes);
  budget.settle();
  expect(cache.labels.keys).toEqual([]);
  expect(budget.use()).toMatchObject({ indexBytes: 0, memoBytes, logBytes, isOver: false });
  for (let use = 0; use < 5; use++) list(cache, rare);
  await built();
  expect(cache.labels.keys).toEqual([]);
  budget.addState(stateBytes - limitBytes);
  put('n/later', { app: 'rare' });
  list(cache, rare);
  await built();
  expect(list(cache, rare).seenCount).toBe(rareCount + 1);
});

test('a resource that is emptied while an index is built has none', async () => {
  const { cache, budget } = usual();
  for (let use = 0; use < 2; use++) list(cache, rare);
  cache.clear();
  await built();
  expect([cache.labels.keys, budget.use().indexBytes]).toEqual([[], 0]);
});

test('no more labels than the limit have an index', async () => {
  const { cache, put } = usual();
  const keys = Array.from({ length: limits.labelIndexesMax + 3 }, (_, at) => `k${String(at)}`);
  put('n/all', Object.fromEntries(keys.map((key) => [key, 'v'])));
  for (const key of keys) for (let use = 0; use < 3; use++) list(cache, selecting(key));
  await built();
  expect(cache.labels.keys).toHaveLength(limits.labelIndexesMax);
});

test(`an index answers as the scan does (CACHER_SEED=${String(seed)})`, async () => {
  const random = randomFrom(seed);
  const pick = (of: readonly string[]): string => of[random(of.length)] ?? '';
  const { cache, put, remove } = filled();
  const keys = ['a', 'b', 'é/x', '__proto__'];
  const values = ['', 'one', 'two', 'three', 'four', 'five'];
  const path = (): string =>
    `${pick(['n', 'n-o', 'o'])}/w${pick(['', '😀', '\uffee'])}${random(400)}`;
  const change = (): void => {
    if (random(5) === 0) {
      remove(path());
      return;
    }
    const labels = Object.fromEntries(
      keys.filter(() => random(2) === 0).map((key) => [key, pick(values)]),
    );
    put(path(), labels);
  };
  const term = (): string => {
    const key = pick(['a', 'b']);
    switch (random(6)) {
      case 0:
        return `${key}=${pick(values)}`;
      case 1:
        return `${key} in (${pick(values)},${pick(values)},${pick(values)})`;
      case 2:
        return key;
      case 3:
        return `!${key}`;
      case 4:
        return `${key}!=${pick(values)}`;
      default:
        return `${key}==${pick(values)}`;
    }
  };
  for (let at = 0; at < 2_000; at++) change();
  let narrowedCount = 0;
  for (let round = 0; round < 300; round++) {
    for (let at = random(5); at > 0; at--) change();
    const text = Array.from({ length: 1 + random(2) }, term).join();
    const select = selecting(text, [undefined, 'n', 'n-o', 'none'][random(4)]);
    let after: ItemKey | undefined;
    const limit = [0, 1, 7][random(3)] ?? 0;
    for (let page = 0; page < 3; page++) {
      const shown = ({ items, isCut }: Listed) => ({
        isCut,
        items: items.map((item) => Buffer.from(item.json()).toString()),
      });
      const narrowed = list(cache, select, limit, after);
      const scanned = list(cache, unnarrowed(select), limit, after);
      expect([text, shown(narrowed)]).toEqual([text, shown(scanned)]);
      if (narrowed.seenCount < scanned.seenCount) narrowedCount++;
      after = narrowed.items.at(-1);
      if (after === undefined || !narrowed.isCut) break;
    }
    if (round % 3 === 0) await nextTurn();
  }
  expect(narrowedCount).toBeGreaterThan(50);
});
