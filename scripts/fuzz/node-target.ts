// Histories of pods and volumes: what the node authorizer's graph says of each node, beside an
// evaluator that looks at every object.
import { findInCluster } from '../../lib/authz/node/testing/random-cluster.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import { Random } from './random.ts';

const stepsMax = 24;

export const nodeTarget: FuzzTarget = {
  name: 'node',
  refusals: [],
  input: (random) => Uint8Array.from({ length: 5 }, () => random.below(256)),
  run: (input) => {
    const bytes = Buffer.from(input);
    const stepCount = 1 + (bytes.readUInt8(4) % stepsMax);
    const finding = findInCluster(new Random(bytes.readInt32LE()), stepCount);
    return finding === undefined ? undefined : () => finding;
  },
};
