// The cacher and etcd tell the same story: random writes, then every revision read and watched both
// ways.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { EtcdCluster } from '../storage-etcd/testing/etcd-process.ts';
import type { ResourceView, Selection, WatchCursor, WatchEvent } from './resource-view.ts';
import { CacheFixture, shown, widgets } from './testing/cache-fixture.ts';
import { describeEvent } from './testing/cache-fixture.ts';

let cluster: EtcdCluster;
let fixture: CacheFixture;
const { signal } = new AbortController();

beforeAll(async () => {
  cluster = await EtcdCluster.start();
  fixture = new CacheFixture(cluster);
}, 120_000);
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

const selections: Record<string, Selection> = {
  everything: {},
  namespace: { namespace: 'a' },
  name: { name: 'w1' },
  object: { namespace: 'a-b', name: 'w2' },
  node: { fields: [{ path: 'spec.nodeName', operator: '=', value: 'n1' }] },
  otherNodes: { fields: [{ path: 'spec.nodeName', operator: '!=', value: 'n1' }] },
  red: { labels: (labels) => labels['color'] === 'red' },
  redOnNode: {
    namespace: 'a',
    labels: (labels) => labels['color'] === 'red',
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
  const view: ResourceView = (await fixture.started()).view(widgets);
  const etcd = (await fixture.started({ listFromSnapshot: false })).view(widgets);
  const live = new Map<string, unknown>();
  const revisions: number[] = [];
  for (let step = 0; step < 250; step++) {
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
      const fromMemory = await view.list(select, at, { limitCount: 0 }, signal);
      const fromEtcd = await etcd.list(select, at, { limitCount: 0 }, signal);
      expect(shown(fromMemory.items)).toEqual(shown(fromEtcd.items));

      // List at a revision, watch from it, end at the newest state.
      const known = new Map(
        fromMemory.items.map((item) => [`${item.namespace}/${item.name}`, item.revision]),
      );
      const start = { from: 'revision', revision } as const;
      const cursor = await view.watch(select, start, { bookmarks: false }, signal);
      while (cursor.position < last) replay(known, await nextUntil(last, cursor));
      cursor.close();
      const now = await etcd.list(select, { mode: 'latest' }, { limitCount: 0 }, signal);
      expect(asShown(known)).toEqual(shown(now.items));
    }
  }
}, 60_000);
