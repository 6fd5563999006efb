import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { EtcdCluster } from '../storage-etcd/testing/etcd-process.ts';
import type { Cache, CacheOptions } from './cache.ts';
import type { ResourceView, Selection, WatchCursor, WatchStart } from './resource-view.ts';
import { CacheFixture, describeEvent, gadgets, take, widgets } from './testing/cache-fixture.ts';

let cluster: EtcdCluster;
let fixture: CacheFixture;
let cache: Cache;
let view: ResourceView;
const { signal } = new AbortController();

beforeAll(async () => {
  cluster = await EtcdCluster.start();
});
afterAll(() => cluster.stop());
beforeEach(() => {
  fixture = new CacheFixture(cluster);
});
afterEach(() => fixture.close());

async function open(options: Partial<CacheOptions> = {}): Promise<void> {
  cache = await fixture.started(options);
  view = cache.view(widgets);
}

const watch = (select: Selection, start: WatchStart, bookmarks = false): Promise<WatchCursor> =>
  view.watch(select, start, { bookmarks }, signal);
const after = (revision: number): WatchStart => ({ from: 'revision', revision });

const onNode = (value: string): Selection => ({
  fields: [{ path: 'spec.nodeName', operator: '=', value }],
});
const red: Selection = { labels: (labels) => labels['color'] === 'red' };

describe('a watch from a revision', () => {
  test('gives what came after it, in order, also what came before it was opened', async () => {
    await open();
    const first = await fixture.put('n/a');
    const second = await fixture.put('n/a');
    const gone = await fixture.delete('n/a');
    const cursor = await watch({}, after(first));
    expect(await take(cursor, 2)).toEqual([
      `MODIFIED n/a@${String(second)}`,
      `DELETED n/a@${String(gone)}`,
    ]);
    const again = await fixture.put('n/a');
    expect(await take(cursor, 1)).toEqual([`ADDED n/a@${String(again)}`]);
    expect(cursor.position).toBeGreaterThanOrEqual(again);
  });

  test('a deletion carries the last state with the revision of the deletion', async () => {
    await open();
    const made = await fixture.put('n/a', { nodeName: 'n1', labels: { color: 'red' }, size: 7 });
    const cursor = await watch({}, after(made));
    const gone = await fixture.delete('n/a');
    const [event] = (await cursor.next(signal)) ?? [];
    expect(event).toMatchObject({ type: 'DELETED', revision: gone });
    expect(event?.item?.revision).toBe(gone);
    expect(event?.item?.labels).toEqual({ color: 'red' });
    expect(event?.item?.field('spec.nodeName')).toBe('n1');
    expect(event?.item?.object()).toMatchObject({
      metadata: { name: 'a', resourceVersion: String(gone) },
      spec: { size: 7 },
    });
    expect(Buffer.from(event?.item?.listTail() ?? []).toString()).toMatch(/^"metadata":/);
  });

  test('one that is still to come: earlier changes are not given', async () => {
    await open();
    const now = await fixture.put('n/a');
    const cursor = await watch({}, after(now + 2));
    const pending = take(cursor, 1);
    await fixture.put('n/a');
    await fixture.put('n/a');
    const third = await fixture.put('n/a');
    expect(await pending).toEqual([`MODIFIED n/a@${String(third)}`]);
  });

  test('before the log begins: 410 at once', async () => {
    const old = await fixture.put('n/a');
    await fixture.put('n/a');
    await open();
    await expect(watch({}, after(old))).rejects.toMatchObject({ code: 410, reason: 'Expired' });
  });
});

describe('selections', () => {
  const matrix: [string, Selection, { was: object; is: object }][] = [
    ['labels', red, { was: { labels: { color: 'blue' } }, is: { labels: { color: 'red' } } }],
    ['an indexed field', onNode('n1'), { was: { nodeName: 'n2' }, is: { nodeName: 'n1' } }],
    [
      'a field in a namespace',
      { ...onNode('n1'), namespace: 'n' },
      { was: {}, is: { nodeName: 'n1' } },
    ],
    [
      'an unequal field',
      { fields: [{ path: 'spec.nodeName', operator: '!=', value: 'n2' }] },
      { was: { nodeName: 'n2' }, is: { nodeName: 'n1' } },
    ],
  ];
  test.each(matrix)(
    '%s: entering is ADDED, leaving DELETED with the last selected state',
    async (_claim, select, { was, is }) => {
      await open();
      const start = await fixture.putElsewhere();
      const cursor = await watch(select, after(start));
      await fixture.put('n/a', was);
      await fixture.put('other/z', was);
      const entered = await fixture.put('n/a', { ...is, size: 1 });
      const stayed = await fixture.put('n/a', { ...is, size: 2 });
      const left = await fixture.put('n/a', { ...was, size: 3 });
      await fixture.put('n/a', { ...was, size: 4 });
      const back = await fixture.put('n/a', is);
      const gone = await fixture.delete('n/a');
      const events = [];
      while (events.length < 5) events.push(...((await cursor.next(signal)) ?? []));
      expect(events.map(describeEvent)).toEqual([
        `ADDED n/a@${String(entered)}`,
        `MODIFIED n/a@${String(stayed)}`,
        `DELETED n/a@${String(left)}`,
        `ADDED n/a@${String(back)}`,
        `DELETED n/a@${String(gone)}`,
      ]);
      expect(events[2]?.item?.object()).toMatchObject({ spec: { size: 2 } });
    },
  );

  test.each<[string, Selection, string[]]>([
    ['everything', {}, ['a/x', 'a-b/x', 'a/y']],
    ['a namespace', { namespace: 'a' }, ['a/x', 'a/y']],
    ['one object', { namespace: 'a', name: 'x' }, ['a/x']],
    ['a name in all namespaces', { name: 'x' }, ['a/x', 'a-b/x']],
    ['a field', onNode('n1'), ['a/x', 'a/y']],
    ['a field and labels', { ...onNode('n1'), ...red }, ['a/y']],
  ])('%s: live and caught up give the same', async (_claim, select, expected) => {
    await open();
    const start = await fixture.putElsewhere();
    const live = await watch(select, after(start));
    await fixture.put('a/x', { nodeName: 'n1' });
    await fixture.put('a-b/x', { nodeName: 'n2' });
    await fixture.put('a/y', { nodeName: 'n1', labels: { color: 'red' } });
    const end = await fixture.putElsewhere();
    await view.list({}, { mode: 'notOlderThan', revision: end }, { limitCount: 0 }, signal);
    const late = await watch(select, after(start));
    const seen = await take(live, expected.length);
    expect(seen.map((text) => text.replace(/ADDED |@.*/g, ''))).toEqual(expected);
    expect(await take(late, expected.length)).toEqual(seen);
    expect(live.position).toBeGreaterThanOrEqual(end);
  });

  test('another resource does not wake it', async () => {
    await open();
    const cursor = await cache
      .view(gadgets)
      .watch({}, after(cache.health().revision), { bookmarks: false }, signal);
    await fixture.put('n/a');
    await expect(cursor.next(AbortSignal.timeout(100))).rejects.toMatchObject({
      name: 'TimeoutError',
    });
  });
});

describe('a watch from the state', () => {
  test('gives the state, its bookmark, then changes without gap or repeat', async () => {
    const a = await fixture.put('n/a', { labels: { color: 'red' } });
    await fixture.put('n/b');
    await open();
    const c = await fixture.put('n/c', { labels: { color: 'red' } });
    const cursor = await watch(red, { from: 'state', at: { mode: 'latest' }, bookmark: true });
    const d = await fixture.put('n/d', { labels: { color: 'red' } });
    expect(await take(cursor, 4)).toEqual([
      `ADDED n/a@${String(a)}`,
      `ADDED n/c@${String(c)}`,
      `END ${String(c)}`,
      `ADDED n/d@${String(d)}`,
    ]);
  });

  test('not older than a revision waits for it; any does not; too far ahead is a 504', async () => {
    await open();
    const now = await fixture.put('n/a');
    const start = (revision: number): WatchStart => ({
      from: 'state',
      at: { mode: 'notOlderThan', revision },
      bookmark: true,
    });
    expect(await take(await watch({}, start(now)), 2)).toEqual([
      `ADDED n/a@${String(now)}`,
      `END ${String(now)}`,
    ]);
    await expect(watch({}, start(now + 1_000))).rejects.toMatchObject({ code: 504 });
    const any = await watch({}, { from: 'state', at: { mode: 'any' }, bookmark: false });
    expect(await take(any, 1)).toEqual([`ADDED n/a@${String(now)}`]);
  });

  test('a large state comes in pieces while writes go on', async () => {
    await fixture.putMany(2_500);
    await open();
    const cursor = await watch({}, { from: 'state', at: { mode: 'latest' }, bookmark: true });
    const first = (await cursor.next(signal)) ?? [];
    expect(first.length).toBe(1_000);
    expect(cursor.position).toBe(0); // nobody can go on from the middle of the state
    const changed = await fixture.put('n/w0');
    const rest = await take(cursor, 1_502);
    expect(rest.at(-2)).toMatch(/^END /);
    expect(rest.at(-1)).toBe(`MODIFIED n/w0@${String(changed)}`);
    expect(new Set([...first.map(describeEvent), ...rest]).size).toBe(2_502);
  });
});

describe('bookmarks', () => {
  test('come about once an interval to those who want them, and move on', async () => {
    await open({ times: { bookmarkIntervalMs: 100, probeIntervalMs: 30 } });
    const start = await fixture.put('n/a');
    const cursor = await watch({}, after(start), true);
    const quiet = await watch({}, after(start));
    const moved = await fixture.putElsewhere();
    let reached = 0;
    while (reached < moved) {
      const events = (await cursor.next(AbortSignal.timeout(60_000))) ?? [];
      expect(events).toEqual([expect.objectContaining({ type: 'BOOKMARK' })]);
      expect(events[0]?.revision).toBeGreaterThanOrEqual(reached);
      reached = events[0]?.revision ?? 0;
    }
    await expect(quiet.next(AbortSignal.timeout(300))).rejects.toThrow();
  });
});

describe('ends', () => {
  test('close resolves a pending call; abort rejects it and leaves the cursor usable', async () => {
    await open();
    const cursor = await watch({}, after(cache.health().revision));
    await expect(cursor.next(AbortSignal.timeout(20))).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    const pending = cursor.next(signal);
    const revision = await fixture.put('n/a');
    expect((await pending)?.map(describeEvent)).toEqual([`ADDED n/a@${String(revision)}`]);
    const last = cursor.next(signal);
    cursor.close();
    expect(await last).toBeUndefined();
    expect(await cursor.next(signal)).toBeUndefined();
    expect(cache.health().cursorCount).toBe(0);
  });

  test('a closed watch moves on no more', async () => {
    await open();
    const start = after(await fixture.put('n/a'));
    const fromState: WatchStart = { from: 'state', at: { mode: 'any' }, bookmark: true };
    const cursors = [
      await watch({}, start),
      await watch({ namespace: 'n' }, start),
      await watch({}, fromState),
    ];
    for (const cursor of cursors) cursor.close();
    const unseen = await fixture.put('n/a');
    const at = { mode: 'notOlderThan', revision: unseen } as const;
    await view.list({}, at, { limitCount: 0 }, signal);
    const [everything = unseen, namespace = unseen, state] = cursors.map((each) => each.position);
    expect(everything).toBeLessThan(unseen);
    expect(namespace).toBeLessThan(unseen);
    expect(state).toBe(0); // nothing of it was given
  });

  test('a slow watcher reads on from its position; once the log has passed it, 410', async () => {
    await open({
      budgetBytes: 40_000,
      resources: [{ resource: widgets, historyCountMin: 0 }],
    });
    const start = await fixture.put('n/a');
    const slow = await watch({}, after(start));
    const lost = await watch({}, after(start));
    const seen: string[] = [];
    for (let i = 0; i < 200; i++) {
      await fixture.put('n/a', { size: i });
      if (i % 20 === 0) seen.push(...(await take(slow, 1)));
    }
    expect(cache.health().memory.logBytes).toBeLessThan(40_000);
    await expect(lost.next(signal)).rejects.toMatchObject({ code: 410, reason: 'Expired' });
    await expect(lost.next(signal)).rejects.toMatchObject({ code: 410 });
    const [use] = cache.resourceUse().filter(({ name }) => name === 'example.com/widgets');
    expect(use?.counts.passedWatches).toBe(1);
    while (seen.length < 200) seen.push(...(await take(slow, 1)));
    expect(new Set(seen).size).toBe(200);
    expect(cache.view(widgets).peek({ namespace: 'n', name: 'a' })?.json()).toBeDefined();
  });

  test('a busy resource does not erase the history of a quiet one', async () => {
    const gadget = Buffer.from(JSON.stringify({ metadata: { name: 'g' }, spec: {} }));
    await open({ budgetBytes: 20_000 });
    await fixture.putRaw('example.com/gadgets/g', gadget);
    const start = await fixture.putRaw('example.com/gadgets/g', gadget);
    const last = await fixture.putRaw('example.com/gadgets/g', gadget);
    for (let i = 0; i < 200; i++) await fixture.put('n/a', { size: i });
    const end = await fixture.putElsewhere();
    await view.list({}, { mode: 'notOlderThan', revision: end }, { limitCount: 0 }, signal);
    const cursor = await cache.view(gadgets).watch({}, after(start), { bookmarks: false }, signal);
    expect(await take(cursor, 1)).toEqual([`MODIFIED g@${String(last)}`]);
    expect(cache.health().memory.isOver).toBe(true); // both minimums are larger than this budget
    expect(fixture.logs.join()).toContain('memory budget');
  });

  test('age evicts what is beyond the minimum of a resource', async () => {
    await open({
      resources: [{ resource: widgets, historyCountMin: 2 }],
      times: { logAgeMaxMs: 100 },
    });
    const revisions: number[] = [];
    for (let i = 0; i < 5; i++) revisions.push(await fixture.put('n/a', { size: i }));
    await view.get(
      { namespace: 'n', name: 'a' },
      { mode: 'notOlderThan', revision: revisions[4] ?? 0 },
      signal,
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(cache.resourceUse()[0]?.logCount).toBe(2);
    await expect(watch({}, after(revisions[1] ?? 0))).rejects.toMatchObject({ code: 410 });
    const cursor = await watch({}, after(revisions[2] ?? 0));
    expect(await take(cursor, 2)).toEqual([
      `MODIFIED n/a@${String(revisions[3])}`,
      `MODIFIED n/a@${String(revisions[4])}`,
    ]);
  });

  test('stop ends all watches', async () => {
    await open();
    const cursor = await watch({}, after(cache.health().revision));
    const pending = cursor.next(signal);
    await cache.stop();
    expect(await pending).toBeUndefined();
  });
});

describe('shared frames', () => {
  test('watchers of one event share what is made of it', async () => {
    await open();
    const start = cache.health().revision;
    const cursors = await Promise.all(
      [{}, {}, { namespace: 'n' }, red].map((s) => watch(s, after(start))),
    );
    await fixture.put('n/a', { labels: { color: 'red' } });
    let made = 0;
    const frames = new Set<Uint8Array>();
    for (const cursor of cursors) {
      const [event] = (await cursor.next(signal)) ?? [];
      const frame = event?.memo('json', ({ item }) => {
        made++;
        return Buffer.from(item?.json() ?? []);
      });
      if (frame !== undefined) frames.add(frame);
    }
    expect(made).toBe(1);
    expect(frames.size).toBe(1);
    expect(cache.health().memory.memoBytes).toBeGreaterThan(0);
  });
});
