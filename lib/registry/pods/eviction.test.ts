// Evictions on a real etcd: what budgets refuse, what goes without one, and what is left of it all.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { admissionChain } from '../../admission/chain.ts';
import type { AdmissionPlugin } from '../../admission/plugin.ts';
import { StatusError } from '../../base/status.ts';
import type { ResourceStore } from '../resource-store.ts';
import { RegistryOnEtcd } from '../testing/registry-on-etcd.ts';
import type { Replica } from '../testing/registry-on-etcd.ts';
import { codeOf, failure, fresh, scope, VerbDriver } from '../testing/verb-driver.ts';
import type { Sent } from '../testing/verb-driver.ts';

/** What admission saw of pods and budgets. */
const admitted: string[] = [];
/** Happens once, while a budget is being charged. */
let meanwhile: (() => Promise<unknown>) | undefined;
const watching: AdmissionPlugin = {
  name: 'Watching',
  sideEffects: false,
  handles: ({ resource }) => ['pods', 'poddisruptionbudgets'].includes(resource.resource),
  async validate({ operation, resource, subresource, user, dryRun }, object) {
    const mode = dryRun ? ', dry run' : '';
    admitted.push(`${operation} ${resource.resource}/${subresource} by ${user.name}${mode}`);
    if (object?.metadata?.labels?.['deny'] !== undefined) {
      throw new StatusError(403, 'Forbidden', 'not this one');
    }
    if (resource.group !== 'policy' || user.name !== 'system:apiserver') return;
    const action = meanwhile;
    meanwhile = undefined;
    await action?.();
  },
};

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let pods: ResourceStore;
let budgets: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica({ admission: admissionChain([watching]) });
  verbs = new VerbDriver(replica);
  pods = replica.store('pods');
  budgets = replica.store('policy/poddisruptionbudgets');
});
afterAll(() => registry.stop());

const condition = (type: string, status: string): object => ({ type, status });
const ready = { phase: 'Running', conditions: [condition('Ready', 'True')] };
const unready = { phase: 'Running', conditions: [condition('Ready', 'False')] };

/** A pod on a node, with a label of its own. */
async function newPod(
  app: string,
  { status = ready, spec = {}, metadata = {} }: Record<string, object> = {},
): Promise<Sent> {
  const containers = [{ name: 'c', image: 'i' }];
  const { metadata: made } = await verbs.create(pods, {
    metadata: { name: fresh(), labels: { app }, ...metadata },
    spec: { nodeName: 'n', terminationGracePeriodSeconds: 20, containers, ...spec },
  });
  return verbs.patch(pods, made.name, { status }, { subresource: 'status' });
}

async function newBudget(app: string, status: object, spec: object = {}): Promise<string> {
  const name = fresh();
  const selector = { matchLabels: { app } };
  await verbs.create(budgets, { metadata: { name }, spec: { minAvailable: 1, selector, ...spec } });
  const settled = { observedGeneration: 1, ...status };
  await verbs.patch(budgets, name, { status: settled }, { subresource: 'status' });
  return name;
}

interface How {
  readonly options?: object;
  readonly query?: string;
  readonly metadata?: object;
  readonly on?: Replica;
}

function evict(name: string, { options, query = '', metadata = {}, on = replica }: How = {}) {
  const deleteOptions = options === undefined ? {} : { deleteOptions: options };
  const body = { metadata: { name, ...metadata }, ...deleteOptions };
  return new VerbDriver(on).act(on.store('pods'), name, body, { subresource: 'eviction', query });
}

const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
const isGone = async (name: string): Promise<boolean> => {
  const key = { namespace: 'ns', name };
  return (await pods.view.get(key, { mode: 'latest' }, scope().signal)) === undefined;
};
const statusOf = async (budget: string): Promise<Record<string, unknown>> =>
  (await verbs.get(budgets, budget))['status'] as Record<string, unknown>;

describe('a pod without a budget', () => {
  test('is deleted with its own grace, and says by whom', async () => {
    const { name, generation } = (await newPod(fresh())).metadata;
    expect(await evict(name)).toEqual(success);
    const pod = await verbs.get(pods, name);
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
    const { name } = (await newPod(fresh())).metadata;
    await evict(name, { options });
    expect((await verbs.get(pods, name)).metadata).toMatchObject({
      deletionGracePeriodSeconds: seconds,
    });
  });

  test('is gone at once with no grace', async () => {
    const { name } = (await newPod(fresh())).metadata;
    await evict(name, { options: { gracePeriodSeconds: 0 } });
    expect(await isGone(name)).toBe(true);
  });

  test('gets the finalizer of the policy that is asked for', async () => {
    const { name } = (await newPod(fresh())).metadata;
    await evict(name, { options: { propagationPolicy: 'Foreground' } });
    const { finalizers } = (await verbs.get(pods, name)).metadata;
    expect(finalizers).toEqual(['foregroundDeletion']);
  });

  test.each([
    ['the query', { query: 'dryRun=All' }],
    ['the options', { options: { dryRun: ['All'] } }],
    ['both', { query: 'dryRun=All', options: { dryRun: ['All'], gracePeriodSeconds: 0 } }],
  ])('stays as it is in a dry run by %s', async (_how, how) => {
    const made = await newPod(fresh());
    expect(await evict(made.metadata.name, how)).toEqual(success);
    expect(await verbs.get(pods, made.metadata.name)).toEqual(made);
  });

  test.each([
    ['uid', 'UID', '11111111-2222-3333-4444-555555555555'],
    ['resourceVersion', 'ResourceVersion', '1'],
  ])('is 409 where the %s of the options is another', async (member, what, value) => {
    const made = await newPod(fresh());
    const { name } = made.metadata;
    for (const dryRun of [[], ['All']]) {
      const options = { preconditions: { [member]: value }, dryRun };
      const error = await failure(evict(name, { options }));
      expect(error).toMatchObject({ code: 409, reason: 'Conflict' });
      expect(error.message).toContain(`the ${what} in the precondition (${value})`);
    }
    expect(await verbs.get(pods, name)).toEqual(made);
  });

  test('goes where uid and version are its own', async () => {
    const { name, uid, resourceVersion } = (await newPod(fresh())).metadata;
    const options = { preconditions: { uid, resourceVersion }, gracePeriodSeconds: 0 };
    expect(await evict(name, { options })).toEqual(success);
    expect(await isGone(name)).toBe(true);
  });

  test('may be evicted again: only sooner', async () => {
    const { name } = (await newPod(fresh())).metadata;
    await evict(name);
    const marked = await verbs.get(pods, name);
    expect(await evict(name)).toEqual(success);
    expect(await verbs.get(pods, name)).toEqual(marked);
    await evict(name, { options: { gracePeriodSeconds: 3 } });
    expect((await verbs.get(pods, name)).metadata).toMatchObject({ deletionGracePeriodSeconds: 3 });
  });
});

describe('an eviction', () => {
  test('is 404 for a pod that is not there', async () => {
    expect(await failure(evict('absent'))).toMatchObject({
      code: 404,
      message: 'pods "absent" not found',
    });
  });

  test.each<[string, How, number]>([
    ['another name', { metadata: { name: 'other' } }, 400],
    ['no name', { metadata: { name: '' } }, 400],
    ['another namespace', { metadata: { namespace: 'x' } }, 400],
    ['a dry run of something', { options: { dryRun: ['x'] } }, 422],
    ['a policy that nobody knows', { options: { propagationPolicy: 'x' } }, 422],
    ['two policies', { options: { propagationPolicy: 'Orphan', orphanDependents: true } }, 422],
    ['options of another kind', { options: { kind: 'Pod' } }, 400],
  ])('with %s is refused', async (_what, how, code) => {
    const made = await newPod(fresh());
    expect(await codeOf(evict(made.metadata.name, how))).toBe(code);
    expect(await verbs.get(pods, made.metadata.name)).toEqual(made);
  });

  test('is admitted itself, the deletion behind it is not', async () => {
    const app = fresh();
    const { name } = (await newPod(app)).metadata;
    await newBudget(app, { disruptionsAllowed: 2 });
    admitted.length = 0;
    await evict(name, { query: 'dryRun=All' });
    expect(admitted.splice(0)).toEqual(['CREATE pods/eviction by tester, dry run']);
    expect(await codeOf(evict(name, { metadata: { labels: { deny: '1' } } }))).toBe(403);
    expect(admitted.splice(0)).toEqual(['CREATE pods/eviction by tester']);
    await evict(name);
    expect(admitted.splice(0)).toEqual([
      'CREATE pods/eviction by tester',
      'UPDATE poddisruptionbudgets/status by system:apiserver',
    ]);
  });
});

describe('a budget', () => {
  test('is charged for each pod, until nothing is left', async () => {
    const app = fresh();
    const made = [await newPod(app), await newPod(app), await newPod(app)];
    const names = made.map(({ metadata }) => metadata.name);
    const budget = await newBudget(app, { disruptionsAllowed: 2, currentHealthy: 3 });
    const [first = '', second = '', third = ''] = names;
    await evict(first);
    expect(await statusOf(budget)).toMatchObject({
      disruptionsAllowed: 1,
      disruptedPods: { [first]: expect.any(String) },
    });
    expect(await statusOf(budget)).not.toHaveProperty('conditions');
    await evict(second);
    expect(await statusOf(budget)).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { [first]: expect.any(String), [second]: expect.any(String) },
      conditions: [
        { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods', message: '' },
      ],
    });
    const charged = await verbs.get(budgets, budget);
    expect(await failure(evict(third))).toMatchObject({
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
    expect(await verbs.get(pods, third)).toEqual(made[2]);
    expect(await verbs.get(budgets, budget)).toEqual(charged);
    expect(charged.metadata['generation']).toBe(1);
  });

  test('whose status lags says when to come again', async () => {
    const app = fresh();
    const made = await newPod(app);
    await newBudget(app, { disruptionsAllowed: 2, observedGeneration: 0 });
    expect((await failure(evict(made.metadata.name))).details).toMatchObject({
      retryAfterSeconds: 10,
      causes: [{ reason: 'DisruptionBudget' }],
    });
    expect(await verbs.get(pods, made.metadata.name)).toEqual(made);
  });

  test('is judged and not charged in a dry run', async () => {
    const app = fresh();
    const made = await newPod(app);
    const { name } = made.metadata;
    const budget = await newBudget(app, { disruptionsAllowed: 1 });
    const before = await verbs.get(budgets, budget);
    await evict(name, { query: 'dryRun=All' });
    expect(await verbs.get(budgets, budget)).toEqual(before);
    expect(await verbs.get(pods, name)).toEqual(made);
    const none = { status: { disruptionsAllowed: 0 } };
    await verbs.patch(budgets, budget, none, { subresource: 'status' });
    expect(await codeOf(evict(name, { query: 'dryRun=All' }))).toBe(429);
  });

  test('is not charged where a precondition of the deletion fails', async () => {
    const app = fresh();
    const { name } = (await newPod(app)).metadata;
    const budget = await newBudget(app, { disruptionsAllowed: 1 });
    const options = { preconditions: { uid: 'another' } };
    expect(await codeOf(evict(name, { options }))).toBe(409);
    expect(await statusOf(budget)).toMatchObject({ disruptionsAllowed: 1 });
  });

  test('is written by the server, which comes to own what it wrote', async () => {
    const app = fresh();
    const { name } = (await newPod(app)).metadata;
    const budget = await newBudget(app, { disruptionsAllowed: 2 });
    await evict(name);
    const { managedFields } = (await verbs.get(budgets, budget)).metadata;
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
    const { name } = (await newPod(app, how)).metadata;
    const budget = await newBudget(app, { disruptionsAllowed: 0 });
    expect(await evict(name, { options: { gracePeriodSeconds: 0 } })).toEqual(success);
    expect(await isGone(name)).toBe(true);
    expect(await statusOf(budget)).not.toHaveProperty('disruptedPods');
  });

  test('says nothing of a pod whose deletion has begun', async () => {
    const app = fresh();
    const { name } = (await newPod(app)).metadata;
    await newBudget(app, { disruptionsAllowed: 0 });
    await verbs.remove(pods, name);
    expect(await evict(name)).toEqual(success);
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
    const { name } = (await newPod(app, { status })).metadata;
    const budget = await newBudget(app, { disruptionsAllowed: 0, ...counts }, spec);
    const eviction = evict(name, { options: { gracePeriodSeconds: 0 } });
    if (goes) expect(await eviction).toEqual(success);
    else expect(await codeOf(eviction)).toBe(429);
    expect(await isGone(name)).toBe(goes);
    expect(await statusOf(budget)).not.toHaveProperty('disruptedPods');
  });

  test('that is gone when it is to be charged forbids nothing', async () => {
    const app = fresh();
    const { name } = (await newPod(app)).metadata;
    const budget = await newBudget(app, { disruptionsAllowed: 1 });
    meanwhile = () => verbs.remove(budgets, budget);
    expect(await evict(name, { options: { gracePeriodSeconds: 0 } })).toEqual(success);
    expect(await isGone(name)).toBe(true);
  });

  test('that allows less when it is to be charged is asked again', async () => {
    const app = fresh();
    const made = await newPod(app);
    const budget = await newBudget(app, { disruptionsAllowed: 1 });
    const none = { status: { disruptionsAllowed: 0 } };
    meanwhile = () => verbs.patch(budgets, budget, none, { subresource: 'status' });
    expect(await codeOf(evict(made.metadata.name))).toBe(429);
    expect(await statusOf(budget)).not.toHaveProperty('disruptedPods');
    expect(await verbs.get(pods, made.metadata.name)).toEqual(made);
  });

  test('charged for a pod lets go no other one of its name', async () => {
    const app = fresh();
    const { name } = (await newPod(app)).metadata;
    await newBudget(app, { disruptionsAllowed: 1 });
    let next: Sent | undefined;
    meanwhile = async () => {
      await verbs.remove(pods, name, { body: { gracePeriodSeconds: 0 } });
      next = await newPod(app, { metadata: { name } });
    };
    expect(await codeOf(evict(name))).toBe(429);
    expect(await verbs.get(pods, name)).toEqual(next);
  });

  test('of another namespace, or of other labels, is none', async () => {
    const app = fresh();
    const { name } = (await newPod(app)).metadata;
    const selector = { matchLabels: { app } };
    const elsewhere = { metadata: { name: fresh() }, spec: { minAvailable: 1, selector } };
    await verbs.create(budgets, elsewhere, '', 'elsewhere');
    await newBudget(fresh(), { disruptionsAllowed: 0 });
    expect(await evict(name)).toEqual(success);
  });

  test('beside another one is too many', async () => {
    const app = fresh();
    const made = await newPod(app);
    await newBudget(app, { disruptionsAllowed: 1 });
    await newBudget(app, { disruptionsAllowed: 1 });
    const error = await failure(evict(made.metadata.name));
    expect(error.code).toBe(409);
    expect(error.message).toContain(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not ' +
        'support.',
    );
    expect(await verbs.get(pods, made.metadata.name)).toEqual(made);
  });
});

describe('three replicas', () => {
  let replicas: readonly Replica[];
  beforeAll(async () => {
    replicas = [replica, await registry.replica(), await registry.replica()];
  });
  const replicaAt = (index: number): Replica => replicas[index % replicas.length] ?? replica;
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
    for (let count = 0; count < 40; count++) names.push((await newPod(app)).metadata.name);
    const allowed = 5;
    const budget = await newBudget(app, { disruptionsAllowed: allowed, currentHealthy: 40 });
    const { resourceVersion } = (await verbs.get(budgets, budget)).metadata;
    const options = { gracePeriodSeconds: 0 };
    const codes = await Promise.all(
      names.map((name, at) => outcome(evict(name, { options, on: replicaAt(at) }))),
    );
    const evicted = names.filter((_, at) => codes[at] === 201);
    expect(evicted).toHaveLength(allowed);
    expect(codes.filter((code) => code === 429)).toHaveLength(names.length - allowed);
    const gone = await Promise.all(names.map(isGone));
    expect(names.filter((_, at) => gone[at])).toEqual(evicted);
    const { disruptionsAllowed, disruptedPods } = await statusOf(budget);
    expect(disruptionsAllowed).toBe(0);
    expect(Object.keys(disruptedPods as object).sort()).toEqual([...evicted].sort());
    expect(await allowedSince(budget, Number(resourceVersion), allowed)).toEqual([4, 3, 2, 1, 0]);
  });

  /** What the budget allowed after each change of it. */
  async function allowedSince(name: string, revision: number, count: number): Promise<unknown[]> {
    const { signal } = scope();
    const start = { from: 'revision', revision } as const;
    const select = { namespace: 'ns', name };
    const cursor = await budgets.view.watch(select, start, { bookmarks: false }, signal);
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
    await newBudget(app, budget);
    for (let round = 0; round < 20; round++) {
      const { name, resourceVersion } = (await newPod(app, { status })).metadata;
      const becomesReady = verbs.patch(pods, name, { status: ready }, { subresource: 'status' });
      const [code] = await Promise.all([
        outcome(evict(name, { on: replicaAt(round) })),
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
    const now = Number((await verbs.get(pods, name)).metadata.resourceVersion);
    const { signal } = scope();
    const start = { from: 'revision', revision } as const;
    const cursor = await pods.view.watch(
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
