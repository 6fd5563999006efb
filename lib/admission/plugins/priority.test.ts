import { describe, expect, test } from '@jest/globals';
import { resourceOf } from '../testing/asked.ts';
import { admit } from '../testing/cluster.ts';
import type { Admitted } from '../testing/cluster.ts';
import { priority } from './priority.ts';

const high = { metadata: { name: 'high' }, value: 1000, preemptionPolicy: 'Never' };
const normal = { metadata: { name: 'normal' }, value: 55, globalDefault: true };
const other = { metadata: { name: 'other' }, value: 66, globalDefault: true };

const ask = (spec: object, classes: readonly object[], change = {}): Promise<Admitted> => {
  const pod = { metadata: { namespace: 'a', name: 'x' }, spec };
  return admit(priority, { memory: { priorityclasses: classes } }, pod, change);
};

describe('a new pod', () => {
  test.each([
    [{ priorityClassName: 'high' }, [high], { priority: 1000, preemptionPolicy: 'Never' }],
    [{}, [high], { priority: 0, preemptionPolicy: 'PreemptLowerPriority' }],
    [{}, [normal], { priorityClassName: 'normal', priority: 55 }],
    [{}, [other, normal], { priorityClassName: 'normal', priority: 55 }],
    [{ priorityClassName: 'high', priority: 1000 }, [high], { priority: 1000 }],
  ])('p.Priority: %j of %j becomes %j', async (spec, classes, expected) => {
    const { object, refused } = await ask(spec, classes);
    expect(refused).toBeUndefined();
    expect(object['spec']).toMatchObject(expected);
  });

  test.each([
    [{ priorityClassName: 'none' }, 'no PriorityClass with name none was found'],
    [
      { priority: 7 },
      'the integer value of priority (7) must not be provided in pod spec; priority admission ' +
        'controller computed 0 from the given PriorityClass name',
    ],
    [
      { priorityClassName: 'high', preemptionPolicy: 'PreemptLowerPriority' },
      'the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod ' +
        'spec; priority admission controller computed Never from the given PriorityClass name',
    ],
  ])('p.Priority: %j is refused', async (spec, text) => {
    expect((await ask(spec, [high])).refused).toBe(`403 pods "x" is forbidden: ${text}`);
  });

  test('has a class that memory does not know yet', async () => {
    const pod = { metadata: { name: 'x' }, spec: { priorityClassName: 'high' } };
    const { object } = await admit(priority, { store: { priorityclasses: [high] } }, pod);
    expect(object['spec']).toMatchObject({ priority: 1000 });
  });
});

test.each([
  [{}, { priority: 5, preemptionPolicy: 'Never' }, { priority: 5, preemptionPolicy: 'Never' }],
  [{ priority: 6 }, { priority: 5 }, { priority: 6 }],
  [{}, {}, {}],
])('p.Priority: an update %j of %j is %j', async (spec, old, expected) => {
  const change = { operation: 'UPDATE', old: { spec: old } };
  const { object, isChanged } = await ask(spec, [normal], change);
  expect(object['spec']).toEqual(expected);
  expect(isChanged).toBe(JSON.stringify(spec) !== JSON.stringify(expected));
});

describe('only one class is for all', () => {
  const resource = resourceOf('priorityclasses', 'scheduling.{v}');
  const judge = async (
    object: object,
    change: object,
    store: readonly object[],
  ): Promise<string | undefined> => {
    const known = { memory: {}, store: { priorityclasses: store } };
    const asked = { resource, namespace: '', name: 'other', ...change };
    return (await admit(priority, known, object, asked)).refused;
  };
  const text =
    '403 priorityclasses.scheduling.svc.io "other" is forbidden: PriorityClass normal is already ' +
    'marked as default. Only one default can exist';

  test.each([
    ['a second one', other, { operation: 'CREATE' }, [normal], text],
    ['one that becomes it', other, { operation: 'UPDATE' }, [normal, other], text],
    ['the first', other, { operation: 'CREATE' }, [high], undefined],
    ['that one again', other, { operation: 'UPDATE' }, [other], undefined],
    ['another', high, { operation: 'CREATE' }, [normal], undefined],
  ])('%s', async (_claim, object, change, store, refused) => {
    expect(await judge(object, change, store)).toBe(refused);
  });
});
