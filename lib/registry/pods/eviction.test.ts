// Evictions on a real etcd: how pods go without a budget, what is refused, what admission sees.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PodEvictions, success } from '../testing/pod-evictions.ts';
import type { EvictionTexts } from '../testing/pod-evictions.ts';
import { codeOf, failure, fresh } from '../testing/verb-driver.ts';

let api: PodEvictions;
beforeAll(async () => {
  api = await PodEvictions.start();
});
afterAll(() => api.registry.stop());

describe('a pod without a budget', () => {
  test('is deleted with its own grace, and says by whom', async () => {
    const { name, generation } = (await api.newPod(fresh())).metadata;
    expect(await api.evict(name)).toEqual(success);
    const pod = await api.verbs.get(api.pods, name);
    expect(pod.metadata).toMatchObject({
      deletionTimestamp: expect.any(String),
      deletionGracePeriodSeconds: 20,
      generation: Number(generation) + 1,
    });
    expect((pod['status'] as { conditions: object[] }).conditions).toEqual([
      expect.objectContaining({ type: 'Ready' }),
      {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'EvictionByEvictionAPI',
        message: 'Eviction API: evicting',
        lastProbeTime: null,
        lastTransitionTime: expect.any(String),
      },
    ]);
  });

  test.each([
    ['with the grace of the options', { gracePeriodSeconds: 7 }, 7],
    ['with the shortest grace for a negative one', { gracePeriodSeconds: -1 }, 1],
  ])('is deleted %s', async (_how, options, seconds) => {
    const { name } = (await api.newPod(fresh())).metadata;
    await api.evict(name, { options });
    expect((await api.verbs.get(api.pods, name)).metadata).toMatchObject({
      deletionGracePeriodSeconds: seconds,
    });
  });

  test('is gone at once with no grace', async () => {
    const { name } = (await api.newPod(fresh())).metadata;
    await api.evict(name, { options: { gracePeriodSeconds: 0 } });
    expect(await api.isGone(name)).toBe(true);
  });

  test('gets the finalizer of the policy that is asked for', async () => {
    const { name } = (await api.newPod(fresh())).metadata;
    await api.evict(name, { options: { propagationPolicy: 'Foreground' } });
    const { finalizers } = (await api.verbs.get(api.pods, name)).metadata;
    expect(finalizers).toEqual(['foregroundDeletion']);
  });

  test.each([
    ['the query', { query: 'dryRun=All' }],
    ['the options', { options: { dryRun: ['All'] } }],
    ['both', { query: 'dryRun=All', options: { dryRun: ['All'], gracePeriodSeconds: 0 } }],
  ])('stays as it is in a dry run by %s', async (_how, how) => {
    const made = await api.newPod(fresh());
    expect(await api.evict(made.metadata.name, how)).toEqual(success);
    expect(await api.verbs.get(api.pods, made.metadata.name)).toEqual(made);
  });

  test.each([
    ['uid', 'UID', '11111111-2222-3333-4444-555555555555'],
    ['resourceVersion', 'ResourceVersion', '1'],
  ])('is 409 where the %s of the options is another', async (member, what, value) => {
    const made = await api.newPod(fresh());
    const { name } = made.metadata;
    for (const dryRun of [[], ['All']]) {
      const options = { preconditions: { [member]: value }, dryRun };
      const error = await failure(api.evict(name, { options }));
      expect(error).toMatchObject({ code: 409, reason: 'Conflict' });
      expect(error.message).toContain(`the ${what} in the precondition (${value})`);
    }
    expect(await api.verbs.get(api.pods, name)).toEqual(made);
  });

  test('goes where uid and version are its own', async () => {
    const { name, uid, resourceVersion } = (await api.newPod(fresh())).metadata;
    const options = { preconditions: { uid, resourceVersion }, gracePeriodSeconds: 0 };
    expect(await api.evict(name, { options })).toEqual(success);
    expect(await api.isGone(name)).toBe(true);
  });

  test('may be evicted again: only sooner', async () => {
    const { name } = (await api.newPod(fresh())).metadata;
    await api.evict(name);
    const marked = await api.verbs.get(api.pods, name);
    expect(await api.evict(name)).toEqual(success);
    expect(await api.verbs.get(api.pods, name)).toEqual(marked);
    await api.evict(name, { options: { gracePeriodSeconds: 3 } });
    expect((await api.verbs.get(api.pods, name)).metadata).toMatchObject({
      deletionGracePeriodSeconds: 3,
    });
  });
});

describe('an eviction', () => {
  test('is 404 for a pod that is not there', async () => {
    expect(await failure(api.evict('absent'))).toMatchObject({
      code: 404,
      message: 'pods "absent" not found',
    });
  });

  test.each<[string, EvictionTexts, number]>([
    ['another name', { metadata: { name: 'other' } }, 400],
    ['no name', { metadata: { name: '' } }, 400],
    ['another namespace', { metadata: { namespace: 'x' } }, 400],
    ['a dry run of something', { options: { dryRun: ['x'] } }, 422],
    ['a policy that nobody knows', { options: { propagationPolicy: 'x' } }, 422],
    ['two policies', { options: { propagationPolicy: 'Orphan', orphanDependents: true } }, 422],
    ['options of another kind', { options: { kind: 'Pod' } }, 400],
  ])('with %s is refused', async (_what, how, code) => {
    const made = await api.newPod(fresh());
    expect(await codeOf(api.evict(made.metadata.name, how))).toBe(code);
    expect(await api.verbs.get(api.pods, made.metadata.name)).toEqual(made);
  });

  test('is admitted itself, the deletion behind it is not', async () => {
    const app = fresh();
    const { name } = (await api.newPod(app)).metadata;
    await api.newBudget(app, { disruptionsAllowed: 2 });
    api.admitted.length = 0;
    await api.evict(name, { query: 'dryRun=All' });
    expect(api.admitted.splice(0)).toEqual(['CREATE pods/eviction by tester, dry run']);
    expect(await codeOf(api.evict(name, { metadata: { labels: { deny: '1' } } }))).toBe(403);
    expect(api.admitted.splice(0)).toEqual(['CREATE pods/eviction by tester']);
    await api.evict(name);
    expect(api.admitted.splice(0)).toEqual([
      'CREATE pods/eviction by tester',
      'UPDATE poddisruptionbudgets/status by system:apiserver',
    ]);
  });
});
