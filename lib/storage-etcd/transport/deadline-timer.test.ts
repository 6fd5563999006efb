import { expect, test } from '@jest/globals';
import { DeadlineTimer } from './deadline-timer.ts';

test('each deadline is kept, whatever the order in which they are noted', async () => {
  const open = new Map<string, number>();
  const ended: string[] = [];
  let early = 0;
  const timer = new DeadlineTimer((nowMs) => {
    for (const [name, deadlineMs] of open) {
      if (deadlineMs > nowMs) continue;
      if (deadlineMs > performance.now()) early++;
      ended.push(name);
      open.delete(name);
    }
    return Math.min(...open.values());
  });
  const startMs = performance.now();
  for (const [name, delayMs] of [
    ['third', 60],
    ['first', 20],
    ['second', 40],
    ['never', 1e12],
  ] as const) {
    open.set(name, startMs + delayMs);
    timer.note(startMs + delayMs);
  }
  while (ended.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  expect([...ended].sort()).toEqual(['first', 'second', 'third']); // a late turn may end several
  expect(early).toBe(0);
  timer.stop();
  open.set('stopped', 0);
  timer.note(0);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(ended).toHaveLength(3);
});
