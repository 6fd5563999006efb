import { describe, expect, test } from '@jest/globals';
import { dependsOn, isCovered, readyCondition, withReadiness } from './service-cidr-state.ts';

const range = (...cidrs: string[]) => ({ kind: 'ServiceCIDR', apiVersion: 'x', spec: { cidrs } });
const others = (...list: string[][]) => list.map((cidrs) => range(...cidrs));

describe('a range', () => {
  test.each([
    [['10.0.0.0/24'], [['10.0.0.0/16']], true],
    [['10.0.0.0/24'], [['10.0.0.0/24']], true],
    [['10.0.0.0/24'], [['10.0.0.0/25'], ['10.0.0.128/25']], false],
    [['10.0.0.0/24'], [['10.1.0.0/16']], false],
    [['10.0.0.0/24', 'fd00::/112'], [['10.0.0.0/16']], false],
    [['10.0.0.0/24', 'fd00::/112'], [['10.0.0.0/16'], ['fd00::/64']], true],
    [['10.0.0.0/24'], [], false],
    [['0.0.0.0/0'], [['::/0']], false],
  ])('%j beside %j is covered: %s', (cidrs, rest, covered) => {
    expect(isCovered(range(...cidrs), others(...rest))).toBe(covered);
  });

  test.each([
    ['10.0.0.1', ['10.0.0.0/24'], [], true],
    ['10.0.1.1', ['10.0.0.0/24'], [], false],
    ['10.0.0.1', ['10.0.0.0/24'], [['10.0.0.0/28']], false],
    ['10.0.0.17', ['10.0.0.0/24'], [['10.0.0.0/28']], true],
    ['fd00::1', ['10.0.0.0/24', 'fd00::/112'], [['10.0.0.0/8']], true],
    ['10.0.0.1', ['fd00::/112'], [], false],
    ['nonsense', ['0.0.0.0/0', '::/0'], [], false],
  ])('holds %s, being %j beside %j: %s', (ip, cidrs, rest, holds) => {
    expect(dependsOn(range(...cidrs), others(...rest))(ip)).toBe(holds);
  });
});

test('a condition keeps its time while its status stays, and others stay beside it', () => {
  const other = { type: 'Other', status: 'True' };
  const empty = { ...range('10.0.0.0/24'), status: { conditions: [other] } };
  const ready = { isReady: true, reason: '', message: 'yes' };
  const first = withReadiness(empty, ready, 0);
  expect(empty.status.conditions).toEqual([other]);
  expect(first.status).toEqual({
    conditions: [
      other,
      {
        type: 'Ready',
        status: 'True',
        lastTransitionTime: '1970-01-01T00:00:00Z',
        reason: '',
        message: 'yes',
      },
    ],
  });
  const second = withReadiness(first, { ...ready, message: 'still' }, 5_000);
  expect(readyCondition(second)).toMatchObject({
    message: 'still',
    lastTransitionTime: '1970-01-01T00:00:00Z',
  });
  const third = withReadiness(second, { isReady: false, reason: 'R', message: 'no' }, 5_000);
  expect(readyCondition(third)).toMatchObject({
    status: 'False',
    reason: 'R',
    lastTransitionTime: '1970-01-01T00:00:05Z',
  });
});
