import { describe, expect, test } from '@jest/globals';
import { abortable, signalOf } from './abort.ts';
import type { Waiter } from './abort.ts';

const left = new Error('left');

class Visitor implements Waiter {
  endedWith: Error | undefined = undefined;
  onEnd: ((reason: Error) => void) | undefined = undefined;
  signalCount = 0;

  get signal(): AbortSignal {
    this.signalCount++;
    return new AbortController().signal;
  }

  leave(): void {
    this.endedWith = left;
    this.onEnd?.(left);
  }
}

describe('a wait of somebody who may give up', () => {
  test('is rejected at once, while the answer is still awaited by others', async () => {
    const answer = Promise.withResolvers<string>();
    const [leaving, staying] = [new Visitor(), new Visitor()];
    const waits = [leaving, staying].map((visitor) => abortable(answer.promise, visitor));
    leaving.leave();
    await expect(waits[0]).rejects.toBe(left);
    answer.resolve('here');
    expect(await waits[1]).toBe('here');
  });

  test('does not begin after that', async () => {
    const visitor = new Visitor();
    visitor.leave();
    await expect(abortable(Promise.resolve('here'), visitor)).rejects.toBe(left);
  });

  test('makes no signal; giving up later changes nothing', async () => {
    const visitor = new Visitor();
    expect(await abortable(Promise.resolve('here'), visitor)).toBe('here');
    visitor.leave();
    expect(visitor.signalCount).toBe(0);
  });

  test('fails as what it waits for', async () => {
    await expect(abortable(Promise.reject(left), new Visitor())).rejects.toBe(left);
  });
});

test('a signal stands for itself, a waiter for the one that it makes', () => {
  const { signal } = new AbortController();
  expect(signalOf(signal)).toBe(signal);
  expect(signalOf(new Visitor())).toBeInstanceOf(AbortSignal);
});
