import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createLogger } from '../base/log.ts';
import { nextTurn } from '../base/turn.ts';
import { EtcdCluster } from '../storage-etcd/testing/etcd-process.ts';
import { eventually } from '../storage-etcd/testing/events.ts';
import { follow } from './follow.ts';
import type { Follower } from './follow.ts';
import type { ResourceView, Selection } from './resource-view.ts';
import { CacheFixture, paths, widgets } from './testing/cache-fixture.ts';

let cluster: EtcdCluster;
let fixture: CacheFixture;
let view: ResourceView;
let ending: AbortController;
let following: Promise<void>;

beforeAll(async () => {
  cluster = await EtcdCluster.start();
});
afterAll(() => cluster.stop());
beforeEach(() => {
  fixture = new CacheFixture(cluster);
  ending = new AbortController();
});
afterEach(async () => {
  ending.abort(new Error('the test is over'));
  await following;
  await fixture.close();
});

/** What a follower was told, and what it would answer from. */
class Recorder implements Follower {
  readonly told: string[] = [];
  readonly known = new Map<string, number>();
  #fresh: Set<string> | undefined = new Set();
  restartCount = 0;

  restarted(): void {
    this.restartCount++;
    this.#fresh = new Set();
  }
  present(item: Parameters<Follower['present']>[0]): void {
    const [path = ''] = paths([item]);
    this.told.push(`present ${path}`);
    this.known.set(path, item.revision);
    this.#fresh?.add(path);
  }
  absent(item: Parameters<Follower['absent']>[0]): void {
    const [path = ''] = paths([item]);
    this.told.push(`absent ${path}`);
    this.known.delete(path);
  }
  synced(): void {
    this.told.push('synced');
    for (const path of [...this.known.keys()]) {
      if (this.#fresh?.has(path) === false) this.known.delete(path);
    }
    this.#fresh = undefined;
  }
}

function start(recorder: Recorder, select: Selection = {}): void {
  const log = createLogger('error', () => undefined);
  following = follow(recorder, { view, select, log }, ending.signal);
}

test('a follower gets the state, the mark of its end, and then each change', async () => {
  const cache = await fixture.started();
  view = cache.view(widgets);
  await fixture.put('n/a');
  await fixture.put('n/b');
  await view.list({}, { mode: 'latest' }, { limitCount: 0 }, ending.signal);
  const recorder = new Recorder();
  start(recorder);
  await eventually(() => {
    expect(recorder.told).toEqual(['present n/a', 'present n/b', 'synced']);
  });
  await fixture.put('n/c');
  await fixture.delete('n/a');
  await eventually(() => {
    expect(recorder.told.slice(3)).toEqual(['present n/c', 'absent n/a']);
  });
});

test('an object that leaves the selection is absent', async () => {
  const cache = await fixture.started();
  view = cache.view(widgets);
  const recorder = new Recorder();
  start(recorder, { labels: (labels) => labels['color'] === 'red' });
  await fixture.put('n/a', { labels: { color: 'red' } });
  await fixture.put('n/a', { labels: { color: 'blue' } });
  await eventually(() => {
    expect(recorder.told).toEqual(['synced', 'present n/a', 'absent n/a']);
  });
});

test('after its watch failed it gets the state again, without what was deleted', async () => {
  const cache = await fixture.started();
  const real = cache.view(widgets);
  let broken = 0;
  // Breaks the first two streams after their state; everything else is the real view.
  view = Object.assign(Object.create(real) as ResourceView, {
    watch: async (...args: Parameters<ResourceView['watch']>) => {
      const cursor = await real.watch(...args);
      if (broken === 2) return cursor;
      broken++;
      let calls = 0;
      return Object.assign(Object.create(cursor) as typeof cursor, {
        next: async (signal: AbortSignal) => {
          if (++calls === 1) return cursor.next(signal);
          await fixture.delete(`n/gone${String(broken)}`);
          await real.list({}, { mode: 'latest' }, { limitCount: 0 }, signal);
          throw new Error('cut');
        },
        close: () => {
          cursor.close();
        },
      });
    },
    name: real.name,
  });
  for (const path of ['n/gone1', 'n/gone2', 'n/stays']) await fixture.put(path);
  await real.list({}, { mode: 'latest' }, { limitCount: 0 }, ending.signal);
  const recorder = new Recorder();
  start(recorder);
  await eventually(() => {
    expect(recorder.restartCount).toBe(2);
    expect([...recorder.known.keys()]).toEqual(['n/stays']);
  });
});

test('it ends with the cache, and with its signal', async () => {
  const cache = await fixture.started();
  view = cache.view(widgets);
  start(new Recorder());
  const first = following;
  start(new Recorder());
  ending.abort(new Error('enough'));
  await Promise.all([first, following]);
  ending = new AbortController();
  const recorder = new Recorder();
  start(recorder);
  await eventually(() => {
    expect(recorder.told).toEqual(['synced']);
  });
  await cache.stop();
  await following;
});

test('a follower knows how far it was told', async () => {
  const cache = await fixture.started();
  view = cache.view(widgets);
  await fixture.put('n/a');
  const recorder = new Recorder();
  let position = (): number => 0;
  const told: Follower = {
    opened: (cursor) => (position = () => cursor.position),
    present: (item) => {
      recorder.present(item);
    },
    absent: (item) => {
      recorder.absent(item);
    },
  };
  const log = createLogger('error', () => undefined);
  following = follow(told, { view, log }, ending.signal);
  const revision = await fixture.put('n/b');
  await eventually(() => {
    expect(position()).toBeGreaterThanOrEqual(revision);
  });
  await nextTurn();
  expect(recorder.told).toContain('present n/b');
});
