// Objects of random schemas beside what naive rules make of them, as the tests of lib/registry do,
// with other seeds and more of them.
import { findInCustomObjects } from '../../lib/registry/testing/random-custom-objects.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import { Random } from './random.ts';

export const crdTarget: FuzzTarget = {
  name: 'crd',
  refusals: [],
  input: (random) => Uint8Array.from({ length: 4 }, () => random.below(256)),
  run: (input) => () => findInCustomObjects(new Random(Buffer.from(input).readInt32LE())),
};
