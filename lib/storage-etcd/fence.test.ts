// A restored backup or another cluster behind the same address fences the replica.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { EtcdStorage } from './etcd-storage.ts';
import { Fence } from './fence.ts';
import type { FenceEvent, Sent } from './fence.ts';
import type { Epoch, Revision } from './storage.ts';
import { EtcdCluster } from './testing/etcd-process.ts';
import { brief, eventually, keyOf, nextWithEvents } from './testing/events.ts';

const never = new AbortController().signal;

/** A write to `/registry/KEY`, or to the key itself when that is a path. */
type Change = (storage: EtcdStorage) => Promise<Revision>;
interface Followed {
  readonly keys: readonly string[];
  readonly end: Promise<unknown>;
}

const pathOf = (key: string): string => (key.startsWith('/') ? key : `/registry/${key}`);
const set =
  (key: string, value = 'x'): Change =>
  async (storage) => {
    const { item } = await storage.get(pathOf(key), never);
    const expected = item?.modRevision ?? 0;
    const result = await storage.put(pathOf(key), Buffer.from(value), { expected }, never);
    return result.ok ? result.revision : 0;
  };
const drop =
  (key: string): Change =>
  async (storage) => {
    const { item } = await storage.get(pathOf(key), never);
    const options = { expected: item?.modRevision ?? 0 };
    const result = await storage.delete(pathOf(key), options, never);
    return result.ok ? result.revision : 0;
  };
const put = (storage: EtcdStorage, key: string): Promise<Revision> => set(key)(storage);

/** Gives the last revision. */
async function apply(storage: EtcdStorage, changes: readonly Change[]): Promise<Revision> {
  let revision: Revision = 0;
  for (const change of changes) revision = await change(storage);
  return revision;
}

describe('what an answer shows', () => {
  let fence: Fence;
  let events: FenceEvent[];
  /** What was known when this revision was the highest. */
  const sentAt = (seenRevision: Revision): Sent => ({ epoch: fence.epoch, seenRevision });
  beforeEach(() => {
    fence = new Fence();
    events = [];
    fence.onEpoch((fenced) => fenced && events.push(fenced));
    fence.observe('1', 10, sentAt(0));
  });

  test('answers that overtook each other are no fence', () => {
    fence.observe('1', 20, sentAt(10));
    fence.observe('1', 15, sentAt(10));
    expect(events).toEqual([]);
    expect(fence.seenRevision).toBe(20);
  });
  test('a revision below one seen before the request was sent is', () => {
    fence.observe('1', 20, sentAt(10));
    fence.observe('1', 15, sentAt(20));
    const event = { reason: 'revisionWentBack', clusterId: '1', revision: 15, seenRevision: 20 };
    expect(events).toEqual([event]);
    expect(fence.seenRevision).toBe(15);
  });
  test('so is another cluster, whatever its revision', () => {
    fence.observe('2', 500, sentAt(10));
    expect(events).toMatchObject([{ reason: 'clusterChanged', clusterId: '2' }]);
  });
  test('answers of requests from before a fence prove nothing about the new history', () => {
    const before = sentAt(20);
    fence.observe('1', 20, sentAt(10));
    fence.observe('2', 15, before);
    fence.observe('1', 16, before);
    fence.observe('1', 40, before);
    expect(events).toHaveLength(1);
    expect(fence).toMatchObject({ clusterId: '2', seenRevision: 15 });
  });
  test('one restore after the other is two fences, however far the first has grown', () => {
    fence.observe('1', 20, sentAt(10));
    fence.observe('1', 15, sentAt(20));
    fence.observe('1', 30, sentAt(15));
    fence.observe('1', 18, sentAt(30));
    expect(events.map(({ revision }) => revision)).toEqual([15, 18]);
  });
});

describe('an epoch', () => {
  test('ends with the connection; the history goes on', () => {
    const fence = new Fence();
    const before = fence.epoch;
    fence.disconnected();
    expect(fence.epoch).not.toBe(before);
    expect(fence.epoch).toEqual(before);
  });
  test('of another history says which revisions may be of one that ended', () => {
    const fence = new Fence();
    const first = fence.epoch;
    const seen: number[] = [];
    fence.onEpoch(() => seen.push(fence.epoch.replacedUpTo));
    fence.observe('1', 20, { epoch: fence.epoch, seenRevision: 0 });
    fence.observe('1', 15, { epoch: fence.epoch, seenRevision: 20 });
    fence.historyDiffers(15);
    fence.observe('2', 500, { epoch: fence.epoch, seenRevision: 15 });
    expect(seen).toEqual([20, 20, 499]);
    expect(fence.epoch.history).not.toBe(first.history);
  });
});

describe('a restored backup', () => {
  let cluster: EtcdCluster;
  let storage: EtcdStorage;
  let fences: FenceEvent[];
  let ending: AbortController;

  beforeEach(async () => {
    cluster = await EtcdCluster.start();
    storage = new EtcdStorage(cluster.connection);
    fences = [];
    ending = new AbortController();
    storage.fence.onEpoch((fenced) => fenced && fences.push(fenced));
  });
  afterEach(async () => {
    ending.abort(new Error('the test is over'));
    storage.close();
    await cluster.stop();
  });

  /** Follows the whole prefix up to a revision; `end` is what ended it. */
  async function followed(after: Revision, upTo: Revision): Promise<Followed> {
    const keys: string[] = [];
    const batches = storage.watch('/registry/', after, ending.signal)[Symbol.asyncIterator]();
    const take = async (): Promise<Revision> => {
      const result = await batches.next();
      if (result.done === true) throw new Error('the watch ended');
      for (const event of result.value.events) keys.push(brief(event));
      return result.value.revision;
    };
    let revision = after;
    while (revision < upTo) {
      storage.requestProgress();
      revision = await take();
    }
    const end = (async () => {
      for (;;) await take();
    })().catch((error: unknown) => error);
    return { keys, end };
  }

  test('ends the watch with 410 and fences before the first answer is returned', async () => {
    await put(storage, 'before');
    const backup = await cluster.saveSnapshot('backup.db');
    const seen = await put(storage, 'after');
    const { end } = await followed(seen - 1, seen);
    await cluster.restoreSnapshot(backup);
    expect(await end).toMatchObject({ code: 410 });
    expect(fences).toMatchObject([{ reason: 'revisionWentBack', seenRevision: seen }]);
    const { item } = await storage.get('/registry/after', never);
    expect(item).toBeUndefined();
  });

  /** What happened after the backup, and what happens after it was restored instead. */
  const divergences: Record<string, { lost: Change[]; instead: Change[] }> = {
    'other objects are put': {
      lost: [set('b'), set('c')],
      instead: [set('d'), set('e'), set('f')],
    },
    'objects were deleted, now others are put': {
      lost: [drop('a'), drop('b')],
      instead: [set('d'), set('e'), set('f')],
    },
    'objects were deleted, now others are': {
      lost: [drop('a')],
      instead: [drop('b'), set('e')],
    },
    'the same deletions follow another one': {
      lost: [drop('a'), drop('b'), drop('c')],
      instead: [set('d'), drop('b'), drop('c'), set('e')],
    },
    'the same put follows another deletion': {
      lost: [drop('a'), set('c')],
      instead: [drop('b'), set('c'), set('d')],
    },
    'the same object is put with another value': {
      lost: [set('a', 'lost')],
      instead: [set('a', 'kept'), set('d')],
    },
    'nothing happened that the watch shows, now something does': {
      lost: [set('/elsewhere/a'), set('/elsewhere/b')],
      instead: [drop('a'), set('/elsewhere/b'), set('d')],
    },
  };

  test.each(Object.entries(divergences))(
    'that has since grown past what was seen is known by its history: %s',
    async (_name, { lost, instead }) => {
      const start = await apply(storage, [set('a'), set('b'), set('c')]);
      const backup = await cluster.saveSnapshot('backup.db');
      const seen = await apply(storage, lost);
      const { end } = await followed(start - 1, seen);
      await cluster.kill(0);
      await cluster.restoreSnapshot(backup, async (endpoint) => {
        const other = new EtcdStorage({ endpoints: [endpoint] });
        expect(await apply(other, instead)).toBeGreaterThanOrEqual(seen);
        other.close();
      });
      expect(await end).toMatchObject({ code: 410 });
      expect(fences).toMatchObject([{ reason: 'historyDiffers' }]);
    },
  );

  test('a write based on what was read before is not done on what is there now', async () => {
    await put(storage, 'a');
    const backup = await cluster.saveSnapshot('backup.db');
    const { epoch } = storage;
    const seen = await set('a', 'lost')(storage);
    await cluster.restoreSnapshot(backup, async (endpoint) => {
      const other = new EtcdStorage({ endpoints: [endpoint] });
      expect(await set('a', 'kept')(other)).toBe(seen);
      other.close();
    });
    const expected = { expected: seen, epoch };
    const key = '/registry/a';
    const written = await storage.put(key, Buffer.from('new'), expected, never);
    expect(written).toMatchObject({ ok: false, current: { value: Buffer.from('kept') } });
    const deleted = await storage.delete(key, expected, never);
    expect(deleted).toMatchObject({ ok: false, current: { value: Buffer.from('kept') } });
    const conditions = [
      { key: '/registry/none', expected: 0 },
      { key, expected: seen },
    ];
    const changes = [{ type: 'delete', key }] as const;
    const together = await storage.transact({ conditions, changes, epoch }, never);
    expect(together).toMatchObject({
      ok: false,
      current: [undefined, { value: Buffer.from('kept') }],
    });
    // Based on what was just read it is done.
    const now = { expected: seen, epoch: storage.epoch };
    expect(await storage.put(key, Buffer.from('new'), now, never)).toMatchObject({ ok: true });
  });

  test('one after the other, both of them grown: each is a fence', async () => {
    const start = await apply(storage, [set('a'), set('b'), set('c')]);
    const backup = await cluster.saveSnapshot('backup.db');
    let seen = await apply(storage, [drop('a')]);
    for (const instead of [
      [drop('b'), set('d')],
      [drop('c'), set('d'), set('e')],
    ]) {
      const { end } = await followed(start - 1, seen);
      await cluster.restoreSnapshot(backup, async (endpoint) => {
        const other = new EtcdStorage({ endpoints: [endpoint] });
        seen = await apply(other, instead);
        other.close();
      });
      expect(await end).toMatchObject({ code: 410 });
    }
    expect(fences).toMatchObject([{ reason: 'historyDiffers' }, { reason: 'historyDiffers' }]);
  });
});

describe('the same store over another connection', () => {
  let cluster: EtcdCluster;
  let storage: EtcdStorage;
  beforeEach(async () => {
    cluster = await EtcdCluster.start();
    // Nothing is asked because of silence.
    storage = new EtcdStorage({ ...cluster.connection, watchSilenceMs: 1_000_000 });
  });
  afterEach(async () => {
    storage.close();
    await cluster.stop();
  });

  test('is proven by its last events: a quiet watch resumes without repeats', async () => {
    const start = await apply(storage, [set('a'), set('b')]);
    const last = await apply(storage, [drop('a'), set('b', 'y'), set('/elsewhere/a')]);
    const { epoch } = storage;
    const batches = storage.watch('/registry/', start, never)[Symbol.asyncIterator]();
    const seen = (await nextWithEvents(batches)).events.map(keyOf);
    expect(seen).toEqual(['/registry/a', '/registry/b']);
    await cluster.restart(0);
    const known = (await batches.next()).value;
    expect(known).toMatchObject({ revision: last, events: [] });
    expect(known?.epoch).toBe(storage.epoch);
    expect(storage.epoch).not.toBe(epoch);
    expect(storage.epoch).toEqual(epoch);
    await put(storage, 'c');
    expect((await nextWithEvents(batches)).events.map(keyOf)).toEqual(['/registry/c']);
    await batches.return?.();
  });

  test('may be another one to a watch that has seen no event: 410', async () => {
    const start = await apply(storage, [set('a'), set('/elsewhere/a')]);
    const { epoch } = storage;
    const batches = storage.watch('/registry/', start, never)[Symbol.asyncIterator]();
    const first = batches.next();
    await eventually(() => {
      storage.requestProgress();
      expect(storage.health.canRequestProgress).toBe(true);
    });
    await first;
    const waiting = batches.next().catch((error: unknown) => error);
    await cluster.restart(0);
    expect(await waiting).toMatchObject({ code: 410 });
    const opened = storage.watch('/registry/', start, never, epoch)[Symbol.asyncIterator]();
    await expect(opened.next()).rejects.toMatchObject({ code: 410 });
    expect(storage.epoch).toEqual(epoch);
  });

  test('a write based on what was read before is refused, the next one is not', async () => {
    const first = await put(storage, 'a');
    const { epoch } = storage;
    await cluster.restart(0);
    await eventually(() => {
      expect(storage.epoch).not.toBe(epoch);
    });
    const value = Buffer.from('y');
    const write = (of: Epoch): ReturnType<EtcdStorage['put']> =>
      storage.put('/registry/a', value, { expected: first, epoch: of }, never);
    expect(await write(epoch)).toMatchObject({ ok: false, current: { modRevision: first } });
    expect(await write(storage.epoch)).toMatchObject({ ok: true });
  });
});

test('another cluster at the same address is a fence', async () => {
  const first = await EtcdCluster.start();
  const storage = new EtcdStorage(first.connection);
  const fences: FenceEvent[] = [];
  storage.fence.onEpoch((fenced) => fenced && fences.push(fenced));
  try {
    await storage.currentRevision(never);
    const batches = storage.watch('/registry/', 0, never)[Symbol.asyncIterator]();
    const waiting = batches.next().catch((error: unknown) => error);
    await first.replace();
    expect(await waiting).toMatchObject({ code: 410 });
    expect(fences).toMatchObject([{ reason: 'clusterChanged' }]);
  } finally {
    storage.close();
    await first.stop();
  }
});
