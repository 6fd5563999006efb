import { expect, test } from '@jest/globals';
import type { Attributes } from './authorizer.ts';
import { allowAuthorizer, denyAuthorizer, mastersAuthorizer, pathsAuthorizer } from './fixed.ts';
import { attributesOf } from './testing/attributes.ts';

const signal = new AbortController().signal;
const ofGroups = (...groups: string[]): Pick<Attributes, 'user'> => ({
  user: { name: 'u', uid: '', groups, extra: {} },
});

test('masters may do everything, others nothing by this', () => {
  const effectFor = (...groups: string[]) =>
    mastersAuthorizer.authorize(attributesOf(ofGroups(...groups)), signal);
  expect(effectFor('system:masters')).toMatchObject({ effect: 'allow' });
  expect(effectFor('system:authenticated')).toMatchObject({ effect: 'noOpinion' });
});

const nobody = 'system:unauthenticated';
const known = 'system:authenticated';
const monitoring = 'system:monitoring';

test.each([
  ['get', '/livez', nobody, 'allow'],
  ['head', '/readyz', nobody, 'allow'],
  ['get', '/healthz', nobody, 'allow'],
  ['get', '/version', nobody, 'allow'],
  ['get', '/version/', nobody, 'allow'],
  ['get', '/version/x', nobody, 'noOpinion'],
  ['post', '/livez', nobody, 'noOpinion'],
  ['get', '/livezzz', nobody, 'noOpinion'],
  ['get', '/api', nobody, 'noOpinion'],
  ['get', '/openapi/v2', nobody, 'noOpinion'],
  ['get', '', nobody, 'noOpinion'],
  ['get', '/livez', known, 'allow'],
  ['get', '/api', known, 'allow'],
  ['get', '/api/v1', known, 'allow'],
  ['get', '/apis/apps/v1', known, 'allow'],
  ['head', '/openapi/v3', known, 'allow'],
  ['get', '/openapi/v3/apis/apps/v1', known, 'allow'],
  ['post', '/api/v1', known, 'noOpinion'],
  ['get', '/', known, 'noOpinion'],
  ['get', '/livez/etcd', known, 'noOpinion'],
  ['get', '/metrics', known, 'noOpinion'],
  ['get', '/statusz', known, 'noOpinion'],
  ['get', '/livez/etcd', monitoring, 'allow'],
  ['get', '/metrics', monitoring, 'allow'],
  ['get', '/metrics/slis', monitoring, 'allow'],
  ['get', '/metrics/other', monitoring, 'noOpinion'],
  ['get', '/statusz', monitoring, 'allow'],
  ['get', '/flagz', monitoring, 'allow'],
])('%s %s for %s: %s', (verb, path, group, effect) => {
  const decision = pathsAuthorizer.authorize(
    attributesOf({ verb, path, ...ofGroups(group) }),
    signal,
  );
  expect(decision).toMatchObject({ effect });
});

test('a resource of that path is another matter', () => {
  const change = { isResourceRequest: true, path: '/livez' };
  expect(pathsAuthorizer.authorize(attributesOf(change), signal)).toMatchObject({
    effect: 'noOpinion',
  });
});

test('AlwaysAllow: allows everything; AlwaysDeny: denies everything, and says so', () => {
  const asked = attributesOf({ path: '/anything' });
  expect(allowAuthorizer.authorize(asked, signal)).toMatchObject({ effect: 'allow' });
  expect(denyAuthorizer.authorize(asked, signal)).toEqual({
    effect: 'noOpinion',
    reason: 'Everything is forbidden.',
  });
});

test('the rules of AlwaysAllow are all there are, AlwaysDeny has none', () => {
  const { user } = attributesOf();
  expect(allowAuthorizer.rulesFor?.(user, 'n')).toEqual({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
    evaluationError: '',
  });
  expect(denyAuthorizer.rulesFor?.(user, 'n')).toMatchObject({
    resourceRules: [],
    nonResourceRules: [],
  });
});
