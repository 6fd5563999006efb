// Policies and bindings with parameters are written by those who may read these.
import { expect, test } from '@jest/globals';
import { namingProfile } from '../../api/vendor.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { KindOptions, ParamKinds } from '../kind.ts';
import type { Permission, ResourceStrategy, WriteContext } from '../strategy.ts';
import { bindingStrategy, policyStrategy } from './param-permissions.ts';

const { signal } = new AbortController();
const paramKind = { apiVersion: 'example.com/v1', kind: 'Param' };
const paramKinds: ParamKinds = {
  resourceOf: ({ group, kind }) =>
    group === 'example.com' && kind === 'Param' ? 'params' : undefined,
  paramKindOf: (_policies, name) => Promise.resolve(name === 'known' ? paramKind : undefined),
};
const options: KindOptions = { naming: namingProfile('svc'), eventTtlSeconds: 1, paramKinds };
const binding = bindingStrategy('validatingadmissionpolicies')(options);

/** What was asked for besides `escalate`, and where the write is refused. */
async function write(
  strategy: ResourceStrategy,
  spec: object,
  { old, groups = [], may = [] }: { old?: object; groups?: string[]; may?: string[] } = {},
): Promise<[Permission[], string[]]> {
  const asked: Permission[] = [];
  const context: WriteContext = {
    user: { name: 'u', uid: '', groups, extra: {} },
    ...{ dryRun: false, fieldManager: '', subresource: '', warnings: [], nowMs: 0, apiVersion: '' },
    permissions: {
      verb: 'create',
      refusalOf: (permission) => {
        if (permission.verb !== 'escalate') asked.push(permission);
        return Promise.resolve(may.includes(permission.verb) ? undefined : 'no');
      },
    },
  };
  const object = { metadata: { name: 'p' }, spec } as ApiObject;
  const stored = old && ({ metadata: { name: 'p' }, spec: old } as ApiObject);
  const found = strategy.authorize?.(object, stored, context, { isOn: () => true, signal });
  const fields = ((await found) ?? []).map(({ field, reason }) => `${field} ${reason}`);
  return [asked, fields];
}

const forbidden = (field: string): string => `${field} FieldValueForbidden`;
const params = { group: 'example.com', version: 'v1', resource: 'params', subresource: '' };
const anything = { group: '*', version: '*', resource: '*', subresource: '' };

test('v.write-checks: a paramKind needs get on all objects of the kind', async () => {
  const policy = policyStrategy(options);
  const get = { verb: 'get', namespace: '*', name: '*' };
  const field = forbidden('spec.paramKind');
  expect(await write(policy, { paramKind })).toEqual([[{ ...params, ...get }], [field]]);
  expect(await write(policy, { paramKind }, { may: ['get'] })).toEqual([
    [{ ...params, ...get }],
    [],
  ]);
  const unknown = { apiVersion: 'example.com/v1', kind: 'Other' };
  const unresolved = { ...params, ...get, resource: '*' };
  expect(await write(policy, { paramKind: unknown })).toEqual([[unresolved], [field]]);
  expect(await write(policy, {})).toEqual([[], []]);
});

test('v.write-checks: only where it is set or changed', async () => {
  const policy = policyStrategy(options);
  expect(await write(policy, { paramKind, more: 1 }, { old: { paramKind } })).toEqual([[], []]);
  const [asked] = await write(policy, { paramKind }, { old: {} });
  expect(asked).toHaveLength(1);
});

test('v.write-checks: a paramRef needs get on the object, or list for a selector', async () => {
  const field = forbidden('spec.paramRef');
  const named = { policyName: 'known', paramRef: { name: 'x', namespace: 'a' } };
  const get = { ...params, verb: 'get', namespace: 'a', name: 'x' };
  expect(await write(binding, named)).toEqual([[get], [field]]);
  expect(await write(binding, named, { old: named })).toEqual([[], []]);
  const ofAnother = { ...named, policyName: 'other' };
  expect(await write(binding, named, { old: ofAnother })).toEqual([[get], [field]]);
  const selected = { policyName: 'known', paramRef: { selector: {}, namespace: 'a' } };
  const list = { ...params, verb: 'list', namespace: 'a', name: '' };
  expect(await write(binding, selected)).toEqual([[list], [field]]);
  const [asked] = await write(binding, { ...named, policyName: 'unknown' });
  expect(asked).toEqual([{ ...anything, verb: 'get', namespace: 'a', name: 'x' }]);
});

test('v.write-checks: superusers and those who may escalate are not asked', async () => {
  const policy = policyStrategy(options);
  for (const user of [{ groups: ['system:masters'] }, { may: ['escalate'] }]) {
    expect(await write(policy, { paramKind }, user)).toEqual([[], []]);
    expect(await write(binding, { paramRef: { name: 'x' } }, user)).toEqual([[], []]);
  }
});
