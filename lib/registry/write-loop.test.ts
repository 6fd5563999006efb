import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StatusError } from '../base/status.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { configMap, fresh, VerbDriver } from './testing/verb-driver.ts';
import type { Sent } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
});

afterAll(async () => {
  await registry.stop();
});

describe('a dry run on a replica whose memory is old answers as the write would', () => {
  /** Status code: of an error, or 200. */
  const codeOf = async (run: Promise<unknown>): Promise<number> => {
    try {
      await run;
      return 200;
    } catch (error) {
      if (error instanceof StatusError) return error.code;
      throw error;
    }
  };

  interface Seen {
    /** As the replica's memory has it. */
    readonly old: Sent;
    /** As it is stored, or was last. */
    readonly now: Sent;
  }
  type Run = (name: string, seen: Seen, query: string) => Promise<unknown>;

  let behind: Replica;
  let names: readonly string[];
  let old: readonly Sent[];

  const put =
    (pick: (seen: Seen) => Sent): Run =>
    (name, seen, query) => {
      const { resourceVersion } = pick(seen).metadata;
      const body = configMap(name, { data: { k: 'mine' } }, { resourceVersion });
      return on().update(behind.store('configmaps'), name, body, { query });
    };
  const patch =
    (body: unknown): Run =>
    (name, _seen, query) =>
      on().patch(behind.store('configmaps'), name, body, { query });
  const remove =
    (pick: (seen: Seen) => Sent): Run =>
    (name, seen, query) => {
      const { resourceVersion } = pick(seen).metadata;
      const body = { preconditions: { resourceVersion } };
      return on().remove(behind.store('configmaps'), name, { body, query });
    };
  const on = (): VerbDriver => new VerbDriver(behind);

  const cases: readonly (readonly [string, 'changed' | 'gone', Run, number])[] = [
    ['PUT with the old version', 'changed', put(({ old }) => old), 409],
    ['PUT with the new version', 'changed', put(({ now }) => now), 200],
    ['PUT', 'gone', put(({ now }) => now), 404],
    ['a patch', 'gone', patch({ data: { a: 'b' } }), 404],
    ['a patch', 'changed', patch({ data: { a: 'b' } }), 200],
    [
      'a patch that tests the old value',
      'changed',
      patch([{ op: 'test', path: '/data/k', value: 'old' }]),
      422,
    ],
    [
      'a patch that tests the new value',
      'changed',
      patch([{ op: 'test', path: '/data/k', value: 'new' }]),
      200,
    ],
    ['DELETE with the old version', 'changed', remove(({ old }) => old), 409],
    ['DELETE with the new version', 'changed', remove(({ now }) => now), 200],
    ['DELETE', 'gone', remove(({ now }) => now), 404],
  ];

  beforeAll(async () => {
    names = cases.map(fresh);
    const store = replica.store('configmaps');
    old = await Promise.all(
      names.map((name) => verbs.create(store, configMap(name, { data: { k: 'old' } }))),
    );
    behind = await registry.replica({ isFrozen: true });
  });

  test.each(cases.map((one, index) => [...one, index] as const))(
    '%s of an object that is %s',
    async (_what, fate, run, expected, index) => {
      const name = names[index] ?? '';
      const store = replica.store('configmaps');
      const now = await verbs.patch(store, name, { data: { k: 'new' } });
      if (fate === 'gone') await verbs.remove(store, name);
      expect(behind.store('configmaps').view.peek({ namespace: 'ns', name })).toBeDefined();
      const seen = { old: old[index] ?? now, now };
      expect(await codeOf(run(name, seen, 'dryRun=All'))).toBe(expected);
      expect(await codeOf(run(name, seen, ''))).toBe(expected);
    },
  );
});

describe('60 writers of one object', () => {
  const count = 60;
  let replicas: readonly Replica[];
  let txnCount = 0;
  const metrics = {
    call: (operation: string): void => {
      if (operation === 'KV/Txn') txnCount++;
    },
  };

  beforeAll(async () => {
    replicas = [await registry.replica({ metrics }), await registry.replica({ metrics })];
  });

  /** What each writer's `run` came to; the object is known to all replicas before. */
  async function contend(
    through: readonly Replica[],
    run: (replica: Replica, name: string, index: number) => Promise<unknown>,
    metadata: object = {},
  ): Promise<{ readonly name: string; readonly results: PromiseSettledResult<unknown>[] }> {
    const name = fresh();
    const body = configMap(name, {}, metadata);
    const { resourceVersion } = (await verbs.create(replica.store('configmaps'), body)).metadata;
    for (const one of through) {
      await new VerbDriver(one).get(one.store('configmaps'), name, resourceVersion);
    }
    txnCount = 0;
    const writers = Array.from({ length: count }, (_, index) => {
      const one = through[index % through.length] ?? replica;
      return run(one, name, index);
    });
    return { name, results: await Promise.allSettled(writers) };
  }

  const patch = (one: Replica, name: string, index: number): Promise<unknown> =>
    new VerbDriver(one).patch(one.store('configmaps'), name, {
      data: { [`k${String(index)}`]: 'v' },
    });
  const data = async (name: string): Promise<object> =>
    (await verbs.get(replica.store('configmaps'), name))['data'] as object;

  test.each([
    // Each tries once beside the others and once in its turn.
    [1, 2 * count],
    // And each time that one wins its turn, it may be in the way of the other replica's writer.
    [2, 3 * count],
  ])('all patch it through %i replicas, with few transactions', async (replicaCount, txnsMax) => {
    const { name, results } = await contend(replicas.slice(0, replicaCount), patch);
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(Object.keys(await data(name))).toHaveLength(count);
    expect(txnCount).toBeLessThanOrEqual(txnsMax);
  });

  test('patch it beside a DELETE that a finalizer holds, in one line', async () => {
    const run = (one: Replica, name: string, index: number): Promise<unknown> =>
      index === 7
        ? new VerbDriver(one).remove(one.store('configmaps'), name)
        : patch(one, name, index);
    const metadata = { finalizers: ['example.com/h'] };
    const { name, results } = await contend([replicas[0] ?? replica], run, metadata);
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(Object.keys(await data(name))).toHaveLength(count - 1);
    expect((await verbs.get(replica.store('configmaps'), name)).metadata).toHaveProperty(
      'deletionTimestamp',
    );
    expect(txnCount).toBeLessThanOrEqual(2 * count);
  });
});
