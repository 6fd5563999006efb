import { expect, test } from '@jest/globals';
import { limits } from '../../base/limits.ts';
import type { Change, Condition } from '../../storage-etcd/storage.ts';
import { CurrentState, JointTransaction } from './joint-transaction.ts';
import type { Joiner } from './joint-transaction.ts';

const put = (key: string, sizeBytes = 1): Change => ({
  ...{ type: 'put', key },
  value: new Uint8Array(sizeBytes),
});
const joiner = (
  key: string,
  {
    conditions = [],
    changes = [],
    sizeBytes,
  }: { conditions?: readonly Condition[]; changes?: readonly Change[]; sizeBytes?: number } = {},
): Joiner => ({
  own: { change: put(key, sizeBytes), expected: 0, epoch: undefined },
  company: { conditions, changes },
});
const { quotaTransactionOpsMax, quotaTransactionBytesMax } = limits;
const range = { key: 'range', expected: 7 };

test.each<[string, readonly Joiner[], Joiner, number, 'room' | 'full' | 'apart']>([
  ['another object finds room', [joiner('a')], joiner('b'), 1, 'room'],
  ['the same object does not', [joiner('a')], joiner('a'), 1, 'apart'],
  [
    'two may depend on one version of a key',
    [joiner('a', { conditions: [range] })],
    joiner('b', { conditions: [range] }),
    1,
    'room',
  ],
  [
    'and not on two versions of it',
    [joiner('a', { conditions: [range] })],
    joiner('b', { conditions: [{ ...range, expected: 8 }] }),
    1,
    'apart',
  ],
  [
    'nor on what another one changes',
    [joiner('a', { conditions: [range], changes: [put('range')] })],
    joiner('b', { conditions: [range] }),
    1,
    'apart',
  ],
  [
    'nor change what another one depends on',
    [joiner('a', { conditions: [range] })],
    joiner('b', { changes: [put('range')] }),
    1,
    'apart',
  ],
  [
    'nor change the same key',
    [joiner('a', { changes: [put('x')] })],
    joiner('b', { changes: [put('x')] }),
    1,
    'apart',
  ],
  ['keys that all share take room', [joiner('a')], joiner('b'), quotaTransactionOpsMax - 2, 'room'],
  ['up to the limit', [joiner('a')], joiner('b'), quotaTransactionOpsMax - 1, 'full'],
  [
    'bytes take room',
    [joiner('a', { sizeBytes: quotaTransactionBytesMax })],
    joiner('b'),
    1,
    'full',
  ],
  [
    'the first finds room whatever it is',
    [],
    joiner('a', { sizeBytes: 2 * quotaTransactionBytesMax }),
    999,
    'room',
  ],
])('%s', (_claim, present, next, extraCount, room) => {
  const joint = new JointTransaction();
  for (const one of present) joint.add(one);
  expect(joint.roomFor(next, extraCount)).toBe(room);
});

test('what all share is one condition and one change', () => {
  const joint = new JointTransaction();
  joint.add(joiner('a', { conditions: [range] }));
  joint.add(joiner('b', { conditions: [range] }));
  joint.addChange(put('quota'), 5);
  expect(joint.conditions).toEqual([
    { key: 'a', expected: 0 },
    range,
    { key: 'b', expected: 0 },
    { key: 'quota', expected: 5 },
  ]);
  expect(joint.changes.map(({ key }) => key)).toEqual(['a', 'b', 'quota']);
});

test('of a transaction that did not happen each key tells whether its condition holds', () => {
  const conditions = [range, { key: 'a', expected: 0 }];
  const item = { key: 'range', value: new Uint8Array(), modRevision: 9, createRevision: 1 };
  const found = new CurrentState(conditions, [item, undefined]);
  expect(conditions.map((condition) => found.holds(condition))).toEqual([false, true]);
  expect([found.of('range'), found.of('a')]).toEqual([item, undefined]);
});
