// Long work in turns: what is short is done at once, what is long lets others run in between.
import { describe, expect, test } from '@jest/globals';
import { eachInTurns } from './each-in-turns.ts';
import { Yielder } from './yielder.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_item, at) => at);

/** Is due at each question, and counts the turns. */
class EagerYielder extends Yielder {
  turns = 0;
  override isDue(): boolean {
    return true;
  }
  override yield(): Promise<void> {
    this.turns += 1;
    return super.yield();
  }
}

test('short work is done when the call returns', () => {
  const seen: number[] = [];
  expect(eachInTurns(numbers(10), (item) => void seen.push(item), new Yielder())).toBeUndefined();
  expect(seen).toEqual(numbers(10));
});

describe('long work', () => {
  test('takes a turn whenever one is due, in the order of the items', async () => {
    const pace = new EagerYielder();
    const seen: number[] = [];
    await eachInTurns(numbers(50), (item) => void seen.push(item), pace);
    expect(seen).toEqual(numbers(50));
    expect(pace.turns).toBe(50);
  });

  test('waits for each step before the next', async () => {
    const seen: string[] = [];
    const step = async (item: number): Promise<void> => {
      seen.push(`${String(item)} begins`);
      await Promise.resolve();
      seen.push(`${String(item)} ends`);
    };
    await eachInTurns(numbers(2), step, undefined);
    expect(seen).toEqual(['0 begins', '0 ends', '1 begins', '1 ends']);
  });

  test('goes on after a step that had to wait among those that had not', async () => {
    const seen: number[] = [];
    const step = (item: number): Promise<void> | undefined => {
      seen.push(item);
      return item === 1 ? Promise.resolve() : undefined;
    };
    await eachInTurns(numbers(4), step, undefined);
    expect(seen).toEqual(numbers(4));
  });

  test('fails with the step', async () => {
    const step = (item: number): void => {
      if (item === 3) throw new Error('no');
    };
    await expect(async () => {
      await eachInTurns(numbers(5), step, new EagerYielder());
    }).rejects.toThrow('no');
  });
});
