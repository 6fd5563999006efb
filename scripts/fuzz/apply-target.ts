// Histories of objects with several owners, and values and sets of fields beside them: more and
// bigger ones than the tests of lib/apply have, with the same checks.
import { findInHistory } from '../../lib/apply/testing/random-history.ts';
import { findInMistyped, findInSets, findInValues } from '../../lib/apply/testing/random-checks.ts';
import type { FuzzTarget } from './fuzz-target.ts';

const depthMax = 3;
const writesMax = 12;

export const applyTarget: FuzzTarget = {
  name: 'apply',
  refusals: [],
  input: (random) => Uint8Array.from({ length: 6 }, () => random.below(256)),
  run: (input) => async () => {
    const bytes = Buffer.from(input);
    const seed = bytes.readInt32LE();
    const depth = 1 + (bytes.readUInt8(4) % depthMax);
    const writeCount = 1 + (bytes.readUInt8(5) % writesMax);
    const finding =
      findInSets(seed) ??
      findInValues(seed, depth) ??
      findInMistyped(seed, depth) ??
      (await findInHistory(seed, { depth, writeCount }));
    return finding?.replaceAll('\0', '/');
  },
};
