import { describe, expect, test } from '@jest/globals';
import { naming } from '../testing/asked.ts';
import { readLimitedResources } from './limited-resources.ts';

const limitedResources = [
  {
    apiGroup: 'apps',
    resource: 'deployments',
    matchContains: ['count/'],
    matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }],
  },
  { resource: 'pods' },
];
const plain = { kind: 'ResourceQuotaConfiguration', apiVersion: 'apiserver.config.svc.io/v1' };
const older = (version: string): object => ({
  kind: 'Configuration',
  apiVersion: `resourcequota.admission.svc.io/${version}`,
});

describe('the configuration of ResourceQuota', () => {
  test.each([plain, older('v1beta1'), older('v1alpha1')])('q.limited: is read of %j', (kind) => {
    expect(readLimitedResources({ ...kind, limitedResources }, naming)).toEqual([
      limitedResources[0],
      { apiGroup: '', resource: 'pods', matchContains: [], matchScopes: [] },
    ]);
  });

  test('q.limited: limits nothing where there is none', () => {
    expect(readLimitedResources(undefined, naming)).toEqual([]);
    expect(readLimitedResources(plain, naming)).toEqual([]);
  });

  test.each<[object, string]>([
    [{ ...plain, limitedResources: [{}] }, 'limitedResources[0].resource: Required value'],
    [{ ...plain, limited: [] }, 'unknown field "limited"'],
    [
      { ...plain, limitedResources: [{ resource: 'pods', matchScopes: [{ scope: 'a' }] }] },
      'unknown field "limitedResources[0].matchScopes[0].scope"',
    ],
    [
      older('v1'),
      'must be of kind Configuration in version resourcequota.admission.svc.io/v1beta1',
    ],
    [{ kind: 'Other' }, 'must be of kind ResourceQuotaConfiguration'],
  ])('%j is refused', (document, text) => {
    expect(() => readLimitedResources(document, naming)).toThrow(text);
  });
});
