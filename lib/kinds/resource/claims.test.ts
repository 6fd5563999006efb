import { describe, expect, test } from '@jest/globals';
import { namingProfile } from '../../api/vendor.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { ResourceStrategy, WriteContext } from '../strategy.ts';
import { claimStrategy, claimTemplateStrategy, validateResourceClaim } from './claims.ts';
import { taintRuleStrategy } from './taint-rules.ts';

const naming = namingProfile('kubernetes');
const { signal } = new AbortController();
const isOn = (): boolean => true;
const context: WriteContext = {
  user: { name: 'tester', uid: '', groups: [], extra: {} },
  dryRun: false,
  fieldManager: '',
  subresource: 'status',
  warnings: [],
  nowMs: Date.UTC(2026, 0, 2),
  apiVersion: '',
};
const adminLabels = { 'resource.kubernetes.io/admin-access': 'true' };

const asking = (adminAccess: boolean): ApiObject => ({
  metadata: { name: 'c', namespace: 'n' },
  spec: { devices: { requests: [{ name: 'r', exactly: { adminAccess } }] } },
});

describe('admin access', () => {
  const asked: string[] = [];
  const labelsOfNamespace = (name: string): Promise<JsonObject> => {
    asked.push(name);
    return Promise.resolve(adminLabels);
  };
  const options = { naming, eventTtlSeconds: 1, labelsOfNamespace };

  test.each<[what: string, strategy: ResourceStrategy, object: ApiObject]>([
    ['a claim', claimStrategy(options), asking(true)],
    ['a template', claimTemplateStrategy(options), { ...asking(false), spec: asking(true) }],
  ])('%s: the labels of its namespace are read', async (_what, strategy, object) => {
    asked.length = 0;
    const gathered = await strategy.gather?.(object, context, signal);
    expect(gathered).toEqual({ ...context, namespaceLabels: adminLabels });
    expect(asked).toEqual(['n']);
  });

  test('nothing is read when nobody asks for it', () => {
    asked.length = 0;
    expect(claimStrategy(options).gather?.(asking(false), context, signal)).toBe(context);
    expect(asked).toEqual([]);
  });

  test.each([
    ['allowed by the label', adminLabels, 0],
    ['refused without it', {}, 1],
  ])('%s', (_what, namespaceLabels, count) => {
    const errors = new FieldErrors();
    const [subresource, apiVersion] = ['', ''];
    const object = asking(true);
    const of = { old: undefined, errors, isOn, naming, subresource, apiVersion };
    validateResourceClaim({ object, namespaceLabels, ...of });
    expect(errors.list.filter(({ field }) => field.endsWith('adminAccess'))).toHaveLength(count);
  });
});

const device = (name: string): JsonObject => ({ driver: 'd', pool: 'p', device: name });
const claimWith = (allocated: readonly string[], told: readonly string[]): ApiObject => ({
  metadata: { name: 'c' },
  status: {
    ...(allocated.length === 0
      ? {}
      : { allocation: { devices: { results: allocated.map(device) } } }),
    devices: told.map(device),
  },
});

test.each([
  ['one of two is given back', ['a', 'b'], ['a'], ['a', 'b'], ['a']],
  ['all are given back', ['a'], [], ['a'], undefined],
  ['what was never allocated stays, to be refused', ['a'], ['a'], ['a', 'x'], ['a', 'x']],
])('what drivers tell goes with the device: %s', (_what, before, after, told, left) => {
  const claim = claimWith(after, told);
  claimStrategy({ naming, eventTtlSeconds: 1 }).prepare?.(
    claim,
    claimWith(before, []),
    context,
    isOn,
  );
  const status = claim['status'] as JsonObject;
  expect(status['devices']).toEqual(left?.map(device));
});

test.each([
  ['changes with the effect', 'NoExecute', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
  [
    'is the same with the same effect',
    'NoSchedule',
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z',
  ],
  ['is what the writer says', 'NoExecute', '2026-01-05T00:00:00Z', '2026-01-05T00:00:00Z'],
])('the time of a taint %s', (_what, effect, timeAdded, expected) => {
  const ruleOf = (taint: JsonObject): ApiObject => ({ metadata: {}, spec: { taint } });
  const rule = ruleOf({ effect, timeAdded });
  const old = ruleOf({ effect: 'NoSchedule', timeAdded: '2026-01-01T00:00:00Z' });
  taintRuleStrategy.prepare?.(rule, old, { ...context, subresource: '' }, isOn);
  expect(rule).toEqual(ruleOf({ effect, timeAdded: expected }));
});
