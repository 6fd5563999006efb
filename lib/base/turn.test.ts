import { describe, expect, test } from '@jest/globals';
import { inTurns } from './steps.ts';
import type { Steps } from './steps.ts';
import { isLongTurn, nextTurn, ownTurn } from './turn.ts';
import { Yielder } from './yielder.ts';

/** The turns in which something happened, by the number of immediates that have run. */
function countTurns(): { readonly count: () => number; stop(): void } {
  let count = 0;
  let isEnded = false;
  const next = (): void => {
    count += 1;
    if (!isEnded) setImmediate(next);
  };
  setImmediate(next);
  return { count: () => count, stop: () => void (isEnded = true) };
}

describe('a turn of its own', () => {
  test('is given to those who wait one after the other, in their order', async () => {
    const turns = countTurns();
    const served: { name: string; turn: number }[] = [];
    const wait = async (name: string): Promise<void> => {
      await ownTurn();
      served.push({ name, turn: turns.count() });
    };
    await Promise.all(['first', 'second', 'third'].map(wait));
    turns.stop();
    expect(served.map(({ name }) => name)).toEqual(['first', 'second', 'third']);
    expect(new Set(served.map(({ turn }) => turn)).size).toBe(3);
  });

  test('comes again only after the others had theirs', async () => {
    const order: string[] = [];
    const work = async (name: string, count: number): Promise<void> => {
      for (let at = 0; at < count; at++) {
        await ownTurn();
        order.push(name);
      }
    };
    await Promise.all([work('long', 3), work('short', 1)]);
    expect(order).toEqual(['long', 'short', 'long', 'long']);
  });

  test('begins anew, however long the one before was', async () => {
    while (!isLongTurn(2));
    await ownTurn();
    expect(isLongTurn(2)).toBe(false);
  });

  test('keeps nobody waiting who waits for the next turn alone', async () => {
    let servedCount = 0;
    const waiting = Promise.all(
      Array.from({ length: 50 }, () => ownTurn().then(() => (servedCount += 1))),
    );
    await nextTurn();
    expect(servedCount).toBeLessThan(50);
    await waiting;
    expect(servedCount).toBe(50);
  });
});

describe('works in steps that begin in one turn', () => {
  test('share its slice: those after the first wait for turns of their own', async () => {
    function* work(): Steps<string> {
      for (let at = 0; at < 1_000; at++) yield;
      return 'done';
    }
    while (!isLongTurn(1));
    const begun = Array.from({ length: 5 }, () => inTurns(work(), new Yielder(1)));
    for (const result of begun) expect(result).toBeInstanceOf(Promise);
    const results = await Promise.all(begun.map((result) => Promise.resolve(result)));
    expect(results).toEqual(Array<string>(5).fill('done'));
  });
});
