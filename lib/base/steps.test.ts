import { describe, expect, test } from '@jest/globals';
import { atOnce, inTurns, longStep } from './steps.ts';
import type { Steps } from './steps.ts';
import { Yielder } from './yielder.ts';

function* sum(count: number): Steps<number> {
  let total = 0;
  for (let at = 1; at <= count; at += 1) {
    total += at;
    yield;
  }
  return total;
}

describe('work in steps', () => {
  test('gives its result within a turn', () => {
    expect(atOnce(sum(100))).toBe(5_050);
  });

  test('needs no promise where it is short', () => {
    expect(inTurns(sum(10))).toBe(55);
  });

  test('lets others run where it is long, and goes on where it was', async () => {
    let turnCount = 0;
    const others = setInterval(() => {
      turnCount += 1;
    });
    const result = inTurns(sum(100_000), new Yielder(-1));
    expect(result).toBeInstanceOf(Promise);
    expect(await result).toBe(5_000_050_000);
    clearInterval(others);
    expect(turnCount).toBeGreaterThan(0);
  });

  test('reads the clock after each step that may be long', async () => {
    let turnCount = 0;
    const pace = new Yielder(-1);
    pace.yield = () => {
      turnCount += 1;
      return Promise.resolve();
    };
    function* long(weight: number | undefined): Steps<void> {
      for (let at = 0; at < 32; at += 1) yield weight;
    }
    await inTurns(long(longStep), pace);
    expect(turnCount).toBe(32);
    await inTurns(long(undefined), pace);
    expect(turnCount).toBe(32 + 2);
  });

  test('tells its failure as it was, at once and later', async () => {
    function* failing(after: number): Steps<void> {
      yield* sum(after);
      throw new RangeError('no');
    }
    expect(() => inTurns(failing(1))).toThrow(RangeError);
    await expect(inTurns(failing(1_000), new Yielder(-1))).rejects.toThrow(RangeError);
  });
});
