// Decisions about random requests after random histories of roles and bindings, each beside that of
// a naive evaluator: twenty an input.
import { findInDecisions } from '../../lib/authz/rbac/testing/naive-policy.ts';
import type { FuzzTarget } from './fuzz-target.ts';

const questions = 20;
const changesMax = 80;

export const rbacTarget: FuzzTarget = {
  name: 'rbac',
  refusals: [],
  input: (random) => Uint8Array.from({ length: 5 }, () => random.below(256)),
  run: (input) => () => {
    const bytes = Buffer.from(input);
    const changes = 1 + (bytes.readUInt8(4) % changesMax);
    return findInDecisions(bytes.readInt32LE(), { changes, questions });
  },
};
