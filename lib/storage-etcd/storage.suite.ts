// The storage contract as tests: the same claims hold for etcd-storage and for storage seen through
// the cacher. The caller gives a Storage on a prefix of its own; tests never delete what they did
// not write.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { StatusError } from '../base/status.ts';
import { pagesOf } from './range.ts';
import { describeTransactions } from './storage-transactions.suite.ts';
import { bytes, newPlace, revisionOf, text } from './testing/place.ts';
import type { Place } from './testing/place.ts';
import { brief, collect, eventually, keyOf } from './testing/events.ts';
import { nextWithEvents, pause, revisionOfEvent } from './testing/events.ts';
import type { Revision, Storage } from './storage.ts';

export interface StorageSuiteSetup {
  readonly storage: Storage;
  /** Compacts the history up to `revision` at once. */
  compact(revision: Revision): Promise<void>;
}

const statusOf = async (work: Promise<unknown>): Promise<number> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof StatusError ? error.code : 0;
};

/**
 * Registers the suite. `setup` is called when the tests run, once `beforeAll` of the caller is
 * through.
 */
export function describeStorage(name: string, setup: () => StorageSuiteSetup): void {
  describe(`${name} keeps the storage contract`, () => {
    let storage: Storage;
    let prefix: string;
    let ending: AbortController;
    let signal: AbortSignal;
    let create: Place['create'];
    let created: Place['created'];
    beforeEach(() => {
      ({ storage, prefix, ending, signal, create, created } = newPlace(setup().storage));
    });
    afterEach(() => {
      ending.abort(new Error('the test is over'));
    });

    describe('writes', () => {
      test('create stores the bytes and answers the revision that a read shows', async () => {
        const revision = await created('a', 'one');
        const { item, revision: readAt } = await storage.get(`${prefix}a`, signal);
        expect(text(item?.value)).toBe('one');
        expect(item).toMatchObject({ modRevision: revision, createRevision: revision });
        expect(readAt).toBeGreaterThanOrEqual(revision);
      });

      test('get of an absent key answers undefined and the revision of the store', async () => {
        const revision = await created('a', 'one');
        const answer = await storage.get(`${prefix}absent`, signal);
        expect(answer.item).toBeUndefined();
        expect(answer.revision).toBeGreaterThanOrEqual(revision);
      });

      test('create of an existing key changes nothing and returns what is stored', async () => {
        const revision = await created('a', 'one');
        const lost = await create('a', 'two');
        expect(lost).toMatchObject({ ok: false, current: { modRevision: revision } });
        expect(text(lost.ok ? undefined : lost.current?.value)).toBe('one');
      });

      test('update with the right revision keeps the create revision', async () => {
        const first = await created('a', 'one');
        const result = await storage.put(`${prefix}a`, bytes('two'), { expected: first }, signal);
        const { item } = await storage.get(`${prefix}a`, signal);
        expect(item).toMatchObject({ modRevision: revisionOf(result), createRevision: first });
        expect(text(item?.value)).toBe('two');
      });

      test('update with an old revision loses and shows the winner', async () => {
        const first = await created('a', 'one');
        await storage.put(`${prefix}a`, bytes('two'), { expected: first }, signal);
        const lost = await storage.put(`${prefix}a`, bytes('three'), { expected: first }, signal);
        expect(text(lost.ok ? undefined : lost.current?.value)).toBe('two');
      });

      test('update of an absent key loses with nothing stored', async () => {
        const lost = await storage.put(`${prefix}a`, bytes('x'), { expected: 7 }, signal);
        expect(lost).toEqual({ ok: false, current: undefined });
      });

      test('delete answers the revision of the deletion and leaves nothing', async () => {
        const first = await created('a', 'one');
        const deletion = await storage.delete(`${prefix}a`, { expected: first }, signal);
        expect(revisionOf(deletion)).toBeGreaterThan(first);
        expect((await storage.get(`${prefix}a`, signal)).item).toBeUndefined();
      });

      test('delete with an old revision deletes nothing', async () => {
        const first = await created('a', 'one');
        await storage.put(`${prefix}a`, bytes('two'), { expected: first }, signal);
        const lost = await storage.delete(`${prefix}a`, { expected: first }, signal);
        expect(text(lost.ok ? undefined : lost.current?.value)).toBe('two');
        expect((await storage.get(`${prefix}a`, signal)).item).toBeDefined();
      });

      test('of many racing creates of one key exactly one wins', async () => {
        const results = await Promise.all(
          Array.from({ length: 20 }, (_, index) => create('raced', String(index))),
        );
        const winner = results.findIndex((result) => result.ok);
        expect(results.filter((result) => result.ok)).toHaveLength(1);
        const { item } = await storage.get(`${prefix}raced`, signal);
        expect(text(item?.value)).toBe(String(winner));
      });

      test('racing read-modify-write loops lose no increment', async () => {
        await created('counter', '0');
        await Promise.all(Array.from({ length: 8 }, () => increment(storage, prefix, 5, signal)));
        const { item } = await storage.get(`${prefix}counter`, signal);
        expect(text(item?.value)).toBe('40');
      });

      test('racing delete and update: one of them wins', async () => {
        const first = await created('a', 'one');
        const [deletion, update] = await Promise.all([
          storage.delete(`${prefix}a`, { expected: first }, signal),
          storage.put(`${prefix}a`, bytes('two'), { expected: first }, signal),
        ]);
        expect(deletion.ok).not.toBe(update.ok);
      });

      test('an empty value is a value', async () => {
        await created('empty', '');
        const { item } = await storage.get(`${prefix}empty`, signal);
        expect(item?.value).toBeInstanceOf(Uint8Array);
        expect(item?.value).toHaveLength(0);
      });

      test('a value larger than etcd takes is a 413, nothing is written', async () => {
        const large = new Uint8Array(2 * 1024 * 1024);
        const failed = storage.put(`${prefix}large`, large, { expected: 0 }, signal);
        await expect(failed).rejects.toMatchObject({ code: 413, reason: 'RequestEntityTooLarge' });
        await expect(failed).rejects.toThrow(/2097152 bytes.*limit is 1572864/);
        expect((await storage.get(`${prefix}large`, signal)).item).toBeUndefined();
      });

      test('a value with a time to live is there until then, and goes', async () => {
        const put = { expected: 0, ttlSeconds: 1 };
        await storage.put(`${prefix}mortal`, bytes('x'), put, signal);
        await pause(900);
        expect((await storage.get(`${prefix}mortal`, signal)).item).toBeDefined();
        await eventually(async () => {
          expect((await storage.get(`${prefix}mortal`, signal)).item).toBeUndefined();
        });
      }, 15_000);

      test('a write after an abort is refused with the reason', async () => {
        ending.abort(new Error('stop'));
        await expect(create('a', 'one')).rejects.toThrow('stop');
      });
    });

    describeTransactions(setup);

    describe('lists', () => {
      test('items come in key order, of this prefix only', async () => {
        for (const key of ['b', 'a', 'c/x', 'c']) await created(key, key);
        const page = await storage.list({ prefix, limitCount: 0 }, signal);
        const keys = page.items.map((item) => item.key.slice(prefix.length));
        expect(keys).toEqual(['a', 'b', 'c', 'c/x']);
        expect(page.remainingCount).toBe(0);
        const below = await storage.list({ prefix: `${prefix}c/`, limitCount: 0 }, signal);
        expect(below.items).toHaveLength(1);
      });

      test('pages at one revision show that state whatever is written between', async () => {
        for (const key of ['a', 'b', 'c', 'd', 'e']) await created(key, 'old');
        const first = await storage.list({ prefix, limitCount: 2 }, signal);
        expect(first.remainingCount).toBe(3);
        const at = first.revision;
        await created('aa', 'new');
        await created('cc', 'new');
        const afterKey = `${prefix}b`;
        const second = await storage.list({ prefix, afterKey, limitCount: 2, at }, signal);
        expect(second.items.map((item) => item.key.slice(prefix.length))).toEqual(['c', 'd']);
        expect(second.remainingCount).toBe(1);
        const rest = { prefix, afterKey: `${prefix}d`, limitCount: 2, at };
        const third = await storage.list(rest, signal);
        expect(third.items.map((item) => item.key.slice(prefix.length))).toEqual(['e']);
        expect(third.remainingCount).toBe(0);
      });

      test('all pages together are the state at one revision', async () => {
        const keys = Array.from({ length: 70 }, (_, index) => `k${String(100 + index)}`);
        await Promise.all(keys.map((key) => created(key, 'x'.repeat(1_000))));
        const seen: string[] = [];
        for await (const page of pagesOf(storage, { prefix }, signal)) {
          for (const item of page.items) seen.push(item.key.slice(prefix.length));
          await created(`z${String(seen.length)}`, 'later');
        }
        expect(seen).toEqual(keys);
      });

      test('a compacted revision is a 410', async () => {
        const old = await created('a', 'one');
        const now = await created('b', 'two');
        await setup().compact(now);
        const failed = storage.list({ prefix, limitCount: 0, at: old - 1 }, signal);
        await expect(failed).rejects.toMatchObject({ code: 410, reason: 'Expired' });
      });

      test('a revision of the future is a 504 that says so', async () => {
        const at = (await storage.currentRevision(signal)) + 1_000;
        const failed = storage.list({ prefix, limitCount: 0, at }, signal);
        await expect(failed).rejects.toMatchObject({ code: 504 });
        await expect(failed).rejects.toThrow(/Too large resource version/);
      });
    });

    test('the current revision is never below a finished write', async () => {
      for (let index = 0; index < 10; index++) {
        const revision = await created(`r${String(index)}`, 'x');
        expect(await storage.currentRevision(signal)).toBeGreaterThanOrEqual(revision);
      }
    });

    describe('watches', () => {
      test('every change after the position, in order, with its revision', async () => {
        const first = await created('a', 'one');
        const events = collect(storage.watch(prefix, first, signal), 3);
        const second = revisionOf(
          await storage.put(`${prefix}a`, bytes('two'), { expected: first }, signal),
        );
        const third = await created('b', 'x');
        const last = revisionOf(await storage.delete(`${prefix}a`, { expected: second }, signal));
        expect((await events).map(brief)).toEqual([
          `put ${prefix}a ${String(second)} two`,
          `put ${prefix}b ${String(third)} x`,
          `delete ${prefix}a ${String(last)}`,
        ]);
      });

      test('history is delivered first, without gap or repeat, then what is new', async () => {
        const start = await storage.currentRevision(signal);
        for (let index = 0; index < 30; index++) await created(`h${String(index)}`, 'x');
        const events = collect(storage.watch(prefix, start, signal), 60);
        for (let index = 30; index < 60; index++) await created(`h${String(index)}`, 'x');
        const keys = (await events).map(keyOf);
        expect(keys).toEqual(
          Array.from({ length: 60 }, (_, index) => `${prefix}h${String(index)}`),
        );
      });

      test('other prefixes are not seen', async () => {
        const start = await storage.currentRevision(signal);
        const events = collect(storage.watch(`${prefix}in/`, start, signal), 1);
        await created('inside', 'no');
        await created('in/x', 'yes');
        expect((await events).map(keyOf)).toEqual([`${prefix}in/x`]);
      });

      test('changes of one transaction arrive in one batch', async () => {
        const start = await storage.currentRevision(signal);
        const keys = Array.from({ length: 40 }, (_, index) => `${prefix}t${String(100 + index)}`);
        const batches = storage.watch(prefix, start, signal)[Symbol.asyncIterator]();
        const first = nextWithEvents(batches);
        const value = bytes('x'.repeat(30_000));
        const changes = keys.map((key) => ({ type: 'put', key, value }) as const);
        await storage.transact({ conditions: [], changes }, signal);
        const batch = await first;
        expect(batch.events.map(keyOf)).toEqual(keys);
        expect(new Set(batch.events.map(revisionOfEvent)).size).toBe(1);
      });

      test('batch revisions rise strictly, events lie within them', async () => {
        const start = await storage.currentRevision(signal);
        const writer = Promise.all(
          Array.from({ length: 200 }, (_, index) => created(`w${String(index)}`, 'x')),
        );
        let last = start;
        let count = 0;
        for await (const batch of storage.watch(prefix, start, signal)) {
          for (const event of batch.events) {
            expect(revisionOfEvent(event)).toBeGreaterThan(last);
            last = revisionOfEvent(event);
          }
          expect(batch.revision).toBeGreaterThanOrEqual(last);
          last = batch.revision;
          count += batch.events.length;
          if (count === 200) break;
        }
        await writer;
      });

      test('a new watch from a batch’s revision continues exactly', async () => {
        const start = await storage.currentRevision(signal);
        for (let index = 0; index < 10; index++) await created(`r${String(index)}`, 'x');
        const keys: string[] = [];
        let position = start;
        while (keys.length < 10) {
          const part = storage.watch(prefix, position, signal)[Symbol.asyncIterator]();
          const batch = await nextWithEvents(part);
          await part.return?.();
          for (const event of batch.events) keys.push(keyOf(event));
          position = batch.revision;
          if (keys.length < 12) await created(`s${String(keys.length)}`, 'x');
        }
        const expected = Array.from({ length: 10 }, (_, index) => `${prefix}r${String(index)}`);
        expect(keys.slice(0, 10)).toEqual(expected);
        expect(new Set(keys).size).toBe(keys.length);
      });

      test('a compacted position is a 410', async () => {
        const old = await created('a', 'one');
        await created('b', 'two');
        const now = await created('c', 'three');
        await setup().compact(now);
        const batches = storage.watch(prefix, old, signal)[Symbol.asyncIterator]();
        expect(await statusOf(batches.next())).toBe(410);
      });

      test('a position that the store has not reached is a 410', async () => {
        const ahead = (await storage.currentRevision(signal)) + 1_000;
        const batches = storage.watch(prefix, ahead, signal)[Symbol.asyncIterator]();
        expect(await statusOf(batches.next())).toBe(410);
      });

      test('the end of a time to live is a deletion', async () => {
        const start = await storage.currentRevision(signal);
        const events = collect(storage.watch(prefix, start, signal), 2);
        const put = { expected: 0, ttlSeconds: 1 };
        await storage.put(`${prefix}mortal`, bytes('x'), put, signal);
        expect((await events).map((event) => event.type)).toEqual(['put', 'delete']);
      }, 15_000);

      test('the signal ends a waiting watch with its reason', async () => {
        const start = await storage.currentRevision(signal);
        const batches = storage.watch(prefix, start, signal)[Symbol.asyncIterator]();
        const waiting = nextWithEvents(batches);
        setTimeout(() => {
          ending.abort(new Error('enough'));
        }, 50);
        await expect(waiting).rejects.toThrow('enough');
      });
    });
  });
}

async function increment(
  storage: Storage,
  prefix: string,
  count: number,
  signal: AbortSignal,
): Promise<void> {
  const key = `${prefix}counter`;
  let { item } = await storage.get(key, signal);
  for (let done = 0; done < count;) {
    const next = bytes(String(Number(text(item?.value)) + 1));
    const result = await storage.put(key, next, { expected: item?.modRevision ?? 0 }, signal);
    if (result.ok) {
      done++;
      ({ item } = await storage.get(key, signal));
    } else {
      item = result.current;
    }
  }
}
