// Tests of when watchers are woken after a wake that kept the loop busy.
import { expect, test } from '@jest/globals';
import { WakeQueue } from './wake-queue.ts';
import { Bucket } from './watch-index.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('who others decide by is woken at once, while the rest waits for more', async () => {
  const queue = new WakeQueue(() => undefined);
  const bucket = new Bucket(0, () => undefined);
  const woken: string[] = [];
  const busy = (): void => {
    const endMs = performance.now() + 20;
    while (performance.now() < endMs) continue;
  };
  bucket.wait({ wake: busy });
  queue.add([bucket], 1);
  await turn();
  await turn();
  const ordinary = new Promise<void>((resolve) => {
    bucket.wait({
      wake: () => {
        woken.push('ordinary');
        resolve();
      },
    });
  });
  bucket.wait({ isPrompt: true, wake: () => woken.push('prompt') });
  queue.add([bucket], 2);
  await turn();
  expect(woken).toEqual(['prompt']);
  await ordinary;
  expect(woken).toEqual(['prompt', 'ordinary']);
});

/** Takes about a tenth of a millisecond, as a watch with a socket does. */
function shortWork(): void {
  const endMs = performance.now() + 0.1;
  while (performance.now() < endMs) continue;
}

test('many are woken in several turns: once each, in order, and others run between', async () => {
  const ends: number[] = [];
  const queue = new WakeQueue((end) => ends.push(end));
  const bucket = new Bucket(0, () => undefined);
  const count = 1_000;
  const woken: number[] = [];
  const wokenBefore: number[] = [];
  for (let index = 0; index < count; index++) {
    const waiter = {
      wake: () => {
        shortWork();
        woken.push(index);
        bucket.wait(waiter); // as one that has taken everything
      },
    };
    bucket.wait(waiter);
  }
  queue.add([bucket], 7);
  while (ends.length === 0) {
    await turn();
    wokenBefore.push(woken.length);
  }
  expect(woken).toEqual(Array.from({ length: count }, (_, index) => index));
  expect(wokenBefore.filter((seen) => seen > 0 && seen < count)).not.toEqual([]);
  expect(ends).toEqual([7]);
});

test('what comes during a wake wakes everybody again after it', async () => {
  const ends: number[] = [];
  const queue = new WakeQueue((end) => ends.push(end));
  const bucket = new Bucket(0, () => undefined);
  const seen = new Map<number, number>();
  for (let index = 0; index < 300; index++) {
    const waiter = {
      wake: () => {
        shortWork();
        seen.set(index, (seen.get(index) ?? 0) + 1);
        bucket.wait(waiter);
      },
    };
    bucket.wait(waiter);
  }
  queue.add([bucket], 1);
  await turn();
  queue.add([bucket], 2);
  queue.add([bucket], 3);
  while (ends.length < 2) await turn();
  expect([...new Set(seen.values())]).toEqual([2]);
  expect(ends).toEqual([1, 3]);
});
