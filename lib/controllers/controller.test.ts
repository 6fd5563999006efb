import { describe, expect, test } from '@jest/globals';
import { limits } from '../base/limits.ts';
import { createLogger } from '../base/log.ts';
import { nextTurn } from '../base/turn.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { KeyedQueue } from './controller.ts';
import type { Outcome, Reconcile } from './controller.ts';

const log = createLogger('error', () => undefined);

interface Fixture {
  readonly queue: KeyedQueue;
  readonly clock: ManualClock;
  readonly stop: () => Promise<void>;
}

function started(reconcile: Reconcile, workers = 4): Fixture {
  const clock = new ManualClock();
  const queue = new KeyedQueue({ name: 'test', clock, log, workers }, reconcile);
  const ending = new AbortController();
  const running = queue.run(ending.signal);
  const stop = async (): Promise<void> => {
    ending.abort();
    await running;
  };
  return { queue, clock, stop };
}

/** A turn that was long for the machine's sake gives work away to later ones. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}

describe('a keyed queue', () => {
  test('runs a key once at a time, and once more when it was added meanwhile', async () => {
    const runs: string[] = [];
    const finish: (() => void)[] = [];
    const { queue, stop } = started(async (key) => {
      runs.push(key);
      await new Promise<void>((resolve) => finish.push(resolve));
      return 'done';
    });
    for (const key of ['a', 'a', 'b']) queue.add(key);
    expect(runs).toEqual(['a', 'b']);
    for (let count = 0; count < 5; count++) queue.add('a');
    finish.shift()?.();
    await settle();
    expect(runs).toEqual(['a', 'b', 'a']);
    for (const one of finish) one();
    await settle();
    expect(queue.size).toBe(0);
    await stop();
  });

  test('runs keys in the order in which they came, however many there are', async () => {
    const runs: string[] = [];
    const keys = Array.from({ length: 1_000 }, (_, index) => String(index));
    const { queue, stop } = started((key) => {
      runs.push(key);
      if (Number(key) % 3 === 1) queue.add(`${key} again`);
      return Promise.resolve('done');
    }, 1);
    for (const key of keys) queue.add(key);
    while (queue.size > 0) await settle();
    const later = keys.filter((key) => Number(key) % 3 === 1).map((key) => `${key} again`);
    expect(runs.slice(0, keys.length)).toEqual(keys);
    expect(runs.slice(keys.length)).toEqual(later);
    await stop();
  });

  test('works on no more keys at a time than it has workers', async () => {
    let running = 0;
    let most = 0;
    const { queue, stop } = started(async () => {
      most = Math.max(most, ++running);
      await settle();
      running--;
      return 'done';
    }, 2);
    for (let count = 0; count < 10; count++) queue.add(String(count));
    while (queue.size > 0) await settle();
    expect(most).toBe(2);
    await stop();
  });

  test.each<[string, () => Promise<Outcome>]>([
    ['fails', () => Promise.reject(new Error('no'))],
    ['is not finished', () => Promise.resolve('again')],
  ])('tries a key that %s again, later and later up to a bound', async (_name, outcome) => {
    let runCount = 0;
    const { queue, clock, stop } = started(() => {
      runCount++;
      return outcome();
    });
    queue.add('a');
    const waits: number[] = [];
    for (let count = 0; count < 10; count++) {
      await settle();
      expect(clock.waitsMs).toHaveLength(1);
      waits.push(...clock.waitsMs);
      clock.pass(waits.at(-1) ?? 0);
    }
    await settle();
    expect(runCount).toBe(11);
    expect(waits.slice(0, 3)).toEqual([250, 500, 1_000]);
    expect(waits.at(-1)).toBe(limits.controllerRetryLongestMs);
    await stop();
    expect(clock.waitsMs).toEqual([]);
  });

  test('runs a waiting key at once when it is added, and forgets its failures', async () => {
    const outcomes: Outcome[] = ['again', 'again', 'done', 'again'];
    const { queue, clock, stop } = started(() => Promise.resolve(outcomes.shift() ?? 'done'));
    queue.add('a');
    await settle();
    queue.add('a');
    await settle();
    expect(clock.waitsMs).toEqual([500]);
    queue.add('a');
    await settle();
    expect(queue.size).toBe(0);
    queue.add('a');
    await settle();
    expect(clock.waitsMs).toEqual([250]);
    await stop();
  });

  test('stops by telling what runs, waiting for it, and starting nothing more', async () => {
    const seen: string[] = [];
    const { queue, stop } = started(async (key, signal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      seen.push(key);
      return 'done';
    }, 1);
    queue.add('a');
    queue.add('b');
    await stop();
    expect(seen).toEqual(['a']);
    queue.add('c');
    await settle();
    expect(seen).toEqual(['a']);
  });
});
