import { expect, test } from '@jest/globals';
import type { Item } from '../cacher/resource-view.ts';
import { entriesOf } from './pieces.ts';

test('entries of a long list are made in turns, so that others are served meanwhile', async () => {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const made = await entriesOf(
    Array.from({ length: 128 }, () => ({}) as Item),
    () => {
      const { user } = process.threadCpuUsage();
      while (process.threadCpuUsage().user - user < 500);
      return new Uint8Array(1);
    },
  );
  isDone = true;
  expect([made.length, turns > 4]).toEqual([128, true]);
});
