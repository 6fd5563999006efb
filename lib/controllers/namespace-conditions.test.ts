import { describe, expect, test } from '@jest/globals';
import { namespaceConditions } from './namespace-conditions.ts';
import type { Remains } from './namespace-conditions.ts';

const nothing: Remains = { countByResource: new Map(), countByFinalizer: new Map(), failures: [] };
const find = (list: readonly unknown[], type: string): unknown =>
  list.find((one) => (one as { type: string }).type === type);

describe('the conditions of an ending namespace', () => {
  test('say what is in the way, in one order', () => {
    const list = namespaceConditions(
      [],
      {
        countByResource: new Map([
          ['secrets.', 2],
          ['deployments.apps', 1],
        ]),
        countByFinalizer: new Map([['example.com/h', 3]]),
        failures: ['secrets.: no', 'configmaps.: no'],
      },
      0,
    );
    expect(find(list, 'NamespaceContentRemaining')).toEqual({
      type: 'NamespaceContentRemaining',
      status: 'True',
      lastTransitionTime: '1970-01-01T00:00:00Z',
      reason: 'SomeResourcesRemain',
      message:
        'Some resources are remaining: deployments.apps has 1 resource instances, ' +
        'secrets. has 2 resource instances',
    });
    expect(find(list, 'NamespaceDeletionContentFailure')).toMatchObject({
      status: 'True',
      reason: 'ContentDeletionFailed',
      message: 'Failed to delete all resource types, 2 remaining: configmaps.: no, secrets.: no',
    });
    expect(find(list, 'NamespaceFinalizersRemaining')).toMatchObject({
      status: 'True',
      message:
        'Some content in the namespace has finalizers remaining: ' +
        'example.com/h in 3 resource instances',
    });
  });

  test('stay the same list while nothing changes, and keep their time with their status', () => {
    const held = (count: number): Remains => ({
      ...nothing,
      countByFinalizer: new Map([['example.com/h', count]]),
    });
    const first = namespaceConditions([], held(1), 0);
    expect(namespaceConditions(first, held(1), 5_000)).toBe(first);
    const second = namespaceConditions(first, held(2), 5_000);
    const since = { lastTransitionTime: '1970-01-01T00:00:00Z' };
    expect(find(second, 'NamespaceFinalizersRemaining')).toMatchObject({
      ...since,
      status: 'True',
    });
    const last = namespaceConditions(second, nothing, 5_000);
    expect(find(last, 'NamespaceFinalizersRemaining')).toMatchObject({
      status: 'False',
      lastTransitionTime: '1970-01-01T00:00:05Z',
      reason: 'ContentHasNoFinalizers',
    });
  });

  test('say in one form for all of them that nothing is in the way', () => {
    const list = namespaceConditions([], nothing, 0) as readonly Record<string, string>[];
    expect(
      list.map(({ type, status, reason, message }) => [type, status, reason, message]),
    ).toEqual([
      [
        'NamespaceDeletionDiscoveryFailure',
        'False',
        'ResourcesDiscovered',
        'All resources successfully discovered',
      ],
      [
        'NamespaceDeletionGroupVersionParsingFailure',
        'False',
        'ParsedGroupVersions',
        'All legacy kube types successfully parsed',
      ],
      [
        'NamespaceDeletionContentFailure',
        'False',
        'ContentDeleted',
        'All content successfully deleted, may be waiting on finalization',
      ],
      ['NamespaceContentRemaining', 'False', 'ContentRemoved', 'All content successfully removed'],
      [
        'NamespaceFinalizersRemaining',
        'False',
        'ContentHasNoFinalizers',
        'All content-preserving finalizers finished',
      ],
    ]);
  });

  test("leave others' conditions alone", () => {
    const other = { type: 'Mine', status: 'True' };
    expect(namespaceConditions([other], nothing, 0)[0]).toBe(other);
  });
});
