// APPLY_SEED repeats a run; many more and bigger ones are in `npm run fuzz -- apply`.
import { describe, expect, test } from '@jest/globals';
import { findInHistory } from './testing/random-history.ts';
import { findInMistyped, findInSets, findInValues } from './testing/random-checks.ts';

const seed = Number(process.env['APPLY_SEED'] ?? Date.now() % 1_000_000);

type Find = (seed: number) => string | undefined | Promise<string | undefined>;

/** The first finding, with the seed that repeats it. */
async function firstFinding(find: Find, count: number): Promise<string | undefined> {
  for (let at = seed; at < seed + count; at += 1) {
    const finding = await find(at);
    if (finding !== undefined) return `APPLY_SEED=${String(at)}: ${finding}`;
  }
  return undefined;
}

describe(`for any input (APPLY_SEED=${String(seed)})`, () => {
  test.each<[string, number, Find]>([
    ['sets of fields are sets, and survive FieldsV1', 6_800, findInSets],
    ['fields that differ are found, and merging loses none', 1_500, (at) => findInValues(at, 1)],
    ['values of the wrong type are taken as they are', 1_000, (at) => findInMistyped(at, 1)],
    [
      'applies and updates leave what the rules say',
      700,
      (at) => findInHistory(at, { depth: 1, writeCount: 6 }),
    ],
  ])('%s', async (_claim, count, find) => {
    expect(await firstFinding(find, count)).toBeUndefined();
  });
});
