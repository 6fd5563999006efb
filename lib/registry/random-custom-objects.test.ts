// Random schemas and objects beside naive rules (seeded): each seed compares what is dropped, a
// create, an update and one that changes nothing, in one turn and in many. A million of them:
// npm run fuzz -- crd 1000000.
import { expect, test } from '@jest/globals';
import { findInCustomObjects } from './testing/random-custom-objects.ts';

const seedCount = 12_000;

/** Numbers that follow from a seed. */
function diceOf(seed: number) {
  let state = seed | 0;
  const below = (count: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return Math.floor(((state >>> 8) / 2 ** 24) * count);
  };
  return { below, of: <T>(choices: readonly T[]): T => choices[below(choices.length)] as T };
}

test('custom objects are what naive rules make of them (seeded)', async () => {
  for (let seed = 0; seed < seedCount; seed += 1) {
    const finding = await findInCustomObjects(diceOf(seed));
    if (finding !== undefined) expect(`seed ${String(seed)}: ${finding}`).toBe('');
  }
});
