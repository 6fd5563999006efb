import { describe, expect, test } from '@jest/globals';
import { namingProfile } from '../../api/vendor.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { KindOptions } from '../kind.ts';
import type { Permissions, ResourceStrategy, WriteContext } from '../strategy.ts';
import { claimStrategy, claimTemplateStrategy } from './claims.ts';
import { taintRuleStrategy } from './taint-rules.ts';
import { writeContext } from '../testing/write-context.ts';

type MakeStrategy = (options: KindOptions) => ResourceStrategy;

const naming = namingProfile('kubernetes');
const { signal } = new AbortController();
const context = writeContext({
  subresource: 'status',
  nowMs: Date.UTC(2026, 0, 2),
  apiVersion: '',
});
const adminLabels = { 'resource.kubernetes.io/admin-access': 'true' };
const isOn = (): boolean => true;
const of = { isOn, signal };

const asking = (adminAccess: boolean): ApiObject => ({
  metadata: { name: 'c', namespace: 'n' },
  spec: { devices: { requests: [{ name: 'r', exactly: { adminAccess } }] } },
});

describe('admin access', () => {
  const options = (labels: JsonObject): KindOptions => ({
    naming,
    eventTtlSeconds: 1,
    labelsOfNamespace: (name) => Promise.resolve(name === 'n' ? labels : undefined),
  });
  const made = { ...context, subresource: '' };
  const template: ApiObject = { ...asking(false), spec: { spec: asking(true)['spec'] ?? null } };
  const given: ApiObject = {
    metadata: { name: 'c', namespace: 'n' },
    status: { allocation: { devices: { results: [{}, { adminAccess: true }] } } },
  };

  test.each<[what: string, make: MakeStrategy, object: ApiObject, write: WriteContext, at: string]>(
    [
      ['a claim', claimStrategy, asking(true), made, 'spec.devices.requests[0]'],
      ['a template', claimTemplateStrategy, template, made, 'spec.devices.requests[0]'],
      ['a status', claimStrategy, given, context, 'status.allocation.devices.results[1]'],
    ],
  )('%s: the label of its namespace allows it', async (_what, make, object, write, at) => {
    const refused = await make(options({})).authorize?.(object, undefined, write, of);
    expect(refused?.map(({ field }) => field)).toEqual([`${at}.adminAccess`]);
    expect(await make(options(adminLabels)).authorize?.(object, undefined, write, of)).toEqual([]);
  });

  test('what had it is not asked again', async () => {
    const strategy = claimStrategy(options({}));
    const later = { ...given, status: { ...(given['status'] as JsonObject), reservedFor: [{}] } };
    expect(await strategy.authorize?.(later, given, context, of)).toEqual([]);
    expect(await strategy.authorize?.(asking(true), asking(true), made, of)).toEqual([]);
  });
});

describe('permissions for a status', () => {
  const nodeName = 'authentication.kubernetes.io/node-name';
  const user = { ...context.user, name: 'system:serviceaccount:n:d', extra: { [nodeName]: ['a'] } };
  const onNode = (name: string): JsonObject => ({
    nodeSelector: {
      nodeSelectorTerms: [
        { matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] },
      ],
    },
  });
  const claim = (status: JsonObject): ApiObject => ({
    metadata: { name: 'c', namespace: 'n' },
    status,
  });
  const told = [{ driver: 'd', pool: 'p', device: 'x' }];

  async function asked(
    status: JsonObject,
    old: JsonObject,
    allowed: readonly string[] = [],
  ): Promise<{ asks: string[]; fields: string[] }> {
    const asks: string[] = [];
    const permissions: Permissions = {
      verb: 'update',
      refusalOf({ verb, subresource, namespace, name }) {
        asks.push(`${verb} ${subresource} ${namespace}/${name}`);
        return Promise.resolve(allowed.includes(verb) ? undefined : 'no');
      },
    };
    const strategy = claimStrategy({ naming, eventTtlSeconds: 1 });
    const write = { ...context, user, permissions };
    const errors = (await strategy.authorize?.(claim(status), claim(old), write, of)) ?? [];
    return { asks, fields: errors.map(({ field }) => field) };
  }

  const cases: readonly [string, JsonObject, JsonObject, string[], string[]][] = [
    ['nothing changes', { devices: told }, { devices: told }, [], []],
    ['bound', { reservedFor: [{}] }, {}, ['update binding /'], ['status']],
    ['given back', {}, { allocation: {} }, ['update binding /'], ['status']],
    [
      'given back with what was told',
      {},
      { allocation: { devices: { results: told } }, devices: told },
      ['update binding /'],
      ['status'],
    ],
    ['told', { devices: told }, {}, ['arbitrary-node:update driver n/d'], ['status.devices']],
    ['untold', {}, { devices: told }, ['arbitrary-node:update driver n/d'], ['status.devices']],
    [
      'told on its node',
      { allocation: onNode('a'), devices: told },
      { allocation: onNode('a') },
      ['associated-node:update driver n/d', 'arbitrary-node:update driver n/d'],
      ['status.devices'],
    ],
    [
      'told on another node',
      { allocation: onNode('b'), devices: told },
      { allocation: onNode('b') },
      ['arbitrary-node:update driver n/d'],
      ['status.devices'],
    ],
  ];
  test.each(cases)('%s', async (_what, status, old, asks, fields) => {
    expect(await asked(status, old)).toEqual({ asks, fields });
  });

  test('one permission is enough', async () => {
    const status = { allocation: onNode('a'), devices: told };
    const asks = ['associated-node:update driver n/d'];
    const found = await asked(status, { allocation: onNode('a') }, ['associated-node:update']);
    expect(found).toEqual({ asks, fields: [] });
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
