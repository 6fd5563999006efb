// Decisions of the authorizer over roles and bindings that come, change and go.
import { beforeEach, describe, expect, test } from '@jest/globals';
import { namingProfile } from '../../api/vendor.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { attributesOf } from '../testing/attributes.ts';
import type { Attributes, Decision } from '../authorizer.ts';
import { RbacPolicy } from './policy.ts';
import { rbacAuthorizer } from './rbac.ts';

const signal = new AbortController().signal;
let policy: RbacPolicy;
let ask: (change: Partial<Attributes>) => Decision;

const readPods = { rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }] };
const user = (name: string, ...groups: string[]): Attributes['user'] => ({
  name,
  uid: '',
  groups,
  extra: {},
});

const binding = (kind: string, name: string, ...subjects: JsonObject[]): JsonObject => ({
  roleRef: { kind, name, apiGroup: 'rbac.authorization.svc.io' },
  subjects,
});

/** `User alice`, `Group team`, `ServiceAccount ns/name`. */
function subject(text: string): JsonObject {
  const [kind = '', name = ''] = text.split(' ');
  if (kind !== 'ServiceAccount') return { kind, name };
  const [namespace = '', account = ''] = name.split('/');
  return { kind, name: account, namespace };
}

beforeEach(() => {
  policy = new RbacPolicy();
  const authorizer = rbacAuthorizer(policy, namingProfile('svc'));
  const pods = { isResourceRequest: true, resource: 'pods', namespace: 'a', name: 'x' };
  ask = (change) => {
    const asked = attributesOf({ ...pods, ...change });
    const { effect, reason } = authorizer.authorize(asked, signal) as Decision;
    return { effect, reason };
  };
});

test('a role binding allows in its namespace, a cluster role binding everywhere', () => {
  policy.setRole({ namespace: '', name: 'reader' }, readPods);
  policy.setBinding(
    { namespace: 'a', name: 'b' },
    binding('ClusterRole', 'reader', subject('User alice')),
  );
  policy.setBinding(
    { namespace: '', name: 'all' },
    binding('ClusterRole', 'reader', subject('Group team')),
  );
  const alice = user('alice');
  expect(ask({ user: alice })).toEqual({
    effect: 'allow',
    reason: 'RBAC: allowed by RoleBinding "b/a" of ClusterRole "reader" to User "alice"',
  });
  expect(ask({ user: alice, namespace: 'b' })).toEqual({ effect: 'noOpinion', reason: '' });
  expect(ask({ user: alice, namespace: '' }).effect).toBe('noOpinion');
  const member = user('bob', 'others', 'team');
  for (const namespace of ['a', 'b', '']) {
    expect(ask({ user: member, namespace })).toEqual({
      effect: 'allow',
      reason: 'RBAC: allowed by ClusterRoleBinding "all" of ClusterRole "reader" to Group "team"',
    });
  }
});

describe('subjects', () => {
  test.each([
    ['User alice', user('alice'), 'User "alice"'],
    ['User alice', user('Alice'), undefined],
    ['User team', user('bob', 'team'), undefined],
    ['Group team', user('bob', 'team'), 'Group "team"'],
    ['Group team', user('team'), undefined],
    ['ServiceAccount n/s', user('system:serviceaccount:n:s'), 'ServiceAccount "s/n"'],
    ['ServiceAccount n/s', user('system:serviceaccount:a:s'), undefined],
    [
      'User system:serviceaccount:n:s',
      user('system:serviceaccount:n:s'),
      'User "system:serviceaccount:n:s"',
    ],
    ['Robot alice', user('alice'), undefined],
  ])('%s, asked by %j', (text, who, expected) => {
    policy.setRole({ namespace: 'a', name: 'r' }, readPods);
    policy.setBinding({ namespace: 'a', name: 'b' }, binding('Role', 'r', subject(text)));
    const { effect, reason } = ask({ user: who });
    expect(effect).toBe(expected === undefined ? 'noOpinion' : 'allow');
    expect(reason.split(' to ')[1]).toBe(expected);
  });

  test('a service account without a namespace is of the namespace of its binding', () => {
    policy.setRole({ namespace: 'a', name: 'r' }, readPods);
    policy.setBinding(
      { namespace: 'a', name: 'b' },
      binding('Role', 'r', { kind: 'ServiceAccount', name: 's' }),
    );
    expect(ask({ user: user('system:serviceaccount:a:s') })).toEqual({
      effect: 'allow',
      reason: 'RBAC: allowed by RoleBinding "b/a" of Role "r" to ServiceAccount "s/a"',
    });
  });
});

test('a role of the namespace is no cluster role of the same name', () => {
  policy.setRole({ namespace: 'a', name: 'r' }, readPods);
  policy.setBinding({ namespace: 'a', name: 'b' }, binding('ClusterRole', 'r', subject('User u')));
  expect(ask({ user: user('u') })).toEqual({
    effect: 'noOpinion',
    reason: 'RBAC: clusterrole.rbac.authorization.svc.io "r" not found',
  });
  policy.setBinding({ namespace: 'a', name: 'c' }, binding('Role', 's', subject('User u')));
  expect(ask({ user: user('u') }).reason).toBe(
    'RBAC: [clusterrole.rbac.authorization.svc.io "r" not found, ' +
      'role.rbac.authorization.svc.io "s" not found]',
  );
});

test('what is missing is told once, whoever refers to it', () => {
  for (const name of ['b', 'c']) {
    const bound = binding('Role', 'gone', subject('User u'));
    policy.setBinding({ namespace: 'a', name }, bound);
  }
  expect(ask({ user: user('u') }).reason).toBe(
    'RBAC: role.rbac.authorization.svc.io "gone" not found',
  );
});

test('a cluster role binding has no role of a namespace, and no cluster role of its name', () => {
  policy.setRole({ namespace: '', name: 'r' }, readPods);
  policy.setBinding({ namespace: '', name: 'b' }, binding('Role', 'r', subject('User u')));
  expect(ask({ user: user('u') })).toEqual({
    effect: 'noOpinion',
    reason: 'RBAC: role.rbac.authorization.svc.io "r" not found',
  });
  policy.setBinding({ namespace: '', name: 'b' }, binding('Robot', 'r', subject('User u')));
  expect(ask({ user: user('u') })).toEqual({
    effect: 'noOpinion',
    reason: 'RBAC: unsupported role reference kind: "Robot"',
  });
});

test('the rules of a user are those of the cluster and of one namespace', () => {
  policy.setRole(
    { namespace: '', name: 'paths' },
    { rules: [{ verbs: ['get'], nonResourceURLs: ['/a'] }] },
  );
  policy.setRole({ namespace: 'a', name: 'r' }, readPods);
  policy.setBinding(
    { namespace: '', name: 'all' },
    binding('ClusterRole', 'paths', subject('Group team')),
  );
  policy.setBinding({ namespace: 'a', name: 'b' }, binding('Role', 'r', subject('User alice')));
  policy.setBinding({ namespace: 'a', name: 'c' }, binding('Role', 'gone', subject('User alice')));
  const authorizer = rbacAuthorizer(policy, namingProfile('svc'));
  const pods = { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: [] };
  expect(authorizer.rulesFor?.(user('alice', 'team'), 'a')).toMatchObject({
    resourceRules: [pods],
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/a'] }],
    incomplete: false,
    evaluationError: 'role.rbac.authorization.svc.io "gone" not found',
  });
  expect(authorizer.rulesFor?.(user('alice', 'team'), 'b')).toMatchObject({
    resourceRules: [],
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/a'] }],
    evaluationError: '',
  });
});

test('what changed and what went counts from that moment', () => {
  const at = { namespace: 'a', name: 'b' };
  const alice = user('alice');
  policy.setBinding(at, binding('Role', 'r', subject('User alice')));
  policy.setRole({ namespace: 'a', name: 'r' }, readPods);
  expect(ask({ user: alice }).effect).toBe('allow');
  policy.setRole({ namespace: 'a', name: 'r' }, { rules: [] });
  expect(ask({ user: alice })).toEqual({ effect: 'noOpinion', reason: '' });
  policy.setRole({ namespace: 'a', name: 'r' }, readPods);
  policy.setBinding(at, binding('Role', 'r', subject('User bob'), subject('User bob')));
  expect(ask({ user: alice }).effect).toBe('noOpinion');
  expect(ask({ user: user('bob') }).effect).toBe('allow');
  policy.removeBinding('a/b');
  policy.removeBinding('a/b');
  expect(ask({ user: user('bob') }).effect).toBe('noOpinion');
  policy.removeRole('a/r');
});
