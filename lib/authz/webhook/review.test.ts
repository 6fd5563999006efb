import { describe, expect, test } from '@jest/globals';
import { namingProfile } from '../../api/vendor.ts';
import type { Attributes } from '../authorizer.ts';
import { attributesOf } from '../testing/attributes.ts';
import { reviewCodec } from './review.ts';
import type { ReviewVersion } from './review.ts';

const naming = namingProfile('svc');
const user = {
  name: 'jane',
  uid: 'u1',
  groups: ['g1', 'g2'],
  extra: { Scopes: ['a'], scopes: ['b'] },
};
const pods: Partial<Attributes> = {
  user,
  isResourceRequest: true,
  verb: 'list',
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  subresource: 'scale',
  namespace: 'n',
  name: 'web',
};
const sent = (asked: Partial<Attributes>, version: ReviewVersion = 'v1'): unknown =>
  JSON.parse(Buffer.from(reviewCodec(version, naming).encode(attributesOf(asked))).toString());
const resource = {
  namespace: 'n',
  verb: 'list',
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  subresource: 'scale',
  name: 'web',
};

describe('a review', () => {
  test('of version v1 says groups', () => {
    expect(sent(pods)).toEqual({
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.svc.io/v1',
      metadata: {},
      spec: {
        resourceAttributes: resource,
        user: 'jane',
        uid: 'u1',
        groups: ['g1', 'g2'],
        extra: { scopes: ['a', 'b'] },
      },
      status: { allowed: false },
    });
  });

  test('of version v1beta1 says group', () => {
    expect(sent(pods, 'v1beta1')).toMatchObject({
      apiVersion: 'authorization.svc.io/v1beta1',
      spec: { group: ['g1', 'g2'] },
    });
    expect(sent(pods, 'v1beta1')).not.toHaveProperty('spec.groups');
  });

  test('of a path; what is empty is left out', () => {
    expect(sent({ path: '/a' })).toHaveProperty('spec', {
      nonResourceAttributes: { path: '/a', verb: 'get' },
      user: 'u',
    });
  });

  test.each<[selectors: Partial<Attributes>, expected: object]>([
    [
      {
        fieldSelector: { requirements: [{ key: 'metadata.name', operator: 'in', values: ['d'] }] },
        labelSelector: {
          requirements: [
            { key: 'a', operator: 'notIn', values: ['b', 'c'] },
            { key: 'd', operator: 'exists', values: [] },
            { key: 'e', operator: 'notExists', values: [] },
            { key: 'f', operator: 'greaterThan', values: ['1'] },
          ],
        },
      },
      {
        fieldSelector: { requirements: [{ key: 'metadata.name', operator: 'In', values: ['d'] }] },
        labelSelector: {
          requirements: [
            { key: 'a', operator: 'NotIn', values: ['b', 'c'] },
            { key: 'd', operator: 'Exists' },
            { key: 'e', operator: 'DoesNotExist' },
          ],
        },
      },
    ],
    [
      { fieldSelector: { rawSelector: 'a~b' }, labelSelector: undefined },
      { fieldSelector: { rawSelector: 'a~b' } },
    ],
    [{ labelSelector: { requirements: [{ key: 'f', operator: 'lessThan', values: ['1'] }] } }, {}],
  ])('carries selectors: %j', (selectors, expected) => {
    expect(sent({ ...pods, ...selectors })).toHaveProperty('spec.resourceAttributes', {
      ...resource,
      ...expected,
    });
  });
});

describe('an answer', () => {
  const codec = reviewCodec('v1', naming);
  const answer = (value: unknown) => codec.decode(Buffer.from(JSON.stringify(value)));
  const own = { apiVersion: 'authorization.svc.io/v1', kind: 'SubjectAccessReview' };
  const nothing = { allowed: false, denied: false, reason: '', evaluationError: '' };

  test.each<[value: object, status: object]>([
    [
      { ...own, status: { allowed: true, reason: 'r' } },
      { allowed: true, reason: 'r' },
    ],
    [{ ...own, status: { allowed: false, denied: true } }, { denied: true }],
    [{ ...own, status: { allowed: false, evaluationError: 'e' } }, { evaluationError: 'e' }],
    [{ ...own, status: { allowed: null } }, {}],
    [own, {}],
    [{ status: { allowed: true } }, { allowed: true }],
    [{ apiVersion: own.apiVersion, status: { allowed: true } }, { allowed: true }],
  ])('%j', (value, status) => {
    expect(answer(value)).toEqual({ ...nothing, ...status });
  });

  test.each<[value: unknown]>([
    [{ ...own, apiVersion: 'authorization.svc.io/v1beta1', status: { allowed: true } }],
    [{ ...own, apiVersion: 'authorization.k8s.io/v1', status: { allowed: true } }],
    [{ ...own, kind: 'TokenReview', status: { allowed: true } }],
    [{ ...own, status: { allowed: 'true' } }],
    [{ ...own, status: { allowed: true, reason: 1 } }],
    [{ ...own, status: true }],
    [[]],
    ['x'],
  ])('%j is none', (value) => {
    expect(() => answer(value)).toThrow();
  });
});
