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
          ['secrets', 2],
          ['deployments.apps', 1],
        ]),
        countByFinalizer: new Map([['example.com/h', 3]]),
        failures: ['configmaps: no'],
      },
      0,
    );
    expect(find(list, 'NamespaceContentRemaining')).toEqual({
      type: 'NamespaceContentRemaining',
      status: 'True',
      lastTransitionTime: '1970-01-01T00:00:00Z',
      reason: 'SomeResourcesRemain',
      message: 'objects that remain: deployments.apps (1), secrets (2)',
    });
    expect(find(list, 'NamespaceDeletionContentFailure')).toMatchObject({
      status: 'True',
      reason: 'ContentDeletionFailed',
      message: 'configmaps: no',
    });
    expect(find(list, 'NamespaceFinalizersRemaining')).toMatchObject({ status: 'True' });
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

  test("leave others' conditions alone", () => {
    const other = { type: 'Mine', status: 'True' };
    expect(namespaceConditions([other], nothing, 0)[0]).toBe(other);
  });
});
