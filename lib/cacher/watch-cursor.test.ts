import { expect, test } from '@jest/globals';
import { ResourceCounts } from './resource-counts.ts';
import { resourceCacheAt } from './testing/item-source.ts';
import { LogCursor } from './watch-cursor.ts';
import { expired } from '../base/status.ts';

const { signal } = new AbortController();

function cursorAt(revision: number): LogCursor {
  const { cache, log } = resourceCacheAt(revision);
  const { watchIndex } = cache.log;
  return new LogCursor({
    log,
    watchIndex,
    bucket: watchIndex.join({ by: 'all' }, revision),
    predicate: undefined,
    mayHold: () => true,
    showsUnreadable: false,
    after: revision,
    state: undefined,
    bookmarkMs: 0,
    counts: new ResourceCounts(),
    onClose: () => undefined,
  });
}

test('a wake that comes after the end changes nothing', async () => {
  const cursor = cursorAt(10);
  const waiting = cursor.next(signal);
  cursor.close();
  cursor.wake();
  await expect(waiting).resolves.toBeUndefined();
  await expect(cursor.next(signal)).resolves.toBeUndefined();
  expect(cursor.position).toBe(10);
});

test('a failure is the answer to the call that waits, and to all after it', async () => {
  const cursor = cursorAt(10);
  const waiting = cursor.next(signal);
  cursor.fail(expired('the resource was removed'));
  cursor.close();
  await expect(waiting).rejects.toThrow('the resource was removed');
  await expect(cursor.next(signal)).rejects.toThrow('the resource was removed');
});

test('a call that is given up leaves the watch where it is', async () => {
  const cursor = cursorAt(10);
  const given = new AbortController();
  const waiting = cursor.next(given.signal);
  given.abort(new Error('the client left'));
  await expect(waiting).rejects.toThrow('the client left');
  cursor.wake();
  expect(cursor.position).toBe(10);
  const again = cursor.next(signal);
  cursor.close();
  await expect(again).resolves.toBeUndefined();
});
