import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { StatusError } from '../base/status.ts';
import { EtcdCluster } from '../storage-etcd/testing/etcd-process.ts';
import { eventually } from '../storage-etcd/testing/events.ts';
import type { Cache } from './cache.ts';
import type { ReadAt, ResourceView } from './resource-view.ts';
import type { Transcoder } from './transcoder.ts';
import {
  CacheFixture,
  gadgets,
  intercept,
  listPaths,
  paths,
  shown,
  take,
  widget,
  widgets,
  widgetTranscoder,
} from './testing/cache-fixture.ts';
import { encodeStored } from '../codec/stored-form.ts';

let cluster: EtcdCluster;
let fixture: CacheFixture;
const { signal } = new AbortController();
const all = { limitCount: 0 };
const latest: ReadAt = { mode: 'latest' };

beforeAll(async () => {
  cluster = await EtcdCluster.start();
});
afterAll(() => cluster.stop());
beforeEach(() => {
  fixture = new CacheFixture(cluster);
});
afterEach(() => fixture.close());

const codeOf = async (promise: Promise<unknown>): Promise<number | undefined> =>
  promise.then(
    () => undefined,
    (error: unknown) => (error instanceof StatusError ? error.code : -1),
  );

/** Counts who answered. */
function counted(): {
  readonly counts: Record<string, number>;
  onRead(r: string, read: string, at: string, by: string): void;
} {
  const counts: Record<string, number> = { memory: 0, snapshot: 0, storage: 0 };
  return {
    counts,
    onRead: (_resource, _read, _at, by) => {
      counts[by] = (counts[by] ?? 0) + 1;
    },
  };
}

describe('filling', () => {
  test('shows what was stored before, in key order, with bytes ready to send', async () => {
    const b = await fixture.put('n/b', { labels: { app: 'x' } });
    const a = await fixture.put('n-1/a');
    const g = await fixture.putRaw(
      'example.com/gadgets/g',
      encodeStored(widget('g'), gadgets).value,
    );
    const cache = await fixture.started();
    const { items } = await cache.view(widgets).list({}, latest, all, signal);
    expect(shown(items)).toEqual([`n-1/a@${String(a)}`, `n/b@${String(b)}`]);
    const [, item] = items;
    expect(item?.labels).toEqual({ app: 'x' });
    const object = JSON.parse(Buffer.from(item?.json() ?? []).toString()) as unknown;
    expect(object).toMatchObject({ kind: 'Widget', metadata: { resourceVersion: String(b) } });
    expect(Buffer.from(item?.listJson() ?? []).toString()).toMatch(/^\{"metadata":\{"name":"b"/);
    expect(`{${Buffer.from(item?.listTail() ?? []).toString()}`).toBe(
      Buffer.from(item?.listJson() ?? []).toString(),
    );
    expect(item?.object().metadata?.name).toBe('b');
    expect(Object.isFrozen(item?.object().metadata)).toBe(true);
    const other = await cache.view(gadgets).get({ namespace: '', name: 'g' }, latest, signal);
    expect(other?.revision).toBe(g);
  });

  test('a value of another form is converted, an unreadable one reported', async () => {
    await fixture.put('n/good');
    await fixture.putRaw('widgets/n/plain', Buffer.from(JSON.stringify(widget('n/plain'))));
    await fixture.putRaw('widgets/n/broken', Buffer.from('\u0000garbage'));
    const reported: string[] = [];
    const cache = await fixture.started({
      observer: { onCorrupted: (_resource, key) => reported.push(key) },
    });
    const view = cache.view(widgets);
    const { items } = await view.list({ showsUnreadable: true }, latest, all, signal);
    expect(items.map(({ name, corrupted }) => [name, corrupted])).toEqual([
      ['broken', true],
      ['good', false],
      ['plain', false],
    ]);
    const plain = view.peek({ namespace: 'n', name: 'plain' });
    expect(Buffer.from(plain?.json() ?? []).toString()).toMatch(/^\{"kind":"Widget","apiVersion"/);
    const broken = await view.get({ namespace: 'n', name: 'broken' }, latest, signal);
    expect(broken?.corrupted).toBe(true);
    const key = `${fixture.prefix}widgets/n/broken`;
    expect(() => broken?.json()).toThrow(key);
    expect(() => broken?.object()).toThrow(expect.objectContaining({ code: 500 }));
    expect(reported).toEqual([key]);
    expect([...cache.health().corrupted.keys()]).toEqual([key]);
    expect(fixture.logs.join()).toContain(key);
    await fixture.put('n/broken');
    expect(await listPaths(view)).toEqual(['n/broken', 'n/good', 'n/plain']);
    expect(cache.health().corrupted.size).toBe(0);
  });

  test('objects that take long fill without stalling the loop', async () => {
    await fixture.putMany(500);
    // How many objects one turn of the loop takes: whoever else is served waits for it.
    let inTurn = 0;
    let inTurnMax = 0;
    const transcoder: Transcoder = {
      ...widgetTranscoder,
      open(value) {
        if (inTurn === 0) setImmediate(() => (inTurn = 0));
        inTurn++;
        inTurnMax = Math.max(inTurnMax, inTurn);
        const startMs = performance.now();
        while (performance.now() < startMs + 1);
        return widgetTranscoder.open(value);
      },
    };
    const cache = await fixture.started({ transcoder });
    expect(cache.view(widgets).peek({ namespace: 'n', name: 'w499' })).toBeDefined();
    expect(inTurnMax).toBeGreaterThan(0);
    expect(inTurnMax).toBeLessThan(50); // a tenth of all
  });

  test('a resource added later has the objects that were there', async () => {
    await fixture.put('n/a');
    const cache = await fixture.started({ resources: [{ resource: gadgets }] });
    const view = cache.add({ resource: widgets });
    expect(await listPaths(view)).toEqual(['n/a']);
    const cursor = await view.watch(
      {},
      { from: 'revision', revision: cache.health().revision },
      { bookmarks: false },
      signal,
    );
    const b = await fixture.put('n/b');
    expect(await take(cursor, 1)).toEqual([`ADDED n/b@${String(b)}`]);
  });
});

describe('reads', () => {
  let cache: Cache;
  let view: ResourceView;
  const seen = counted();
  beforeEach(async () => {
    cache = await fixture.started({ observer: seen });
    view = cache.view(widgets);
    seen.counts['memory'] = seen.counts['storage'] = seen.counts['snapshot'] = 0;
  });

  test('most recent: sees every write that was answered before, from memory', async () => {
    for (let i = 0; i < 50; i++) {
      const revision = await fixture.put('n/a', { size: i });
      const item = await view.get({ namespace: 'n', name: 'a' }, latest, signal);
      expect(item?.revision).toBe(revision);
    }
    expect(seen.counts).toEqual({ memory: 50, snapshot: 0, storage: 0 });
  });

  test('most recent: a write outside the prefix does not send reads to etcd', async () => {
    await fixture.put('n/a');
    for (let i = 0; i < 5; i++) {
      const revision = await fixture.putElsewhere();
      const { revision: read } = await view.list({}, latest, all, signal);
      expect(read).toBeGreaterThanOrEqual(revision);
    }
    expect(seen.counts['storage']).toBe(0);
  });

  test('any: memory as it is; not older than: at least the revision', async () => {
    const revision = await fixture.put('n/a');
    const at: ReadAt = { mode: 'notOlderThan', revision };
    const item = await view.get({ namespace: 'n', name: 'a' }, at, signal);
    expect(item?.revision).toBe(revision);
    const list = await view.list({}, { mode: 'any' }, all, signal);
    expect(shown(list.items)).toEqual([`n/a@${String(revision)}`]);
    expect(seen.counts).toEqual({ memory: 2, snapshot: 0, storage: 0 });
  });

  test('not older than: one on its way is waited for, one not reached in time a 504', async () => {
    const now = await fixture.put('n/a');
    const far: ReadAt = { mode: 'notOlderThan', revision: now + 1_000 };
    const startedMs = Date.now();
    await expect(view.list({}, far, all, signal)).rejects.toMatchObject({
      code: 504,
      details: { retryAfterSeconds: 1 },
    });
    expect(Date.now() - startedMs).toBeGreaterThan(250);
    const times = { futureRevisionWaitMs: 60_000 };
    const patient = (await fixture.started({ times })).view(widgets);
    const next = patient.list({}, { mode: 'notOlderThan', revision: now + 1 }, all, signal);
    await fixture.putElsewhere();
    expect((await next).revision).toBeGreaterThanOrEqual(now + 1);
  });

  test('exact: the state at the revision, from memory and equal to etcd', async () => {
    const history: Record<number, string[]> = {};
    const state = new Map<string, number>();
    for (let i = 0; i < 40; i++) {
      const path = `n/w${String((i * 7) % 10)}`;
      let revision: number;
      if (i % 5 === 4 && state.has(path)) {
        revision = await fixture.delete(path);
        state.delete(path);
      } else {
        revision = await fixture.put(path, { size: i });
        state.set(path, revision);
      }
      history[revision] = [...state].sort().map(([key, at]) => `${key}@${String(at)}`);
    }
    const plain = await fixture.started({ listFromSnapshot: false, observer: seen });
    for (const [text, expected] of Object.entries(history)) {
      const at: ReadAt = { mode: 'exact', revision: Number(text) };
      const fromMemory = await view.list({}, at, all, signal);
      expect(shown(fromMemory.items)).toEqual(expected);
      expect(fromMemory.revision).toBe(Number(text));
      const fromEtcd = await plain.view(widgets).list({}, at, all, signal);
      expect(shown(fromEtcd.items)).toEqual(expected);
      const one = await view.get({ namespace: 'n', name: 'w0' }, at, signal);
      const same = await plain.view(widgets).get({ namespace: 'n', name: 'w0' }, at, signal);
      expect(one?.revision).toBe(same?.revision);
    }
    expect(seen.counts['storage']).toBe(80);
  });

  test('pages: the same from memory, from a snapshot and from etcd', async () => {
    for (let i = 10; i < 35; i++) {
      await fixture.put(`n/w${String(i)}`, { labels: { odd: String(i % 2) } });
    }
    const plain = (await fixture.started({ listFromSnapshot: false })).view(widgets);
    const odd = (labels: Readonly<Record<string, string>>): boolean => labels['odd'] === '1';
    for (const select of [{}, { namespace: 'n' }, { labels: odd }]) {
      const first = await view.list(select, latest, { limitCount: 6 }, signal);
      expect(first.more).toBe(true);
      expect(first.remainingCount).toBe('labels' in select ? undefined : 19);
      await fixture.put('n/w11', { labels: { odd: '0' } });
      const at: ReadAt = { mode: 'exact', revision: first.revision };
      for (const reader of [view, plain]) {
        const whole = [...first.items];
        let page = first;
        while (page.more) {
          const after = whole.at(-1);
          if (after === undefined) break;
          page = await reader.list(select, at, { limitCount: 6, after }, signal);
          expect(page.revision).toBe(first.revision);
          whole.push(...page.items);
        }
        expect(whole.length).toBe('labels' in select ? 12 : 25);
        expect(new Set(paths(whole)).size).toBe(whole.length);
        expect(page.remainingCount).toBe('labels' in select ? undefined : 0);
      }
      await fixture.put('n/w11', { labels: { odd: '1' } });
    }
  });

  test('exact: from etcd once the snapshot window has passed', async () => {
    let aheadMs = 0;
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
    const other = (await fixture.started({ observer: seen, clock })).view(widgets);
    const old = await fixture.put('n/a');
    const now = await fixture.put('n/a');
    const at: ReadAt = { mode: 'exact', revision: old };
    expect(shown((await other.list({}, at, all, signal)).items)).toEqual([`n/a@${String(old)}`]);
    expect(seen.counts).toMatchObject({ snapshot: 1, storage: 0 });
    aheadMs += 2_000;
    const later = await fixture.put('n/b');
    await other.list({}, { mode: 'notOlderThan', revision: later }, all, signal);
    aheadMs += limits.snapshotRetentionMs;
    expect(shown((await other.list({}, at, all, signal)).items)).toEqual([`n/a@${String(old)}`]);
    expect(now).toBeGreaterThan(old);
    expect(seen.counts).toMatchObject({ snapshot: 1, storage: 1 });
  });

  test('exact: a compacted revision is a 410, also when memory still has it', async () => {
    const old = await fixture.put('n/a');
    const now = await fixture.put('n/a');
    await cluster.compact(now);
    const other = (await fixture.started({ compactedRevision: () => now })).view(widgets);
    const at: ReadAt = { mode: 'exact', revision: old };
    expect(await codeOf(other.list({}, at, all, signal))).toBe(410);
    const still = await other.list({}, { mode: 'exact', revision: now }, all, signal);
    expect(shown(still.items)).toEqual([`n/a@${String(now)}`]);
  });

  test('selections: namespaces do not run into each other, fields and labels narrow', async () => {
    await fixture.put('a/x', { nodeName: 'n1', labels: { k: 'v' } });
    await fixture.put('a-b/x', { nodeName: 'n1' });
    await fixture.put('a/y', { nodeName: 'n2', labels: { k: 'v' } });
    const list = async (select: Parameters<ResourceView['list']>[0]): Promise<string[]> =>
      paths((await view.list(select, latest, all, signal)).items);
    const node = (value: string, operator: '=' | '!=' = '=') =>
      [{ path: 'spec.nodeName', operator, value }] as const;
    expect(await list({})).toEqual(['a-b/x', 'a/x', 'a/y']);
    expect(await list({ namespace: 'a' })).toEqual(['a/x', 'a/y']);
    expect(await list({ namespace: 'a-b' })).toEqual(['a-b/x']);
    expect(await list({ name: 'x' })).toEqual(['a-b/x', 'a/x']);
    expect(await list({ namespace: 'a', name: 'y' })).toEqual(['a/y']);
    expect(await list({ fields: node('n1') })).toEqual(['a-b/x', 'a/x']);
    expect(await list({ fields: node('n1', '!=') })).toEqual(['a/y']);
    expect(await list({ fields: node('') })).toEqual([]);
    expect(await list({ namespace: 'a', fields: node('n1') })).toEqual(['a/x']);
    expect(await list({ labels: (labels) => labels['k'] === 'v' })).toEqual(['a/x', 'a/y']);
    await fixture.put('a/x', { nodeName: 'n2' });
    expect(await list({ fields: node('n1') })).toEqual(['a-b/x']);
    expect(await list({ fields: node('n2') })).toEqual(['a/x', 'a/y']);
  });

  test('readers share one proof; who comes after it was sent waits for the next', async () => {
    let asked = 0;
    const release: (() => void)[] = [];
    const storage = intercept(fixture.storage, {
      currentRevision: async (abort) => {
        asked++;
        const revision = await fixture.storage.currentRevision(abort);
        await new Promise<void>((resolve) => release.push(resolve));
        return revision;
      },
    });
    const other = (await fixture.started({ storage })).view(widgets);
    const key = { namespace: 'n', name: 'late' };
    const early = Array.from({ length: 100 }, () => other.get(key, latest, signal));
    while (release.length < 1) await new Promise((resolve) => setTimeout(resolve, 1));
    const revision = await fixture.put('n/late');
    const late = Array.from({ length: 100 }, () => other.get(key, latest, signal));
    release[0]?.();
    await Promise.all(early);
    while (release.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    release[1]?.();
    for (const item of await Promise.all(late)) expect(item?.revision).toBe(revision);
    expect(asked).toBe(2);
  });
});

test('encodings and objects of items are dropped when nobody asks for them', async () => {
  await fixture.put('n/a');
  const cache = await fixture.started({ times: { memoIdleMs: 50 } });
  const item = await cache.view(widgets).get({ namespace: 'n', name: 'a' }, latest, signal);
  item?.encoded('table', () => new Uint8Array(1_000));
  item?.object();
  expect(cache.health().memory.memoBytes).toBeGreaterThan(1_000);
  await eventually(() => {
    expect(cache.health().memory.memoBytes).toBe(0);
  });
});

describe('what memory holds at this moment', () => {
  test('is one array until something changes, and that of a namespace alone', async () => {
    await fixture.put('n/b');
    await fixture.put('n/a');
    await fixture.put('n-2/c');
    const cache = await fixture.started();
    const view = cache.view(widgets);
    expect(paths(view.all())).toEqual(['n-2/c', 'n/a', 'n/b']);
    expect(view.all()).toBe(view.all());
    expect(paths(view.all('n'))).toEqual(['n/a', 'n/b']);
    expect(view.all('absent')).toEqual([]);
    const before = view.all();
    await fixture.put('n/d');
    await view.list({}, latest, all, signal);
    expect(view.all()).not.toBe(before);
    await fixture.delete('n/b');
    await view.list({}, latest, all, signal);
    expect(paths(view.all('n'))).toEqual(['n/a', 'n/d']);
  });

  test('is refused until memory is filled', () => {
    const view = fixture.cache().view(widgets);
    expect(() => view.all()).toThrow('storage is (re)initializing');
  });

  test('a key of no resource has the revision of its last change', async () => {
    const first = await fixture.putRaw('internal/key', Buffer.from('1'));
    const cache = await fixture.started();
    const key = `${fixture.prefix}internal/key`;
    expect(cache.revisionOf(key)).toBe(first);
    expect(cache.revisionOf(`${fixture.prefix}internal/other`)).toBe(0);
    const second = await fixture.putRaw('internal/key', Buffer.from('2'));
    await cache.view(widgets).list({}, latest, all, signal);
    expect(cache.revisionOf(key)).toBe(second);
  });
});
