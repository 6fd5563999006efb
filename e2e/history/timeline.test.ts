// Bounds on when revisions were committed: which of them cannot hold together.

import { expect, test } from '@jest/globals';
import { Timeline } from './timeline.ts';

const describe = (): string => 'a bound';

function timeline(
  lowers: readonly (readonly [revision: number, at: number])[],
  uppers: readonly (readonly [revision: number, at: number])[],
): Timeline {
  const made = new Timeline();
  for (const [revision, at] of lowers) {
    made.notBefore({ revision, at, kind: 'stale-read', describe });
  }
  for (const [revision, at] of uppers) made.notAfter({ revision, at, describe });
  return made;
}

test.each([
  ['bounds that leave room', [[5, 10]], [[5, 20]], 0],
  ['a lower bound after an upper bound of the same revision', [[5, 30]], [[5, 20]], 1],
  ['a lower bound after an upper bound of a higher revision', [[5, 30]], [[7, 20]], 1],
  ['a lower bound after an upper bound of a lower revision', [[7, 30]], [[5, 20]], 0],
  [
    'each lower bound that cannot hold',
    [
      [5, 30],
      [6, 40],
      [8, 50],
    ],
    [[7, 20]],
    2,
  ],
] as const)('%s', (_, lowers, uppers, count) => {
  expect(timeline(lowers, uppers).violations()).toHaveLength(count);
});

test('bounds reach over revisions between, and may be added after a question', () => {
  const made = timeline([[3, 10]], [[9, 90]]);
  expect([made.earliest(2), made.earliest(5), made.latest(5)]).toEqual([-Infinity, 10, 90]);
  expect(made.latest(10)).toBe(Infinity);
  made.notBefore({ revision: 4, at: 15, kind: 'stale-read', describe });
  made.notAfter({ revision: 6, at: 60, describe });
  expect([made.earliest(5), made.latest(5), made.latest(7)]).toEqual([15, 60, 90]);
});
