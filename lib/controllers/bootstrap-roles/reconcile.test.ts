import { expect, test } from '@jest/globals';
import { namingProfile } from '../../api/vendor.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { reconciled } from './reconcile.ts';
import { bindingObject, roleObject } from './role-spec.ts';

const naming = namingProfile('svc');
const isOn = (): boolean => false;
const autoupdate = 'rbac.authorization.svc.io/autoupdate';
const role = roleObject(
  { name: 'r', aggregatesTo: 'view', rules: ['get,list pods', 'get at /healthz'] },
  naming,
  isOn,
);
const gathering = roleObject({ name: 'g', gathers: 'view', rules: [] }, naming, isOn);
const binding = bindingObject({ role: 'r', subjects: ['group g', 'account a'] }, naming);
const [group, account] = binding['subjects'] as JsonObject[];
const pods = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };
const secrets = { verbs: ['get'], apiGroups: [''], resources: ['secrets'] };
const paths = { verbs: ['get'], nonResourceURLs: ['/healthz'] };

const withMeta = (object: ApiObject, metadata: JsonObject): ApiObject => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
});

test.each<[what: string, stored: ApiObject, expected: ApiObject, change: JsonObject | undefined]>([
  ['what is as it should be is kept', role, role, undefined],
  [
    'wider rules are kept',
    { ...role, rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, paths] },
    role,
    undefined,
  ],
  ['further rules are kept', { ...role, rules: [secrets, pods, paths] }, role, undefined],
  [
    'missing rules are added behind those of others',
    { ...role, rules: [secrets, { ...pods, verbs: ['list'] }] },
    role,
    { rules: [secrets, { ...pods, verbs: ['list'] }, { ...pods, verbs: ['get'] }, paths] },
  ],
  ['a role without rules gets all', { ...role, rules: [] }, role, { rules: [pods, paths] }],
  [
    'what others gather into it goes on as its own',
    { ...role, aggregationRule: { clusterRoleSelectors: [{}] } },
    role,
    { aggregationRule: undefined },
  ],
  ['gathered rules are kept', { ...gathering, rules: [pods] }, gathering, undefined],
  [
    'missing selectors are added',
    { ...gathering, rules: [pods], aggregationRule: { clusterRoleSelectors: [{}] } },
    gathering,
    {
      aggregationRule: {
        clusterRoleSelectors: [
          {},
          { matchLabels: { 'rbac.authorization.svc.io/aggregate-to-view': 'true' } },
        ],
      },
    },
  ],
  [
    'an aggregation that is gone comes back',
    { ...role, metadata: gathering.metadata ?? {} },
    gathering,
    { aggregationRule: gathering['aggregationRule'] ?? null },
  ],
  [
    'missing labels and annotations are added, others keep their values',
    withMeta(role, { labels: { 'svc.io/bootstrapping': 'mine', more: 'x' }, annotations: {} }),
    role,
    {
      metadata: {
        name: 'r',
        labels: {
          'svc.io/bootstrapping': 'mine',
          'rbac.authorization.svc.io/aggregate-to-view': 'true',
          more: 'x',
        },
        annotations: { [autoupdate]: 'true' },
      },
    },
  ],
  ['further subjects are kept', addSubject(binding), binding, undefined],
  [
    'missing subjects are added',
    { ...binding, subjects: [{ kind: 'User', apiGroup: 'x', name: 'g' }] },
    binding,
    { subjects: [{ kind: 'User', apiGroup: 'x', name: 'g' }, group, account] as JsonObject[] },
  ],
  [
    'autoupdate=false leaves it alone',
    withMeta({ ...role, rules: [] }, { annotations: { [autoupdate]: 'false' } }),
    role,
    undefined,
  ],
  [
    'autoupdate=false keeps even another role',
    withMeta(
      { ...binding, roleRef: { ...(binding['roleRef'] as JsonObject), name: 'x' } },
      { annotations: { [autoupdate]: 'false' } },
    ),
    binding,
    undefined,
  ],
])('%s', (_what, stored, expected, change) => {
  const before = JSON.stringify(stored);
  const result = reconciled(stored, expected, naming);
  expect(result).toEqual(
    change === undefined
      ? { action: 'keep' }
      : { action: 'update', object: { ...stored, ...change } },
  );
  expect(JSON.stringify(stored)).toBe(before);
  if (result.action !== 'update') return;
  expect(reconciled(result.object, expected, naming)).toEqual({ action: 'keep' });
});

test('a binding of another role is made anew', () => {
  const other = { ...binding, roleRef: { ...(binding['roleRef'] as JsonObject), name: 'other' } };
  expect(reconciled(other, binding, naming)).toEqual({ action: 'replace' });
});

function addSubject(of: ApiObject): ApiObject {
  const more = { kind: 'User', apiGroup: 'rbac.authorization.svc.io', name: 'u' };
  return { ...of, subjects: [more, ...(of['subjects'] as JsonObject[])] };
}
