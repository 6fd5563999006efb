import { describe, expect, test } from '@jest/globals';
import { namingProfile } from '../../api/vendor.ts';
import type { Attributes } from '../authorizer.ts';
import { attributesOf } from '../testing/attributes.ts';
import { abacAuthorizer } from './abac.ts';
import { parsePolicyFile } from './policy-file.ts';

const naming = namingProfile('svc');
const { signal } = new AbortController();
const policy = (spec: object): string =>
  JSON.stringify({ apiVersion: 'abac.authorization.svc.io/v1beta1', kind: 'Policy', spec });
const authorizerOf = (...lines: readonly string[]) =>
  abacAuthorizer(parsePolicyFile(lines.join('\n'), naming).policies);

const userOf = (name: string, ...groups: string[]): Attributes['user'] => ({
  name,
  uid: '',
  groups,
  extra: {},
});
const known = userOf('alice', 'team-a', 'system:authenticated');
const anonymous = userOf('system:anonymous', 'system:unauthenticated');
const pods: Partial<Attributes> = {
  isResourceRequest: true,
  user: known,
  verb: 'get',
  version: 'v1',
  resource: 'pods',
  namespace: 'default',
};
const path = (text: string, verb = 'get'): Partial<Attributes> => ({
  user: known,
  verb,
  path: text,
});

const all = { namespace: '*', resource: '*', apiGroup: '*' };

describe('a policy of version v1beta1', () => {
  test.each<[spec: object, asked: Partial<Attributes>, effect: string]>([
    [{ user: 'alice', ...all }, pods, 'allow'],
    [{ user: 'alice', ...all }, { ...pods, namespace: '' }, 'allow'],
    [{ user: 'bob', ...all }, pods, 'noOpinion'],
    [{ group: 'team-a', ...all }, pods, 'allow'],
    [{ group: 'team-b', ...all }, pods, 'noOpinion'],
    [{ user: 'alice', group: 'team-b', ...all }, pods, 'noOpinion'],
    [{ user: 'bob', group: 'team-a', ...all }, pods, 'noOpinion'],
    [{ user: 'alice', group: 'team-a', ...all }, pods, 'allow'],
    [{ ...all }, pods, 'noOpinion'],
    [{ user: '*', ...all }, pods, 'allow'],
    [{ group: '*', ...all }, pods, 'allow'],
    [{ user: '*', ...all }, { ...pods, user: anonymous }, 'noOpinion'],
    [{ group: '*', ...all }, { ...pods, user: anonymous }, 'noOpinion'],
    [{ group: 'system:unauthenticated', ...all }, { ...pods, user: anonymous }, 'allow'],
    [{ user: 'system:anonymous', ...all }, { ...pods, user: anonymous }, 'allow'],
    [{ user: 'alice', resource: 'pods', namespace: 'default' }, pods, 'allow'],
    [{ user: 'alice', resource: 'pods', namespace: 'other' }, pods, 'noOpinion'],
    [{ user: 'alice', resource: 'pods' }, pods, 'noOpinion'],
    [{ user: 'alice', resource: 'pods' }, { ...pods, namespace: '' }, 'allow'],
    [{ user: 'alice', namespace: 'default' }, pods, 'noOpinion'],
    [{ user: 'alice', ...all, apiGroup: '' }, pods, 'allow'],
    [{ user: 'alice', ...all, apiGroup: 'apps' }, pods, 'noOpinion'],
    [{ user: 'alice', ...all, apiGroup: 'apps' }, { ...pods, group: 'apps' }, 'allow'],
    [{ user: 'alice', ...all, readonly: true }, { ...pods, verb: 'list' }, 'allow'],
    [{ user: 'alice', ...all, readonly: true }, { ...pods, verb: 'watch' }, 'allow'],
    [{ user: 'alice', ...all, readonly: true }, { ...pods, verb: 'delete' }, 'noOpinion'],
    [{ user: 'alice', ...all }, path('/metrics'), 'noOpinion'],
    [{ user: 'alice', nonResourcePath: '/metrics' }, path('/metrics'), 'allow'],
    [{ user: 'alice', nonResourcePath: '/metrics' }, path('/metrics/slis'), 'noOpinion'],
    [{ user: 'alice', nonResourcePath: '/metrics' }, path('/metrics', 'post'), 'allow'],
    [
      { user: 'alice', nonResourcePath: '/metrics', readonly: true },
      path('/metrics', 'post'),
      'noOpinion',
    ],
    [{ user: 'alice', nonResourcePath: '/debug/*' }, path('/debug/pprof/'), 'allow'],
    [{ user: 'alice', nonResourcePath: '/debug/*' }, path('/debug'), 'noOpinion'],
    [{ user: 'alice', nonResourcePath: '*' }, path('/'), 'allow'],
    [{ user: 'alice', nonResourcePath: '*' }, pods, 'noOpinion'],
  ])('%j about %j: %s', (spec, asked, effect) => {
    const decision = authorizerOf(policy(spec)).authorize(attributesOf(asked), signal);
    expect(decision).toEqual(
      effect === 'allow'
        ? { effect, reason: '' }
        : { effect: 'noOpinion', reason: 'No policy matched.' },
    );
  });
});

describe('a line without kind and version', () => {
  test.each<[line: string, asked: Partial<Attributes>, effect: string]>([
    ['{}', pods, 'allow'],
    ['{}', path('/metrics'), 'allow'],
    ['{}', { ...pods, user: anonymous }, 'noOpinion'],
    ['{"readonly": true}', { ...pods, verb: 'create' }, 'noOpinion'],
    ['{"user": "*"}', pods, 'allow'],
    ['{"group": "*", "user": "x"}', pods, 'allow'],
    ['{"user": "alice", "resource": "pods"}', { ...pods, group: 'apps' }, 'allow'],
    ['{"user": "alice", "resource": "pods"}', path('/metrics'), 'noOpinion'],
    ['{"user": "alice", "namespace": "default"}', pods, 'allow'],
    ['{"user": "alice", "namespace": "other"}', pods, 'noOpinion'],
    ['{"user": "bob"}', pods, 'noOpinion'],
  ])('%s about %j: %s', (line, asked, effect) => {
    const decision = authorizerOf(line).authorize(attributesOf(asked), signal);
    expect(decision).toMatchObject({ effect });
    expect(parsePolicyFile(line, naming).unversionedCount).toBe(1);
  });
});

test.each([
  ['{"not": json', /^line 3: /],
  ['[]', /^line 3: must be one JSON object/],
  ['"x"', /^line 3: must be one JSON object/],
  ['{"user": 1}', /^line 3: user: must be a text/],
  ['{"readonly": "yes"}', /^line 3: readonly: must be true or false/],
  ['{"users": "a"}', /^line 3: unknown field "users"/],
  [policy({ nonresourcePath: '*' }), /^line 3: unknown field "spec.nonresourcePath"/],
  [policy([]), /^line 3: spec: must be an object/],
  ['{"kind": "Policy"}', /^line 3: must be of kind Policy in version abac\.authorization\.svc\.io/],
  [
    '{"kind": "Policy", "apiVersion": "abac.authorization.k8s.io/v1beta1"}',
    /^line 3: must be of kind Policy/,
  ],
])('a bad line is named: %s', (line, message) => {
  expect(() => parsePolicyFile(`# a comment\n \n${line}\n`, naming)).toThrow(message);
});

test('rules are those of the policies of the user and the namespace', () => {
  const authorizer = authorizerOf(
    policy({ user: 'alice', ...all, readonly: true }),
    policy({ user: 'alice', namespace: 'n', resource: 'pods' }),
    policy({ user: 'alice', namespace: 'other', resource: 'pods' }),
    policy({ user: 'bob', ...all }),
    policy({ group: 'team-a', namespace: '*', nonResourcePath: '/x' }),
  );
  expect(authorizer.rulesFor?.(known, 'n')).toEqual({
    resourceRules: [
      { verbs: ['get', 'list', 'watch'], apiGroups: ['*'], resources: ['*'], resourceNames: [] },
      { verbs: ['*'], apiGroups: [''], resources: ['pods'], resourceNames: [] },
    ],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/x'] }],
    incomplete: false,
    evaluationError: '',
  });
});
