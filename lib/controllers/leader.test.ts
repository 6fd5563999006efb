import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sleep } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import type { Item } from '../cacher/resource-view.ts';
import { intercept } from '../cacher/testing/cache-fixture.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { sent, VerbDriver } from '../registry/testing/verb-driver.ts';
import { internalClient } from '../registry/internal-client.ts';
import { TermEnded } from '../storage-etcd/fenced-storage.ts';
import type { Storage, Transaction } from '../storage-etcd/storage.ts';
import { Leader } from './leader.ts';

let registry: RegistryOnEtcd;
let replicas: Replica[];

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replicas = [await registry.replica(), await registry.replica()];
});

afterAll(async () => {
  await registry.stop();
});

const user = { name: 'leader', uid: '', groups: [], extra: {} };
const replica = (index: number): Replica => {
  const found = replicas[index];
  if (found === undefined) throw new Error('no such replica');
  return found;
};

interface Candidate {
  readonly leader: Leader;
  readonly log: string[];
  /** Writes a config map, within the last term. */
  readonly write: (name: string) => Promise<Item>;
  /** Gives the lead back. */
  readonly stop: () => Promise<void>;
}

interface CandidateOptions {
  readonly log?: string[];
  readonly leaseSeconds?: number;
  readonly renewIntervalMs?: number;
  readonly clock?: Clock;
  readonly over?: (storage: Storage) => Storage;
}

const fenceKeyOf = (name: string): string => `/registry/svc-internal/${name}`;

/** Tells in `log` when its work begins and ends. */
function candidate(
  index: number,
  name: string,
  {
    log = [],
    leaseSeconds = 1,
    renewIntervalMs = 100,
    clock = systemClock,
    over = (storage) => storage,
  }: CandidateOptions = {},
): Candidate {
  const leader = new Leader({
    leases: replica(index).store('coordination.svc.io/leases'),
    namespace: 'svc-system',
    name,
    identity: `candidate-${String(index)}`,
    client: internalClient(user),
    storage: over(replica(index).storage),
    leaseKey: `/registry/leases/svc-system/${name}`,
    fenceKey: fenceKeyOf(name),
    clock,
    log: createLogger('error', () => undefined),
    leaseSeconds,
    renewIntervalMs,
    renewDeadlineMs: leaseSeconds * 600,
  });
  const ending = new AbortController();
  let client = internalClient(user);
  const running = leader.run(async (signal, term) => {
    client = internalClient(user, term);
    log.push(`${String(index)} begins`);
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    log.push(`${String(index)} ends`);
  }, ending.signal);
  const stop = async (): Promise<void> => {
    ending.abort();
    await running;
  };
  const write = (written: string): Promise<Item> => {
    const object = { metadata: { name: written } };
    const configMaps = replica(index).store('configmaps');
    return client.create(configMaps, { namespace: 'x', object }, AbortSignal.timeout(60_000));
  };
  return { leader, log, write, stop };
}

async function until(isTrue: () => boolean): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  while (!isTrue()) await sleep(10, signal);
}

/** Resolves when the lease has been written so many times more. */
async function untilWritten(name: string, count: number): Promise<void> {
  const { view } = replica(0).store('coordination.svc.io/leases');
  const signal = AbortSignal.timeout(60_000);
  const lease = await view.get({ namespace: 'svc-system', name }, { mode: 'latest' }, signal);
  const start = { from: 'revision' as const, revision: lease?.revision ?? 0 };
  const select = { namespace: 'svc-system', name };
  const cursor = await view.watch(select, start, { bookmarks: false }, signal);
  for (let seen = 0; seen < count;) seen += (await cursor.next(signal))?.length ?? count;
  cursor.close();
}

describe('the leader', () => {
  test('is one of the replicas; the next one follows once it gave its lease back', async () => {
    const log: string[] = [];
    const first = candidate(0, 'handover', { log, leaseSeconds: 3_600 });
    await until(() => first.leader.isLeading);
    const second = candidate(1, 'handover', { log, leaseSeconds: 3_600 });
    await untilWritten('handover', 5);
    expect([first.leader.isLeading, second.leader.isLeading]).toEqual([true, false]);
    await first.stop();
    await until(() => second.leader.isLeading);
    await second.stop();
    expect(log).toEqual(['0 begins', '0 ends', '1 begins', '1 ends']);
    const lease = await new VerbDriver(replica(0)).list(
      replica(0).store('coordination.svc.io/leases'),
      'fieldSelector=metadata.name%3Dhandover',
      'svc-system',
    );
    const spec = lease.items.map((item) => sent(item)['spec']);
    expect(spec).toMatchObject([{ leaseDurationSeconds: 3_600, leaseTransitions: 1 }]);
  });

  test('gives its lease back also when it is stopped in the middle of a renewal', async () => {
    const name = 'renewing';
    const leases = replica(0).store('coordination.svc.io/leases');
    for (let round = 0; round < 30; round++) {
      const { leader, stop } = candidate(0, name, { leaseSeconds: 3_600, renewIntervalMs: 0 });
      await until(() => leader.isLeading);
      await untilWritten(name, 1);
      await sleep(round % 5, AbortSignal.timeout(60_000));
      await stop();
      const key = { namespace: 'svc-system', name };
      const lease = await leases.view.get(key, { mode: 'latest' }, AbortSignal.timeout(60_000));
      expect(lease?.object()['spec']).toMatchObject({ holderIdentity: '' });
    }
  });

  test('that is gone without a word is replaced when its lease is over', async () => {
    const leases = replica(0).store('coordination.svc.io/leases');
    const name = 'silent';
    const now = new Date().toISOString().replace('Z', '000Z');
    const spec = {
      holderIdentity: 'gone',
      leaseDurationSeconds: 1,
      renewTime: now,
      leaseTransitions: 4,
    };
    await new VerbDriver(replica(0)).create(leases, { metadata: { name }, spec }, '', 'svc-system');
    const startedAtMs = performance.now();
    const next = candidate(1, name);
    await until(() => next.leader.isLeading);
    expect(performance.now() - startedAtMs).toBeGreaterThan(800);
    const key = { namespace: 'svc-system', name };
    const signal = AbortSignal.timeout(60_000);
    const lease = await leases.view.get(key, { mode: 'latest' }, signal);
    expect(lease?.object()['spec']).toMatchObject({
      holderIdentity: 'candidate-1',
      leaseTransitions: 5,
    });
    await next.stop();
  });

  test('whose lease is taken by another ends its work, and competes again', async () => {
    const leases = replica(0).store('coordination.svc.io/leases');
    const name = 'stolen';
    const { leader, log, stop } = candidate(0, name, { leaseSeconds: 60 });
    await until(() => leader.isLeading);
    await leases.patch({
      user,
      warnings: [],
      signal: AbortSignal.timeout(60_000),
      path: { namespace: 'svc-system', name, subresource: '' },
      kind: 'merge',
      patch: Buffer.from('{"spec":{"holderIdentity":"thief","leaseDurationSeconds":1}}'),
      options: { dryRun: false, fieldManager: '', fieldValidation: 'Warn', force: undefined },
    });
    await until(() => log.includes('0 ends'));
    expect(leader.isLeading).toBe(false);
    await until(() => leader.isLeading);
    expect(log).toEqual(['0 begins', '0 ends', '0 begins']);
    await stop();
  });

  test('leads on when others write to its lease', async () => {
    const leases = replica(0).store('coordination.svc.io/leases');
    const name = 'labelled';
    const { leader, log, stop } = candidate(0, name, { leaseSeconds: 60 });
    await until(() => leader.isLeading);
    await leases.patch({
      user,
      warnings: [],
      signal: AbortSignal.timeout(60_000),
      path: { namespace: 'svc-system', name, subresource: '' },
      kind: 'merge',
      patch: Buffer.from('{"metadata":{"labels":{"a":"b"}}}'),
      options: { dryRun: false, fieldManager: '', fieldValidation: 'Warn', force: undefined },
    });
    await untilWritten(name, 5);
    expect([leader.isLeading, log]).toEqual([true, ['0 begins']]);
    await stop();
  });
});

describe('a leader that slept through the end of its lease', () => {
  const asleep = { clock: new ManualClock() };

  test('writes nothing more, ends its work, and leaves the lease to its successor', async () => {
    const name = 'slept';
    const first = candidate(0, name, asleep); // its clock stands still: it renews nothing
    await until(() => first.leader.isLeading);
    await first.write('of-the-first');
    const second = candidate(1, name);
    await until(() => second.leader.isLeading);
    expect(first.leader.isLeading).toBe(true); // it does not know yet
    await expect(first.write('late')).rejects.toThrow(TermEnded);
    await until(() => first.log.includes('0 ends'));
    await second.write('of-the-second');
    const maps = replica(1).store('configmaps');
    const { items } = await new VerbDriver(replica(1)).list(maps, '', 'x');
    expect(items.map((item) => item.name)).toEqual(['of-the-first', 'of-the-second']);
    await first.stop();
    expect(second.leader.isLeading).toBe(true);
    await second.stop();
  });

  test('before its term began does not begin it: the term of its successor goes on', async () => {
    const name = 'slept-early';
    const waking = Promise.withResolvers<undefined>();
    let isWaiting = false;
    const over = (storage: Storage): Storage =>
      intercept(storage, {
        async transact(transaction: Transaction, signal) {
          isWaiting = true;
          await waking.promise;
          return storage.transact(transaction, signal);
        },
      });
    const first = candidate(0, name, { ...asleep, over });
    await until(() => isWaiting);
    const second = candidate(1, name);
    await until(() => second.leader.isLeading);
    waking.resolve(undefined);
    await first.stop();
    expect(first.log).toEqual([]);
    await second.write('goes-on');
    await second.stop();
    expect(second.log).toEqual(['1 begins', '1 ends']);
  });

  test('whose term somebody ended gives its lease back and leads in a new one', async () => {
    const name = 'ended';
    const { leader, log, write, stop } = candidate(0, name, { leaseSeconds: 3_600 });
    await until(() => leader.isLeading);
    const { storage } = replica(1);
    const signal = AbortSignal.timeout(60_000);
    const { item } = await storage.get(fenceKeyOf(name), signal);
    await storage.delete(fenceKeyOf(name), { expected: item?.modRevision ?? 0 }, signal);
    await expect(write('refused')).rejects.toThrow(TermEnded);
    await until(() => log.length === 3);
    await write('taken');
    await stop();
    expect(log).toEqual(['0 begins', '0 ends', '0 begins', '0 ends']);
  });
});
