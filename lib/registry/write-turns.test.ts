import { describe, expect, test } from '@jest/globals';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Item } from '../cacher/resource-view.ts';
import { WriteTurns } from './write-turns.ts';
import type { Found } from './write-turns.ts';

/** Timers run when the test says so. */
class ManualClock implements Clock {
  readonly timers = new Set<() => void>();
  nowMs = (): number => 0;
  monotonicMs = (): number => 0;
  after = (_delayMs: number, run: () => void): (() => void) => {
    this.timers.add(run);
    return () => this.timers.delete(run);
  };
}

const key = '/registry/configmaps/ns/a';
const never = new AbortController().signal;
const epoch = { history: 1, replacedUpTo: 0 };
const stored = (revision: number): Found => ({ item: { revision } as Item, epoch });
/** Lets everything that is settled be noticed. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('turns at an object', () => {
  test('come in the order of asking, each with what was stored last', async () => {
    const turns = new WriteTurns(new ManualClock());
    const seen: string[] = [];
    const first = await turns.take(key, never);
    const others = ['b', 'c', 'd'].map(async (name, index) => {
      const turn = await turns.take(key, never);
      seen.push(`${name} after ${String(turn.newest?.item.revision)}`);
      await settle();
      // The third writer stores nothing.
      turn.end(index === 1 ? undefined : stored(index + 2));
    });
    await settle();
    expect(seen).toEqual([]);
    first.end(stored(1));
    await Promise.all(others);
    expect(seen).toEqual(['b after 1', 'c after 2', 'd after 2']);
    expect(turns.isAwaited(key)).toBe(false);
  });

  test('at other objects are no matter', async () => {
    const turns = new WriteTurns(new ManualClock());
    await turns.take(key, never);
    expect(turns.isAwaited(`${key}b`)).toBe(false);
    expect((await turns.take(`${key}b`, never)).newest).toBeUndefined();
  });

  test('are given up by those who leave, and come to the next one only then', async () => {
    const clock = new ManualClock();
    const turns = new WriteTurns(clock);
    const first = await turns.take(key, never);
    const leaving = new AbortController();
    const second = turns.take(key, leaving.signal);
    let hasTurn = false;
    const third = turns.take(key, never).then((turn) => {
      hasTurn = true;
      return turn;
    });
    leaving.abort(new Error('left'));
    await expect(second).rejects.toThrow('left');
    await settle();
    expect(hasTurn).toBe(false);
    first.end(undefined);
    (await third).end(undefined);
    expect(turns.isAwaited(key)).toBe(false);
    expect(clock.timers.size).toBe(0);
  });

  test('are not waited for without end', async () => {
    const clock = new ManualClock();
    const turns = new WriteTurns(clock);
    await turns.take(key, never);
    const second = turns.take(key, never);
    for (const run of clock.timers) run();
    expect(await second).toMatchObject({ newest: undefined });
  });

  test('are 429 when too many wait', async () => {
    const turns = new WriteTurns(new ManualClock());
    const waiting = new AbortController();
    const all = Array.from({ length: limits.writersInLineMax }, () =>
      turns.take(key, waiting.signal).catch(() => undefined),
    );
    await expect(turns.take(key, never)).rejects.toMatchObject({
      code: 429,
      details: { retryAfterSeconds: 1 },
    });
    waiting.abort(new Error('over'));
    await Promise.all(all);
  });
});
