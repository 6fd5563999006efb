// The cacher and etcd tell the same story: random writes, then every revision read and watched both
// ways.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parseLabelRequirements } from '../api/selector.ts';
import { EtcdCluster } from '../storage-etcd/testing/etcd-process.ts';
import type { Cache } from './cache.ts';
import type { Item, ItemKey, ResourceView, Selection } from './resource-view.ts';
import type { WatchCursor, WatchEvent } from './resource-view.ts';
import { CacheFixture, paths, shown, widgets } from './testing/cache-fixture.ts';
import { describeEvent } from './testing/cache-fixture.ts';
import { removable, removableNarrow, removableSized } from './testing/records.ts';

let cluster: EtcdCluster;
let fixture: CacheFixture;
const { signal } = new AbortController();

beforeAll(async () => {
  cluster = await EtcdCluster.start();
  fixture = new CacheFixture(cluster);
});
afterAll(async () => {
  await fixture.close();
  await cluster.stop();
});

const seed = Number(process.env['CACHER_SEED'] ?? Date.now() % 100_000);
let state = seed;
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

const isRed = {
  labels: (labels: Readonly<Record<string, string>>) => labels['color'] === 'red',
  labelTerms: parseLabelRequirements('color=red'),
};

const selections: Record<string, Selection> = {
  everything: {},
  namespace: { namespace: 'a' },
  name: { name: 'w1' },
  object: { namespace: 'a-b', name: 'w2' },
  node: { fields: [{ path: 'spec.nodeName', operator: '=', value: 'n1' }] },
  otherNodes: { fields: [{ path: 'spec.nodeName', operator: '!=', value: 'n1' }] },
  red: isRed,
  redInNamespace: { namespace: 'a', ...isRed },
  redUnknown: { labels: isRed.labels },
  colored: {
    labels: (labels) => labels['color'] !== undefined,
    labelTerms: parseLabelRequirements('color in (red, blue)'),
  },
  redOnNode: {
    namespace: 'a',
    ...isRed,
    fields: [{ path: 'spec.nodeName', operator: '=', value: 'n0' }],
  },
};

/** Applies events to a state as an informer does. */
function replay(known: Map<string, number>, events: readonly WatchEvent[]): void {
  for (const event of events) {
    const [type = '', rest = ''] = describeEvent(event).split(' ');
    const [path = '', revision = ''] = rest.split('@');
    if (type === 'BOOKMARK' || type === 'END') continue;
    if (type === 'ADDED') expect(known.has(path)).toBe(false);
    else expect(known.has(path)).toBe(true);
    expect(Number(revision)).toBe(event.revision);
    if (type === 'DELETED') known.delete(path);
    else known.set(path, Number(revision));
  }
}

const asShown = (known: ReadonlyMap<string, number>): string[] =>
  [...known]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, revision]) => `${path}@${String(revision)}`);

const records = [removable, removableNarrow, removableSized];
/** Now and then both caches go on under another record. */
function replaceSometimes(caches: readonly Cache[]): void {
  if (random(8) > 0) return;
  const record = records[random(records.length)] ?? removable;
  for (const cache of caches) cache.replace(record);
}

const texts = (items: readonly Item[]): string[] =>
  items.map((item) => Buffer.from(item.json()).toString());

/** The next events; none when the cursor has passed `revision` and found nothing to give. */
async function nextUntil(revision: number, cursor: WatchCursor): Promise<readonly WatchEvent[]> {
  const passed = new AbortController();
  const looking = setInterval(() => {
    if (cursor.position >= revision) passed.abort();
  }, 1);
  try {
    return (await cursor.next(passed.signal)) ?? [];
  } catch (error) {
    if (passed.signal.aborted) return [];
    throw error;
  } finally {
    clearInterval(looking);
  }
}

test(`lists and watches from any revision agree (CACHER_SEED=${String(seed)})`, async () => {
  const resources = [removable];
  const cache = await fixture.started({ resources });
  const other = await fixture.started({ resources, listFromSnapshot: false });
  const caches = [cache, other];
  const view: ResourceView = cache.view(widgets);
  const etcd = other.view(widgets);
  const live = new Map<string, unknown>();
  const revisions: number[] = [];
  for (let step = 0; step < 250; step++) {
    replaceSometimes(caches);
    const namespace = ['a', 'a-b', 'b'][random(3)] ?? '';
    const path = `${namespace}/w${String(random(6))}`;
    if (live.has(path) && random(3) === 0) {
      revisions.push(await fixture.delete(path));
      live.delete(path);
      continue;
    }
    const labels = random(2) === 0 ? { color: 'red' } : { color: 'blue' };
    const nodeName = random(4) === 0 ? undefined : `n${String(random(3))}`;
    const options = nodeName === undefined ? { labels } : { labels, nodeName };
    revisions.push(await fixture.put(path, options));
    live.set(path, options);
  }
  const last = revisions.at(-1) ?? 0;
  await view.list({}, { mode: 'notOlderThan', revision: last }, { limitCount: 0 }, signal);

  for (const select of Object.values(selections)) {
    for (let turn = 0; turn < 12; turn++) {
      const revision = revisions[random(revisions.length)] ?? 0;
      const at = { mode: 'exact', revision } as const;
      replaceSometimes(caches);
      const fromMemory = await view.list(select, at, { limitCount: 0 }, signal);
      const fromEtcd = await etcd.list(select, at, { limitCount: 0 }, signal);
      expect(shown(fromMemory.items)).toEqual(shown(fromEtcd.items));
      expect(texts(fromMemory.items)).toEqual(texts(fromEtcd.items));

      // List at a revision, watch from it, end at the newest state.
      const known = new Map(
        fromMemory.items.map((item) => [`${item.namespace}/${item.name}`, item.revision]),
      );
      let reached = revision;
      while (reached < last) {
        const start = { from: 'revision', revision: reached } as const;
        const cursor = await view.watch(select, start, { bookmarks: false }, signal);
        replaceSometimes(caches);
        while (cursor.position < last && cursor.replaced === undefined) {
          replay(known, await nextUntil(last, cursor));
          replaceSometimes(caches);
        }
        reached = cursor.position;
        cursor.close();
      }
      const now = await etcd.list(select, { mode: 'latest' }, { limitCount: 0 }, signal);
      expect(asShown(known)).toEqual(shown(now.items));
    }
  }
});

/** Characters at the borders of every length in UTF-8, and where UTF-16 has another order. */
const characters = ['!', '-', '0', 'z', '~', '\u00e9', '\u07ff', '\u0800', '\ud7ff', '\ue000'];
characters.push('\uff5e', '\ufffd', '\uffff', '\u{10000}', '\u{1f600}', '\u{10fffd}', '\u{10ffff}');
const name = (): string =>
  Array.from({ length: 1 + random(3) }, () => characters[random(characters.length)]).join('');

test(`any names have one order (CACHER_SEED=${String(seed)})`, async () => {
  const memory = (await fixture.started()).view(widgets);
  const etcd = (await fixture.started({ listFromSnapshot: false })).view(widgets);
  const names = new Set(Array.from({ length: 150 }, name));
  let revision = 0;
  for (const one of names) revision = await fixture.put(`unicode/${one}`, { nodeName: 'borders' });
  const at = { mode: 'exact', revision } as const;
  const fields = [{ path: 'spec.nodeName', operator: '=', value: 'borders' }] as const;
  for (const select of [{ namespace: 'unicode' }, { fields }]) {
    const fromEtcd = await etcd.list(select, at, { limitCount: 0 }, signal);
    const order = paths(fromEtcd.items);
    expect(order).toHaveLength(names.size);
    for (const mode of [at, { mode: 'latest' } as const]) {
      const fromMemory = await memory.list(select, mode, { limitCount: 0 }, signal);
      expect(paths(fromMemory.items)).toEqual(order);
    }
    // Pages of one that come from memory and from etcd by turns.
    const paged: string[] = [];
    let after: ItemKey | undefined;
    do {
      const view = paged.length % 2 === 0 ? memory : etcd;
      const mode = paged.length % 3 === 0 ? ({ mode: 'latest' } as const) : at;
      const page = { limitCount: 1, ...(after === undefined ? {} : { after }) };
      const [item] = (await view.list(select, mode, page, signal)).items;
      after = item;
      if (item !== undefined) paged.push(`unicode/${item.name}`);
    } while (after !== undefined && paged.length <= order.length);
    expect(paged).toEqual(order);
  }
  for (const one of names) {
    const key = { namespace: 'unicode', name: one };
    for (const view of [memory, etcd]) expect((await view.get(key, at, signal))?.name).toBe(one);
    expect(memory.peek(key)?.name).toBe(one);
  }
});
