// Decisions beside those of a naive evaluator, over random histories of roles and bindings.
import { expect, test } from '@jest/globals';
import { findInDecisions } from './testing/naive-policy.ts';

test('random histories and questions are decided as naively', () => {
  const found: string[] = [];
  for (let seed = 1; seed <= 300; seed += 1) {
    const finding = findInDecisions(seed, { changes: 1 + (seed % 60), questions: 20 });
    if (finding !== undefined) found.push(`seed ${String(seed)}: ${finding}`);
  }
  expect(found).toEqual([]);
});
