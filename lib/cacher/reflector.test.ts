import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { expired } from '../base/status.ts';
import type { Storage, StorageHealth, WatchBatch } from '../storage-etcd/storage.ts';
import { EtcdCluster, etcdOfSuite } from '../storage-etcd/testing/etcd-process.ts';
import type { ReadAt, ResourceView } from './resource-view.ts';
import {
  CacheFixture,
  intercept,
  listPaths,
  paths,
  take,
  widgets,
} from './testing/cache-fixture.ts';

let cluster: EtcdCluster;
let fixture: CacheFixture;
const { signal } = new AbortController();
const all = { limitCount: 0 };
const latest: ReadAt = { mode: 'latest' };
const key = { namespace: 'n', name: 'a' };

beforeAll(async () => {
  cluster = await EtcdCluster.start();
});
afterAll(() => cluster.stop());
beforeEach(() => {
  fixture = new CacheFixture(cluster);
});
afterEach(() => fixture.close());

const until = async (claim: () => boolean, timeoutMs = 60_000): Promise<void> => {
  const endMs = Date.now() + timeoutMs;
  while (!claim()) {
    if (Date.now() > endMs) throw new Error(`never held: ${String(claim)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};
const openCursor = (view: ResourceView, revision: number, bookmarks = false) =>
  view.watch({}, { from: 'revision', revision }, { bookmarks }, signal);

/** Storage whose watch passes through hands: batches can be held back, streams broken. */
class Valve {
  readonly storage: Storage;
  isOpen = true;
  opened = 0;
  failure: Error | undefined;
  #wake: (() => void)[] = [];

  constructor(below: Storage) {
    this.storage = intercept(below, {
      watch: (prefix, after, abort) => this.#watch(below, prefix, after, abort),
    });
  }

  /** Lets batches pass, or breaks the stream with `failure` when that is set. */
  release(): void {
    this.isOpen = true;
    for (const wake of this.#wake.splice(0)) wake();
  }

  async *#watch(
    below: Storage,
    prefix: string,
    after: number,
    abort: AbortSignal,
  ): AsyncGenerator<WatchBatch> {
    this.opened++;
    for await (const batch of below.watch(prefix, after, abort)) {
      if (!this.isOpen) await new Promise<void>((resolve) => this.#wake.push(resolve));
      const { failure } = this;
      this.failure = undefined;
      if (failure !== undefined) throw failure;
      yield batch;
    }
  }
}

describe('the stream', () => {
  test('breaks: it is opened again where it ended, watchers notice nothing', async () => {
    const valve = new Valve(fixture.storage);
    const cache = await fixture.started({ storage: valve.storage });
    const cursor = await openCursor(cache.view(widgets), cache.health().revision);
    const a = await fixture.put('n/a');
    expect(await take(cursor, 1)).toEqual([`ADDED n/a@${String(a)}`]);
    valve.failure = new Error('the connection is gone');
    const b = await fixture.put('n/a');
    const c = await fixture.put('n/a');
    expect(await take(cursor, 2)).toEqual([
      `MODIFIED n/a@${String(b)}`,
      `MODIFIED n/a@${String(c)}`,
    ]);
    expect(valve.opened).toBe(2);
    expect(cache.health().loadCount).toBe(1);
    expect(fixture.logs.join()).toContain('the connection is gone');
  });

  test('has lost its position: the state is listed again, watchers get 410', async () => {
    const valve = new Valve(fixture.storage);
    const cache = await fixture.started({ storage: valve.storage });
    const view = cache.view(widgets);
    const a = await fixture.put('n/a');
    await view.get(key, { mode: 'notOlderThan', revision: a }, signal);
    const cursor = await openCursor(view, a);
    const pending = cursor.next(signal);
    pending.catch(() => undefined);
    valve.failure = expired('the position was compacted');
    await fixture.put('n/b');
    await expect(pending).rejects.toMatchObject({ code: 410 });
    await until(() => cache.health().loadCount === 2);
    expect(await listPaths(view)).toEqual(['n/a', 'n/b']);
    await expect(openCursor(view, a)).rejects.toMatchObject({ code: 410 });
    expect(cache.health()).toMatchObject({ state: 'following', cursorCount: 0 });
  });

  test('while it is filled, reads are answered by etcd and watches wait', async () => {
    await fixture.put('n/a');
    const { promise: gate, resolve: open } = Promise.withResolvers<undefined>();
    let listCount = 0;
    const storage = intercept(fixture.storage, {
      list: async (range, abort) => {
        if (listCount++ === 0) await gate;
        return fixture.storage.list(range, abort);
      },
    });
    const cache = fixture.cache({ storage });
    const starting = cache.start(signal);
    const view = cache.view(widgets);
    await until(() => listCount > 0);
    for (const at of [latest, { mode: 'any' }, { mode: 'notOlderThan', revision: 1 }] as const) {
      expect(paths((await view.list({}, at, all, signal)).items)).toEqual(['n/a']);
      expect((await view.get(key, at, signal))?.name).toBe('a');
    }
    expect(view.peek(key)).toBeUndefined();
    const at: ReadAt = { mode: 'notOlderThan', revision: 1_000_000 };
    await expect(view.list({}, at, all, signal)).rejects.toMatchObject({ code: 504 });
    const start = { from: 'state', at: latest, bookmark: false } as const;
    const opening = view.watch({}, start, { bookmarks: false }, signal);
    open(undefined);
    await starting;
    expect((await take(await opening, 1))[0]).toMatch(/^ADDED n\/a/);
    expect(view.peek(key)?.name).toBe('a');
  });

  test('is proven to move, by progress or by a canary; a frozen one is not live', async () => {
    const times = { probeIntervalMs: 40, livenessTimeoutMs: 400 };
    const valve = new Valve(fixture.storage);
    const cache = await fixture.started({ storage: valve.storage, times });
    const old: StorageHealth = { canRequestProgress: false, clusterId: '', versions: {} };
    const canary = await fixture.started({ health: () => old, times });
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(cache.health().isLive).toBe(true);
    expect(canary.health().isLive).toBe(true);
    valve.isOpen = false;
    await until(() => !cache.health().isLive);
    expect(cache.health().silentMs).toBeGreaterThan(400);
    // Frozen, it still gives no stale answer to consistent reads.
    const revision = await fixture.put('n/a');
    expect((await cache.view(widgets).get(key, latest, signal))?.revision).toBe(revision);
    valve.release();
    await until(() => cache.health().isLive);
  });
});

describe('races of proof and event', () => {
  test('the event comes after the proof: the read waits for it', async () => {
    const valve = new Valve(fixture.storage);
    const cache = await fixture.started({ storage: valve.storage });
    valve.isOpen = false;
    const revision = await fixture.put('n/a');
    let isAnswered = false;
    const reading = cache.view(widgets).get(key, latest, signal);
    void reading.then(() => (isAnswered = true));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(isAnswered).toBe(false);
    valve.release();
    expect((await reading)?.revision).toBe(revision);
  });

  test('the event comes before the proof: the read is answered without another wait', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<undefined>();
    const storage = intercept(fixture.storage, {
      currentRevision: async (abort) => {
        const revision = await fixture.storage.currentRevision(abort);
        await gate;
        return revision;
      },
    });
    const cache = await fixture.started({ storage });
    const first = await fixture.put('n/a');
    const reading = cache.view(widgets).get(key, latest, signal);
    const second = await fixture.put('n/a');
    await until(() => cache.health().revision >= second);
    open(undefined);
    expect((await reading)?.revision).toBe(second);
    expect(second).toBeGreaterThan(first);
  });

  test('etcd fails to prove: so does the read that waits, the next one asks again', async () => {
    let isBroken = true;
    const storage = intercept(fixture.storage, {
      currentRevision: (abort) =>
        isBroken ? Promise.reject(new Error('no leader')) : fixture.storage.currentRevision(abort),
    });
    const view = (await fixture.started({ storage })).view(widgets);
    await expect(view.get(key, latest, signal)).rejects.toThrow('no leader');
    isBroken = false;
    expect(await view.get(key, latest, signal)).toBeUndefined();
  });

  test('one reader that gives up does not take the proof from the others', async () => {
    const view = (await fixture.started()).view(widgets);
    await fixture.put('n/a');
    const leaving = new AbortController();
    const left = view.get(key, latest, leaving.signal);
    const stays = view.get(key, latest, signal);
    leaving.abort(new Error('client gone'));
    await expect(left).rejects.toThrow('client gone');
    expect((await stays)?.name).toBe('a');
  });
});

describe('where progress cannot be requested', () => {
  const old: StorageHealth = { canRequestProgress: false, clusterId: '', versions: {} };

  test('consistent reads that the log does not reach go to etcd and give the same', async () => {
    const by: string[] = [];
    const cache = await fixture.started({
      health: () => old,
      observer: { onRead: (_resource, _read, _at, answerer) => by.push(answerer) },
    });
    const view = cache.view(widgets);
    const a = await fixture.put('n/a');
    await until(() => cache.health().revision >= a);
    expect((await view.get(key, latest, signal))?.revision).toBe(a);
    const moved = await fixture.putElsewhere();
    const list = await view.list({}, latest, all, signal);
    expect(paths(list.items)).toEqual(['n/a']);
    expect(list.revision).toBeGreaterThanOrEqual(moved);
    const at: ReadAt = { mode: 'notOlderThan', revision: moved };
    expect((await view.list({}, at, all, signal)).revision).toBeGreaterThanOrEqual(moved);
    expect((await view.get(key, at, signal))?.revision).toBe(a);
    expect(by).toEqual(['memory', 'storage', 'storage', 'storage']);
  });

  test('a watch from the newest state begins with what etcd has, no gap or repeat', async () => {
    const cache = await fixture.started({ health: () => old });
    const view = cache.view(widgets);
    const a = await fixture.put('n/a');
    const moved = await fixture.putElsewhere();
    const start = { from: 'state', at: latest, bookmark: true } as const;
    const cursor = await view.watch({}, start, { bookmarks: false }, signal);
    const b = await fixture.put('n/b');
    expect(await take(cursor, 3)).toEqual([
      `ADDED n/a@${String(a)}`,
      `END ${String(moved)}`,
      `ADDED n/b@${String(b)}`,
    ]);
  });
});

describe('an etcd that is too old for progress requests', () => {
  let own: EtcdCluster;
  let other: CacheFixture;
  beforeAll(async () => {
    own = await EtcdCluster.start({ etcdPath: await etcdOfSuite('bookworm') });
    other = new CacheFixture(own);
  });
  afterAll(async () => {
    await other.close();
    await own.stop();
  });

  test('every consistent read sees what was written before, with and without writers', async () => {
    const by = new Set<string>();
    const cache = other.cache({
      observer: { onRead: (_resource, _read, _at, from) => by.add(from) },
    });
    await cache.start(signal);
    const view = cache.view(widgets);
    for (let i = 0; i < 40; i++) {
      const revision = await other.put('n/a', { size: i });
      if (i % 2 === 0) await other.putElsewhere();
      const item = await view.get(key, latest, signal);
      expect(item?.revision).toBe(revision);
      expect((await view.list({}, latest, all, signal)).revision).toBeGreaterThanOrEqual(revision);
    }
    expect(other.storage.health.canRequestProgress).toBe(false);
    expect(by.has('storage')).toBe(true);
  });
});
