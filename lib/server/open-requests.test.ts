import { expect, test } from '@jest/globals';
import type { Clock } from '../base/clock.ts';
import { OpenRequests } from './open-requests.ts';
import type { Expiring } from './open-requests.ts';

function steppedClock(): Clock & { step(ms: number): void; readonly timerCount: number } {
  let now = 0;
  let timers: { at: number; run: () => void }[] = [];
  return {
    nowMs: () => now,
    monotonicMs: () => now,
    after(delayMs, run) {
      const timer = { at: now + delayMs, run };
      timers.push(timer);
      return () => (timers = timers.filter((other) => other !== timer));
    },
    get timerCount() {
      return timers.length;
    },
    step(ms) {
      now += ms;
      const due = timers.filter((timer) => timer.at <= now);
      timers = timers.filter((timer) => timer.at > now);
      for (const timer of due) timer.run();
    },
  };
}

test('requests expire at their deadline, moved ones later, closed ones never', () => {
  const clock = steppedClock();
  const requests = new OpenRequests<Expiring>(clock);
  const expired: string[] = [];
  const open = (name: string, deadlineMs: number) => {
    const request = {
      slot: -1,
      deadlineMs,
      expire(nowMs: number): void {
        expired.push(name);
        this.deadlineMs = nowMs + 1_000;
      },
    };
    requests.add(request);
    return request;
  };
  open('first', 300);
  const moved = open('moved', 300);
  const closed = open('closed', 300);
  expect(clock.timerCount).toBe(1);
  moved.deadlineMs = 10_000;
  requests.remove(closed);
  clock.step(250);
  expect(expired).toEqual([]);
  clock.step(250);
  expect(expired).toEqual(['first']);
  clock.step(250);
  expect([expired.length, clock.timerCount, requests.count]).toEqual([1, 1, 2]);
  clock.step(1_000);
  expect(expired).toEqual(['first', 'first']); // the deadline it moved itself
  for (const request of requests) requests.remove(request);
  clock.step(250);
  expect(clock.timerCount).toBe(0);
});
