// The part of the storage contract that is about several keys at a time.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Change, Storage } from './storage.ts';
import { brief, eventually, nextWithEvents } from './testing/events.ts';
import { bytes, newPlace, text } from './testing/place.ts';
import type { Place } from './testing/place.ts';

/** Registers the tests. `setup` is called when they run. */
export function describeTransactions(setup: () => { readonly storage: Storage }): void {
  describe('transactions', () => {
    let storage: Storage;
    let prefix: string;
    let ending: AbortController;
    let signal: AbortSignal;
    let created: Place['created'];
    beforeEach(() => {
      ({ storage, prefix, ending, signal, created } = newPlace(setup().storage));
    });
    afterEach(() => {
      ending.abort(new Error('the test is over'));
    });

    const put = (key: string, value: string): Change => ({
      type: 'put',
      key: prefix + key,
      value: bytes(value),
    });
    const valueOf = async (key: string): Promise<string | undefined> =>
      text((await storage.get(prefix + key, signal)).item?.value);

    test('all changes happen at one revision, under conditions on other keys', async () => {
      const guard = await created('guard', 'x');
      const old = await created('old', 'x');
      const result = await storage.transact(
        {
          conditions: [
            { key: `${prefix}guard`, expected: guard },
            { key: `${prefix}old`, expected: old },
            { key: `${prefix}new`, expected: 0 },
          ],
          changes: [put('new', 'made'), { type: 'delete', key: `${prefix}old` }],
        },
        signal,
      );
      const revision = result.ok ? result.revision : 0;
      const { item } = await storage.get(`${prefix}new`, signal);
      expect(item).toMatchObject({ modRevision: revision, createRevision: revision });
      expect(await valueOf('old')).toBeUndefined();
      expect(await valueOf('guard')).toBe('x');
    });

    test.each([0, 1, 2])('condition %d of three fails: nothing happens', async (broken) => {
      const [first, second] = [await created('a', 'one'), await created('b', 'two')];
      const held = [
        { key: `${prefix}a`, expected: first },
        { key: `${prefix}b`, expected: second },
        { key: `${prefix}c`, expected: 0 },
      ];
      const conditions = held.map((one, at) => (at === broken ? { ...one, expected: 5 } : one));
      const changes: readonly Change[] = [
        put('c', 'new'),
        put('a', 'new'),
        { type: 'delete', key: `${prefix}b` },
      ];
      const lost = await storage.transact({ conditions, changes }, signal);
      expect(lost.ok).toBe(false);
      const current = lost.ok ? [] : lost.current;
      expect(current.map((item) => text(item?.value))).toEqual(['one', 'two', undefined]);
      expect(await Promise.all(['a', 'b', 'c'].map(valueOf))).toEqual(['one', 'two', undefined]);
    });

    test('watchers see the changes in one batch, in their order', async () => {
      const old = await created('old', 'x');
      const batches = storage.watch(prefix, old, signal)[Symbol.asyncIterator]();
      const first = nextWithEvents(batches);
      const changes: readonly Change[] = [
        put('z', '1'),
        { type: 'delete', key: `${prefix}old` },
        put('a', '2'),
      ];
      const result = await storage.transact({ conditions: [], changes }, signal);
      const revision = String(result.ok ? result.revision : 0);
      expect((await first).events.map(brief)).toEqual([
        `put ${prefix}z ${revision} 1`,
        `delete ${prefix}old ${revision}`,
        `put ${prefix}a ${revision} 2`,
      ]);
    });

    test('racing transactions count each object exactly once', async () => {
      await created('used', '0');
      await Promise.all(Array.from({ length: 12 }, (_, index) => countedCreate(index)));
      expect(await valueOf('used')).toBe('12');
      const page = await storage.list({ prefix, limitCount: 0 }, signal);
      expect(page.items).toHaveLength(13);
    });

    /** Makes an object and counts it, in one transaction. */
    async function countedCreate(index: number): Promise<void> {
      let { item: used } = await storage.get(`${prefix}used`, signal);
      for (;;) {
        const conditions = [
          { key: `${prefix}used`, expected: used?.modRevision ?? 0 },
          { key: `${prefix}object${String(index)}`, expected: 0 },
        ];
        const count = String(Number(text(used?.value)) + 1);
        const changes = [put('used', count), put(`object${String(index)}`, 'x')];
        const result = await storage.transact({ conditions, changes }, signal);
        if (result.ok) return;
        [used] = result.current;
      }
    }

    test('one of the changes may have a time to live', async () => {
      const changes: readonly Change[] = [
        { type: 'put', key: `${prefix}mortal`, value: bytes('x'), ttlSeconds: 1 },
        put('lasting', 'x'),
      ];
      await storage.transact({ conditions: [], changes }, signal);
      await eventually(async () => {
        expect(await valueOf('mortal')).toBeUndefined();
      });
      expect(await valueOf('lasting')).toBe('x');
    }, 15_000);

    test.each([
      ['values together larger than etcd takes', 2, 900_000, /1800000 bytes.*limit is/],
      ['more changes than etcd takes', 129, 1, /129 objects.*limit is 128/],
    ])('%s are a 413, nothing is written', async (_, count, size, message) => {
      const changes = Array.from({ length: count }, (__, at) => put(`k${String(at)}`, 'x'));
      const large = changes.map((one) => ({ ...one, value: new Uint8Array(size) }));
      const failed = storage.transact({ conditions: [], changes: large }, signal);
      await expect(failed).rejects.toMatchObject({ code: 413 });
      await expect(failed).rejects.toThrow(message);
      expect(await valueOf('k0')).toBeUndefined();
    });
  });
}
