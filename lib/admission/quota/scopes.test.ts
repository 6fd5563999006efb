import { describe, expect, test } from '@jest/globals';
import type { ApiObject } from '../../codec/codec.ts';
import { claimMatches, podMatches, scopesOf } from './scopes.ts';
import type { ScopeRequirement } from './scopes.ts';

const requirement = (text: string): ScopeRequirement => {
  const [scopeName = '', operator = 'Exists', ...values] = text.split(' ');
  return { scopeName, operator, values };
};
const podOf = (spec: object): ApiObject => ({ spec }) as unknown as ApiObject;
const requests = { resources: { requests: { cpu: '1' } } };

describe('q.scopes', () => {
  test.each<[string, object, boolean]>([
    ['Terminating', { activeDeadlineSeconds: 0 }, true],
    ['Terminating', { activeDeadlineSeconds: 5 }, true],
    ['Terminating', {}, false],
    ['NotTerminating', {}, true],
    ['NotTerminating', { activeDeadlineSeconds: 5 }, false],
    ['BestEffort', { containers: [{}] }, true],
    ['BestEffort', { containers: [{}, requests] }, false],
    ['NotBestEffort', { containers: [{}, requests] }, true],
    ['NotBestEffort', { containers: [{}] }, false],
    ['PriorityClass', { priorityClassName: 'high' }, true],
    ['PriorityClass', {}, false],
    ['PriorityClass In high low', { priorityClassName: 'high' }, true],
    ['PriorityClass In low', { priorityClassName: 'high' }, false],
    ['PriorityClass In low', {}, false],
    ['PriorityClass NotIn low', { priorityClassName: 'high' }, true],
    ['PriorityClass NotIn high', { priorityClassName: 'high' }, false],
    ['PriorityClass NotIn high', {}, true],
    ['PriorityClass DoesNotExist', {}, true],
    ['PriorityClass DoesNotExist', { priorityClassName: 'high' }, false],
    ['CrossNamespacePodAffinity', {}, false],
    ['VolumeAttributesClass', {}, false],
    ['Other', {}, false],
  ])('q.scopes: %s of a pod with %j: %s', (scope, spec, expected) => {
    expect(podMatches(requirement(scope), podOf(spec))).toBe(expected);
  });

  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';
  test.each<[object, boolean]>([
    [{ podAffinity: { [required]: [{ namespaces: ['b'] }] } }, true],
    [{ podAffinity: { [required]: [{ topologyKey: 'z' }] } }, false],
    [{ podAntiAffinity: { [required]: [{}, { namespaceSelector: {} }] } }, true],
    [{ podAffinity: { [preferred]: [{ podAffinityTerm: { namespaces: ['b'] } }] } }, true],
    [{ podAntiAffinity: { [preferred]: [{ podAffinityTerm: { namespaceSelector: {} } }] } }, true],
    [{ podAntiAffinity: { [preferred]: [{ podAffinityTerm: {} }] } }, false],
    [{ nodeAffinity: {} }, false],
  ])('q.scopes: CrossNamespacePodAffinity of %j: %s', (affinity, expected) => {
    expect(podMatches(requirement('CrossNamespacePodAffinity'), podOf({ affinity }))).toBe(
      expected,
    );
  });

  const wanted = { spec: { volumeAttributesClassName: 'a' } };
  const moving = {
    ...wanted,
    status: {
      currentVolumeAttributesClassName: 'b',
      modifyVolumeStatus: { targetVolumeAttributesClassName: 'c' },
    },
  };
  test.each<[string, object, boolean]>([
    ['VolumeAttributesClass', {}, false],
    ['VolumeAttributesClass', wanted, true],
    ['VolumeAttributesClass', { status: moving.status }, true],
    ['VolumeAttributesClass In b', moving, true],
    ['VolumeAttributesClass In c', moving, true],
    ['VolumeAttributesClass In d', moving, false],
    ['VolumeAttributesClass NotIn d', {}, true],
    ['VolumeAttributesClass NotIn a', wanted, false],
    ['VolumeAttributesClass NotIn a b', moving, true],
    ['VolumeAttributesClass DoesNotExist', {}, true],
    ['VolumeAttributesClass DoesNotExist', wanted, false],
    ['BestEffort', {}, false],
  ])('q.scopes: %s of a claim %j: %s', (scope, claim, expected) => {
    expect(claimMatches(requirement(scope), claim as ApiObject)).toBe(expected);
  });

  test('q.scopes: the list and the selector hold together', () => {
    const matchExpressions = [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }];
    const spec = { scopes: ['Terminating'], scopeSelector: { matchExpressions } };
    expect(scopesOf({ spec })).toEqual([
      { scopeName: 'Terminating', operator: 'Exists', values: [] },
      { scopeName: 'PriorityClass', operator: 'In', values: ['high'] },
    ]);
  });
});
