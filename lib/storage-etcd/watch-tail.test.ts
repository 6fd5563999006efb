// What is kept of a long history, and of revisions with many events.
import { describe, expect, test } from '@jest/globals';
import type { EtcdEvent } from './rpc.ts';
import { WatchTail } from './watch-tail.ts';

const value = Buffer.from('x');
const put = (key: string, revision: number): EtcdEvent => ({
  type: 0,
  kv: { key, mod_revision: revision, create_revision: revision, version: 1, value },
  prev_kv: null,
});
/** `count` events, `perRevision` of them at each revision, from revision 1 on. */
const many = (count: number, perRevision = 1): EtcdEvent[] =>
  Array.from({ length: count }, (_, n) => put(`k${String(n)}`, 1 + Math.floor(n / perRevision)));

function tailOf(events: readonly EtcdEvent[]): WatchTail {
  const tail = new WatchTail();
  for (const event of events) tail.note(event);
  return tail;
}

/** What a store that has these events shows from the tail's start on is what was noted. */
function isShownBy(tail: WatchTail, events: readonly EtcdEvent[]): boolean {
  tail.rewind();
  const shown = events.filter(({ kv }) => kv.mod_revision >= tail.start);
  return shown.every((event) => tail.repeats(event)) && tail.isRepeated;
}

describe('the tail of a watch', () => {
  test.each([
    ['a short history', many(3), 1],
    ['a long history', many(1_000), 937],
    ['revisions of many events, the first cut', many(1_000, 40), 24],
    ['one revision of more events than are kept', many(500, 500), 1],
  ])('is compared: %s', (_what, events, start) => {
    const tail = tailOf(events);
    expect(tail.start).toBe(start);
    expect(isShownBy(tail, events)).toBe(true);
    expect(isShownBy(tail, [...events, put('later', 1_001)])).toBe(false);
    expect(isShownBy(tail, events.slice(0, -1))).toBe(false);
    // The comparison starts over each time.
    expect(isShownBy(tail, events)).toBe(true);
  });

  test('accepts every event that it keeps', () => {
    const events = many(100);
    const tail = tailOf(events);
    for (let index = 36; index < 100; index++) {
      expect(isShownBy(tail, events.with(index, put('other', index + 1)))).toBe(false);
    }
    expect(isShownBy(tail, events.with(35, put('other', 36)))).toBe(true);
  });

  test('goes on after the comparison', () => {
    const events = many(100);
    const tail = tailOf(events.slice(0, 90));
    expect(isShownBy(tail, events.slice(0, 90))).toBe(true);
    for (const event of events.slice(90)) tail.note(event);
    expect(isShownBy(tail, events)).toBe(true);
  });

  test('forgets what was compacted', () => {
    const events = many(10);
    const tail = tailOf(events);
    tail.forget(8);
    expect(tail.start).toBe(9);
    expect(isShownBy(tail, events)).toBe(true);
    tail.forget(10);
    expect(tail.isEmpty).toBe(true);
  });
});
