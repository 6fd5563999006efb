import { expect, test } from '@jest/globals';
import { mergeTolerations } from './tolerations.ts';

const exists = (key: string, more: object = {}): Record<string, string | number> => ({
  ...(key === '' ? {} : { key }),
  operator: 'Exists',
  ...more,
});
const forever = { effect: 'NoExecute' };
const minute = { effect: 'NoExecute', tolerationSeconds: 60 };
const hour = { effect: 'NoExecute', tolerationSeconds: 3600 };

test.each([
  ['both', [exists('a')], [exists('b')], [exists('a'), exists('b')]],
  ['of two alike one', [exists('a')], [exists('a')], [exists('a')]],
  ['none that one of all keys covers', [exists('a')], [exists('')], [exists('')]],
  [
    'none that one of all effects covers',
    [exists('a', { effect: 'NoSchedule' })],
    [exists('a')],
    [exists('a')],
  ],
  [
    'those of other effects',
    [exists('a', forever)],
    [exists('a', { effect: 'NoSchedule' })],
    [exists('a', forever), exists('a', { effect: 'NoSchedule' })],
  ],
  ['the longer of two', [exists('a', minute)], [exists('a', hour)], [exists('a', hour)]],
  ['the one without an end', [exists('a', hour)], [exists('a', forever)], [exists('a', forever)]],
  [
    'no value that Exists covers',
    [{ key: 'a', operator: 'Equal', value: 'v' }],
    [exists('a')],
    [exists('a')],
  ],
  [
    'two values',
    [{ key: 'a', value: 'v' }],
    [{ key: 'a', value: 'w' }],
    [
      { key: 'a', value: 'v' },
      { key: 'a', value: 'w' },
    ],
  ],
])('merged are %s', (_claim, first, second, merged) => {
  expect(mergeTolerations(first, second)).toEqual(merged);
});
