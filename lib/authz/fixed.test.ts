import { expect, test } from '@jest/globals';
import type { Attributes } from './authorizer.ts';
import {
  allowAuthorizer,
  denyAuthorizer,
  mastersAuthorizer,
  openPathsAuthorizer,
} from './fixed.ts';
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

test.each([
  ['get', '/livez', 'allow'],
  ['head', '/readyz', 'allow'],
  ['post', '/readyz', 'allow'],
  ['get', '/livez/etcd', 'noOpinion'],
  ['get', '/livezzz', 'noOpinion'],
  ['get', '/debug/', 'allow'],
  ['get', '/debug/pprof', 'allow'],
  ['get', '/debug', 'noOpinion'],
  ['get', '/', 'noOpinion'],
  ['get', '', 'noOpinion'],
])('%s %s is open to everybody: %s', (verb, path, effect) => {
  const authorizer = openPathsAuthorizer(['/livez', 'readyz', '/debug/*']);
  const asked = attributesOf({ verb, path, ...ofGroups('system:unauthenticated') });
  expect(authorizer.authorize(asked, signal)).toMatchObject({ effect });
  const resource = attributesOf({ verb, path, isResourceRequest: true });
  expect(authorizer.authorize(resource, signal)).toMatchObject({ effect: 'noOpinion' });
});

test.each([
  ['/', '/', 'allow'],
  ['/', '/x', 'noOpinion'],
  ['*', '/x', 'allow'],
])('of %s: %s is %s', (path, asked, effect) => {
  const decision = openPathsAuthorizer([path]).authorize(attributesOf({ path: asked }), signal);
  expect(decision).toMatchObject({ effect });
});

test('a star elsewhere is refused', () => {
  expect(() => openPathsAuthorizer(['/ok', '/a/*/b'])).toThrow(
    'only trailing * allowed in "a/*/b"',
  );
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
