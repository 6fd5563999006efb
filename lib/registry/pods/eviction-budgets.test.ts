// Evictions under disruption budgets, on a real etcd: what is charged, what is refused, and that
// neither races nor replicas get more out of a budget than it allows.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StatusError } from '../../base/status.ts';
import { PodEvictions, ready, success, unready } from '../testing/pod-evictions.ts';
import type { Replica } from '../testing/registry-on-etcd.ts';
import { codeOf, failure, fresh, scope } from '../testing/verb-driver.ts';
import type { Sent } from '../testing/verb-driver.ts';

let api: PodEvictions;
beforeAll(async () => {
  api = await PodEvictions.start();
});
afterAll(() => api.registry.stop());

describe('a budget', () => {
  test('is charged for each pod, until nothing is left', async () => {
    const app = fresh();
    const made = [await api.newPod(app), await api.newPod(app), await api.newPod(app)];
    const names = made.map(({ metadata }) => metadata.name);
    const budget = await api.newBudget(app, { disruptionsAllowed: 2, currentHealthy: 3 });
    const [first = '', second = '', third = ''] = names;
    await api.evict(first);
    expect(await api.statusOf(budget)).toMatchObject({
      disruptionsAllowed: 1,
      disruptedPods: { [first]: expect.any(String) },
    });
    expect(await api.statusOf(budget)).not.toHaveProperty('conditions');
    await api.evict(second);
    expect(await api.statusOf(budget)).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { [first]: expect.any(String), [second]: expect.any(String) },
      conditions: [
        { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods', message: '' },
      ],
    });
    const charged = await api.verbs.get(api.budgets, budget);
    expect(await failure(api.evict(third))).toMatchObject({
      code: 429,
      reason: 'TooManyRequests',
      details: {
        causes: [
          {
            reason: 'DisruptionBudget',
            message: `The disruption budget ${budget} does not allow evicting pods currently`,
          },
        ],
      },
    });
    expect(await api.verbs.get(api.pods, third)).toEqual(made[2]);
    expect(await api.verbs.get(api.budgets, budget)).toEqual(charged);
    expect(charged.metadata['generation']).toBe(1);
  });

  test('whose status lags says when to come again', async () => {
    const app = fresh();
    const made = await api.newPod(app);
    await api.newBudget(app, { disruptionsAllowed: 2, observedGeneration: 0 });
    expect((await failure(api.evict(made.metadata.name))).details).toMatchObject({
      retryAfterSeconds: 10,
      causes: [{ reason: 'DisruptionBudget' }],
    });
    expect(await api.verbs.get(api.pods, made.metadata.name)).toEqual(made);
  });

  test('is judged and not charged in a dry run', async () => {
    const app = fresh();
    const made = await api.newPod(app);
    const { name } = made.metadata;
    const budget = await api.newBudget(app, { disruptionsAllowed: 1 });
    const before = await api.verbs.get(api.budgets, budget);
    await api.evict(name, { query: 'dryRun=All' });
    expect(await api.verbs.get(api.budgets, budget)).toEqual(before);
    expect(await api.verbs.get(api.pods, name)).toEqual(made);
    const none = { status: { disruptionsAllowed: 0 } };
    await api.verbs.patch(api.budgets, budget, none, { subresource: 'status' });
    expect(await codeOf(api.evict(name, { query: 'dryRun=All' }))).toBe(429);
  });

  test('is not charged where a precondition of the deletion fails', async () => {
    const app = fresh();
    const { name } = (await api.newPod(app)).metadata;
    const budget = await api.newBudget(app, { disruptionsAllowed: 1 });
    const options = { preconditions: { uid: 'another' } };
    expect(await codeOf(api.evict(name, { options }))).toBe(409);
    expect(await api.statusOf(budget)).toMatchObject({ disruptionsAllowed: 1 });
  });

  test('is written by the server, which comes to own what it wrote', async () => {
    const app = fresh();
    const { name } = (await api.newPod(app)).metadata;
    const budget = await api.newBudget(app, { disruptionsAllowed: 2 });
    await api.evict(name);
    const { managedFields } = (await api.verbs.get(api.budgets, budget)).metadata;
    expect(managedFields).toContainEqual(
      expect.objectContaining({
        manager: 'system:apiserver',
        operation: 'Update',
        subresource: 'status',
      }),
    );
  });

  test.each([
    ['has succeeded', { status: { phase: 'Succeeded' } }],
    ['has failed', { status: { phase: 'Failed' } }],
    ['does not run yet', { status: { phase: 'Pending' } }],
  ])('says nothing of a pod that %s', async (_what, how) => {
    const app = fresh();
    const { name } = (await api.newPod(app, how)).metadata;
    const budget = await api.newBudget(app, { disruptionsAllowed: 0 });
    expect(await api.evict(name, { options: { gracePeriodSeconds: 0 } })).toEqual(success);
    expect(await api.isGone(name)).toBe(true);
    expect(await api.statusOf(budget)).not.toHaveProperty('disruptedPods');
  });

  test('says nothing of a pod whose deletion has begun', async () => {
    const app = fresh();
    const { name } = (await api.newPod(app)).metadata;
    await api.newBudget(app, { disruptionsAllowed: 0 });
    await api.verbs.remove(api.pods, name);
    expect(await api.evict(name)).toEqual(success);
  });

  test.each<[string, object, object, object, boolean]>([
    ['a ready one', ready, { currentHealthy: 2, desiredHealthy: 2 }, {}, false],
    ['one that is not ready', unready, { currentHealthy: 2, desiredHealthy: 2 }, {}, true],
    ['one while too few are healthy', unready, { currentHealthy: 1, desiredHealthy: 2 }, {}, false],
    [
      'one that always may go',
      unready,
      { currentHealthy: 1, desiredHealthy: 2 },
      { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
      true,
    ],
  ])('of nothing lets go %s: %#', async (_which, status, counts, spec, goes) => {
    const app = fresh();
    const { name } = (await api.newPod(app, { status })).metadata;
    const budget = await api.newBudget(app, { disruptionsAllowed: 0, ...counts }, spec);
    const eviction = api.evict(name, { options: { gracePeriodSeconds: 0 } });
    if (goes) expect(await eviction).toEqual(success);
    else expect(await codeOf(eviction)).toBe(429);
    expect(await api.isGone(name)).toBe(goes);
    expect(await api.statusOf(budget)).not.toHaveProperty('disruptedPods');
  });

  test('that is gone when it is to be charged forbids nothing', async () => {
    const app = fresh();
    const { name } = (await api.newPod(app)).metadata;
    const budget = await api.newBudget(app, { disruptionsAllowed: 1 });
    api.meanwhile(() => api.verbs.remove(api.budgets, budget));
    expect(await api.evict(name, { options: { gracePeriodSeconds: 0 } })).toEqual(success);
    expect(await api.isGone(name)).toBe(true);
  });

  test('that allows less when it is to be charged is asked again', async () => {
    const app = fresh();
    const made = await api.newPod(app);
    const budget = await api.newBudget(app, { disruptionsAllowed: 1 });
    const none = { status: { disruptionsAllowed: 0 } };
    api.meanwhile(() => api.verbs.patch(api.budgets, budget, none, { subresource: 'status' }));
    expect(await codeOf(api.evict(made.metadata.name))).toBe(429);
    expect(await api.statusOf(budget)).not.toHaveProperty('disruptedPods');
    expect(await api.verbs.get(api.pods, made.metadata.name)).toEqual(made);
  });

  test('charged for a pod lets go no other one of its name', async () => {
    const app = fresh();
    const { name } = (await api.newPod(app)).metadata;
    await api.newBudget(app, { disruptionsAllowed: 1 });
    let next: Sent | undefined;
    api.meanwhile(async () => {
      await api.verbs.remove(api.pods, name, { body: { gracePeriodSeconds: 0 } });
      next = await api.newPod(app, { metadata: { name } });
    });
    expect(await codeOf(api.evict(name))).toBe(429);
    expect(await api.verbs.get(api.pods, name)).toEqual(next);
  });

  test('of another namespace, or of other labels, is none', async () => {
    const app = fresh();
    const { name } = (await api.newPod(app)).metadata;
    const selector = { matchLabels: { app } };
    const elsewhere = { metadata: { name: fresh() }, spec: { minAvailable: 1, selector } };
    await api.verbs.create(api.budgets, elsewhere, '', 'elsewhere');
    await api.newBudget(fresh(), { disruptionsAllowed: 0 });
    expect(await api.evict(name)).toEqual(success);
  });

  test('beside another one is too many', async () => {
    const app = fresh();
    const made = await api.newPod(app);
    await api.newBudget(app, { disruptionsAllowed: 1 });
    await api.newBudget(app, { disruptionsAllowed: 1 });
    const error = await failure(api.evict(made.metadata.name));
    expect(error.code).toBe(409);
    expect(error.message).toContain(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not ' +
        'support.',
    );
    expect(await api.verbs.get(api.pods, made.metadata.name)).toEqual(made);
  });
});

describe('three replicas', () => {
  let replicas: readonly Replica[];
  beforeAll(async () => {
    replicas = [api.replica, await api.registry.replica(), await api.registry.replica()];
  });
  const replicaAt = (index: number): Replica => replicas[index % replicas.length] ?? api.replica;
  const outcome = async (run: Promise<unknown>): Promise<number> => {
    try {
      await run;
      return 201;
    } catch (error) {
      if (error instanceof StatusError) return error.code;
      throw error;
    }
  };

  test('evict as many of forty pods as the budget allows, and never one more', async () => {
    const app = fresh();
    const names: string[] = [];
    for (let count = 0; count < 40; count++) names.push((await api.newPod(app)).metadata.name);
    const allowed = 5;
    const budget = await api.newBudget(app, { disruptionsAllowed: allowed, currentHealthy: 40 });
    const { resourceVersion } = (await api.verbs.get(api.budgets, budget)).metadata;
    const options = { gracePeriodSeconds: 0 };
    const codes = await Promise.all(
      names.map((name, at) => outcome(api.evict(name, { options, on: replicaAt(at) }))),
    );
    const evicted = names.filter((_, at) => codes[at] === 201);
    expect(evicted).toHaveLength(allowed);
    expect(codes.filter((code) => code === 429)).toHaveLength(names.length - allowed);
    const gone = await Promise.all(names.map((name) => api.isGone(name)));
    expect(names.filter((_, at) => gone[at])).toEqual(evicted);
    const { disruptionsAllowed, disruptedPods } = await api.statusOf(budget);
    expect(disruptionsAllowed).toBe(0);
    expect(Object.keys(disruptedPods as object).sort()).toEqual([...evicted].sort());
    expect(await allowedSince(budget, Number(resourceVersion), allowed)).toEqual([4, 3, 2, 1, 0]);
  });

  /** What the budget allowed after each change of it. */
  async function allowedSince(name: string, revision: number, count: number): Promise<unknown[]> {
    const { signal } = scope();
    const start = { from: 'revision', revision } as const;
    const select = { namespace: 'ns', name };
    const cursor = await api.budgets.view.watch(select, start, { bookmarks: false }, signal);
    const seen: unknown[] = [];
    while (seen.length < count) {
      for (const { item } of (await cursor.next(signal)) ?? []) {
        seen.push((item?.object()['status'] as { disruptionsAllowed?: number }).disruptionsAllowed);
      }
    }
    cursor.close();
    return seen;
  }

  test.each([
    ['pending', { phase: 'Pending' }],
    ['unready', unready],
  ])('never evict a pod that was %s, and has become ready under a budget', async (_was, status) => {
    const app = fresh();
    const budget = { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2 };
    await api.newBudget(app, budget);
    for (let round = 0; round < 20; round++) {
      const { name, resourceVersion } = (await api.newPod(app, { status })).metadata;
      const becomesReady = api.verbs.patch(
        api.pods,
        name,
        { status: ready },
        { subresource: 'status' },
      );
      const [code] = await Promise.all([
        outcome(api.evict(name, { on: replicaAt(round) })),
        becomesReady,
      ]);
      expect([201, 429]).toContain(code);
      const versions = await versionsSince(name, Number(resourceVersion), 1);
      const isDeleted = (pod: Sent): boolean => pod.metadata['deletionTimestamp'] !== undefined;
      const markedAt = versions.findIndex(isDeleted);
      expect(markedAt >= 0).toBe(code === 201);
      if (markedAt >= 0) expect(versions[markedAt]?.['status']).not.toMatchObject(ready);
    }
  });

  /** At least `count` versions, and all there are. */
  async function versionsSince(name: string, revision: number, count: number): Promise<Sent[]> {
    const now = Number((await api.verbs.get(api.pods, name)).metadata.resourceVersion);
    const { signal } = scope();
    const start = { from: 'revision', revision } as const;
    const cursor = await api.pods.view.watch(
      { namespace: 'ns', name },
      start,
      { bookmarks: false },
      signal,
    );
    const seen: Sent[] = [];
    for (let last = revision; seen.length < count || last < now;) {
      for (const event of (await cursor.next(signal)) ?? []) {
        if (event.item !== undefined) seen.push(event.item.object() as unknown as Sent);
        last = event.revision;
      }
    }
    cursor.close();
    return seen;
  }
});
