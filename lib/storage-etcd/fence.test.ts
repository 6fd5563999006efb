// A restored backup or another cluster behind the same address fences the replica.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { EtcdStorage } from './etcd-storage.ts';
import { Fence } from './fence.ts';
import type { FenceEvent } from './fence.ts';
import type { Revision } from './storage.ts';
import { EtcdCluster } from './testing/etcd-process.ts';

const never = new AbortController().signal;

describe('what an answer shows', () => {
  let fence: Fence;
  let events: FenceEvent[];
  beforeEach(() => {
    fence = new Fence();
    events = [];
    fence.onFence((event) => events.push(event));
    fence.observe('1', 10, 0);
  });

  test('answers that overtook each other are no fence', () => {
    fence.observe('1', 20, 10);
    fence.observe('1', 15, 10);
    expect(events).toEqual([]);
    expect(fence.seenRevision).toBe(20);
  });
  test('a revision below one seen before the request was sent is', () => {
    fence.observe('1', 20, 10);
    fence.observe('1', 15, 20);
    const event = { reason: 'revisionWentBack', clusterId: '1', revision: 15, seenRevision: 20 };
    expect(events).toEqual([event]);
    expect(fence.seenRevision).toBe(15);
  });
  test('so is another cluster, whatever its revision', () => {
    fence.observe('2', 500, 10);
    expect(events).toMatchObject([{ reason: 'clusterChanged', clusterId: '2' }]);
  });
  test('answers of requests from before a fence do not trip it again', () => {
    fence.observe('1', 20, 10);
    fence.observe('1', 15, 20);
    fence.observe('1', 16, 20);
    expect(events).toHaveLength(1);
  });
});

describe('a restored backup', () => {
  let cluster: EtcdCluster;
  let storage: EtcdStorage;
  let fences: FenceEvent[];
  let backup: string;
  let seen: Revision;
  const put = async (on: EtcdStorage, key: string): Promise<Revision> => {
    const result = await on.put(`/registry/${key}`, Buffer.from('x'), { expected: 0 }, never);
    return result.ok ? result.revision : 0;
  };

  beforeEach(async () => {
    cluster = await EtcdCluster.start();
    storage = new EtcdStorage(cluster.connection);
    fences = [];
    storage.fence.onFence((event) => fences.push(event));
    await put(storage, 'before');
    backup = await cluster.saveSnapshot('backup.db');
    for (let index = 0; index < 5; index++) seen = await put(storage, `after-${String(index)}`);
  }, 60_000);
  afterEach(async () => {
    storage.close();
    await cluster.stop();
  });

  test('ends the watch with 410 and fences before the first answer is returned', async () => {
    const batches = storage.watch('/registry/', 0, never)[Symbol.asyncIterator]();
    await batches.next();
    const waiting = (async () => {
      for (;;) await batches.next();
    })().catch((error: unknown) => error);
    await cluster.restoreSnapshot(backup);
    expect(await waiting).toMatchObject({ code: 410 });
    expect(fences).toMatchObject([{ reason: 'revisionWentBack', seenRevision: seen }]);
    const { item } = await storage.get('/registry/after-0', never);
    expect(item).toBeUndefined();
  }, 60_000);

  test('that has since grown past what was seen is known by its history', async () => {
    const batches = storage.watch('/registry/', seen - 1, never)[Symbol.asyncIterator]();
    expect((await batches.next()).value).toMatchObject({ revision: seen });
    const waiting = (async () => {
      for (;;) await batches.next();
    })().catch((error: unknown) => error);
    await cluster.kill(0);
    await cluster.restoreSnapshot(backup, async (endpoint) => {
      const other = new EtcdStorage({ endpoints: [endpoint] });
      for (let index = 0; index < 10; index++) await put(other, `other-${String(index)}`);
      other.close();
    });
    expect(await waiting).toMatchObject({ code: 410 });
    expect(fences).toMatchObject([{ reason: 'historyDiffers' }]);
  }, 60_000);
});

test('another cluster at the same address is a fence', async () => {
  const first = await EtcdCluster.start();
  const storage = new EtcdStorage(first.connection);
  const fences: FenceEvent[] = [];
  storage.fence.onFence((event) => fences.push(event));
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
}, 60_000);
