// The collector and a naive model come to the same end on random graphs of owners.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ResourceStore } from '../registry/resource-store.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { configMap, VerbDriver } from '../registry/testing/verb-driver.ts';
import type { Sent } from '../registry/testing/verb-driver.ts';
import { isThere, ownedBy, startCollector, until } from './testing/collector.ts';
import { GarbageModel } from './testing/garbage-model.ts';
import type { ModelObject, ModelPolicy, ModelReference } from './testing/garbage-model.ts';
import { Random } from '../../scripts/fuzz/random.ts';

const objectCount = 24;
const stepCount = 8;
const hold = 'example.com/h';
const policies: readonly ModelPolicy[] = ['Background', 'Foreground', 'Orphan'];

let registry: RegistryOnEtcd;
let replicas: Replica[];
let verbs: VerbDriver;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replicas = [await registry.replica(), await registry.replica()];
  verbs = new VerbDriver(firstReplica());
});

afterAll(async () => {
  await registry.stop();
});

function firstReplica(): Replica {
  const [replica] = replicas;
  if (replica === undefined) throw new Error('the replicas are started');
  return replica;
}

/**
 * With cycles every object can go. With objects that others hold, all references block: what would
 * else be true at the end depends on who is looked at first.
 */
type Sort = 'cycles' | 'held';

class World {
  readonly model = new GarbageModel();
  readonly #made = new Map<string, Sent>();
  readonly #seed: number;
  readonly #sort: Sort;
  readonly #random: Random;

  constructor(seed: number, sort: Sort) {
    this.#seed = seed;
    this.#sort = sort;
    this.#random = new Random(seed);
  }

  chance(share: number): boolean {
    return this.#random.below(2 ** 32) < share * 2 ** 32;
  }

  pick<T>(list: readonly T[]): T {
    return this.#random.of(list);
  }

  /** Owners come before what they own, or, in cycles, anywhere. */
  async make(): Promise<void> {
    const made: ModelObject[] = [];
    for (let index = 0; index < objectCount; index++) {
      const namespace = this.pick([this.#namespace(1), this.#namespace(1), this.#namespace(2), '']);
      const finalizers = this.#sort === 'held' && this.chance(0.15) ? [hold] : [];
      const id = `s${String(this.#seed)}-${String(index)}`;
      const references = made.length === 0 ? [] : this.#referencesTo(made, namespace);
      const object = { id, namespace, references, finalizers, isDeleting: false };
      const body = configMap(id, {}, { finalizers, ownerReferences: this.#bodiesOf(references) });
      this.#made.set(id, await verbs.create(this.storeOf(object), body, '', namespace));
      this.model.add(object);
      made.push(object);
    }
    if (this.#sort === 'held') return;
    for (const object of made) {
      if (!this.chance(0.3)) continue;
      object.references = this.#referencesTo(made, object.namespace);
      const ownerReferences = this.#bodiesOf(object.references);
      await this.#patch(object, { ownerReferences });
    }
  }

  /** @returns what it does, for the reader of a failure. */
  async change(): Promise<string> {
    const objects = [...this.model.objects.values()];
    if (objects.length === 0) return 'nothing is left';
    const object = this.pick(objects);
    const { id, finalizers } = object;
    if (finalizers.includes(hold) && this.chance(0.5)) {
      const left = finalizers.filter((name) => name !== hold);
      this.model.release(id, hold);
      await this.#patch(object, { finalizers: left });
      return `release ${id}`;
    }
    const propagationPolicy = this.pick(policies);
    this.model.delete(id, propagationPolicy);
    const { namespace } = object;
    await verbs.remove(this.storeOf(object), id, { body: { propagationPolicy }, namespace });
    return `delete ${id} ${propagationPolicy}`;
  }

  storeOf({ namespace }: Pick<ModelObject, 'namespace'>): ResourceStore {
    const replica = firstReplica();
    const group = replica.naming.resolve('rbac.authorization.{v}');
    return replica.store(namespace === '' ? `${group}/clusterroles` : 'configmaps');
  }

  get expected(): string[] {
    return [...this.model.objects.values()].map(lineOf).sort();
  }

  async actual(): Promise<string[]> {
    const found: string[] = [];
    for (const namespace of [this.#namespace(1), this.#namespace(2), '']) {
      const { items } = await verbs.list(this.storeOf({ namespace }), '', namespace);
      for (const { name: id, ...item } of items.map((one) => ({
        name: one.name,
        ...metaOf(one),
      }))) {
        if (!this.#made.has(id)) continue;
        found.push(lineOf({ id, namespace, ...item }));
      }
    }
    return found.sort();
  }

  /** What is deleted last: then everything that was known before has been looked at. */
  async lookedAt(): Promise<void> {
    for (const namespace of [this.#namespace(1), '']) {
      const none = { apiVersion: 'v1', kind: 'Namespace', name: 'none', uid: 'none' };
      const name = `s${String(this.#seed)}-last`;
      const store = this.storeOf({ namespace });
      await verbs.create(store, configMap(name, {}, { ownerReferences: [none] }), '', namespace);
      await until(async () => !(await isThere(store, name, namespace)));
    }
  }

  #namespace(number: number): string {
    return `seed-${String(this.#seed)}-${String(number)}`;
  }

  #referencesTo(owners: readonly ModelObject[], namespace: string): ModelReference[] {
    const ids = new Set<string>();
    for (const share of [0.7, 0.35, 0.2]) {
      if (!this.chance(share)) continue;
      const near = owners.filter((one) => one.namespace === namespace || one.namespace === '');
      ids.add(this.pick(near.length > 0 && this.chance(0.9) ? near : owners).id);
    }
    return [...ids].map((owner) => ({ owner, blocks: this.#sort === 'held' || this.chance(0.5) }));
  }

  #bodiesOf(references: readonly ModelReference[]): object[] {
    return references.map(({ owner: id, blocks: blockOwnerDeletion }) => {
      const owner = this.#made.get(id);
      if (owner === undefined) throw new Error(`${id} was made before`);
      const namespace = this.model.objects.get(id)?.namespace ?? '';
      return ownedBy(this.storeOf({ namespace }), owner, { blockOwnerDeletion });
    });
  }

  async #patch(object: ModelObject, metadata: object): Promise<void> {
    const { id, namespace } = object;
    const store = this.storeOf(object);
    await store.patch({
      user: { name: 'tester', uid: '', groups: [], extra: {} },
      warnings: [],
      signal: AbortSignal.timeout(60_000),
      path: { namespace, name: id, subresource: '' },
      kind: 'merge',
      patch: Buffer.from(JSON.stringify({ metadata })),
      options: { dryRun: false, fieldManager: '', fieldValidation: 'Warn', force: undefined },
    });
  }
}

type Item = Awaited<ReturnType<VerbDriver['list']>>['items'][number];

function metaOf(item: Item): Omit<ModelObject, 'id' | 'namespace'> {
  const { ownerReferences = [], finalizers = [], deletionTimestamp } = item.object().metadata ?? {};
  const references = (ownerReferences as { name: string; blockOwnerDeletion?: boolean }[]).map(
    ({ name, blockOwnerDeletion }) => ({ owner: name, blocks: blockOwnerDeletion === true }),
  );
  const isDeleting = deletionTimestamp !== undefined;
  return { references, finalizers: [...finalizers], isDeleting };
}

/** What becomes of the references of an object that goes is nobody's business. */
function lineOf({ id, references, finalizers, isDeleting }: ModelObject): string {
  const owners = references.map(({ owner }) => owner).sort();
  const rest = isDeleting ? 'deleting' : `of ${owners.join(' ')}`;
  return `${id} [${[...finalizers].sort().join(' ')}] ${rest}`;
}

const seeds = Array.from({ length: 6 }, (_, index) => 1 + index);
const cases = seeds.map((seed) => ({ seed, sort: seed % 2 === 0 ? 'held' : 'cycles' }) as const);

test.each(cases)('the ends are the same: $sort, seed $seed', async ({ seed, sort }) => {
  const world = new World(seed, sort);
  const stops: (() => Promise<void>)[] = [];
  const start = (): void => void stops.push(startCollector(world.pick(replicas)));
  const stop = async (): Promise<void> => stops.shift()?.();
  try {
    await world.make();
    start();
    const log: string[] = [];
    for (let step = 0; step <= stepCount; step++) {
      if (step > 0) log.push(await world.change());
      if (world.chance(0.3)) start();
      if (world.chance(0.3)) await stop();
      if (stops.length === 0) start();
      world.model.settle();
      const { expected } = world;
      await until(async () => isSame(await world.actual(), expected)).catch(async () => {
        expect({ log, actual: await world.actual() }).toEqual({ log, actual: expected });
      });
    }
    // A collector that begins anew finds nothing more to do.
    while (stops.length > 0) await stop();
    start();
    await world.lookedAt();
    expect(await world.actual()).toEqual(world.expected);
  } finally {
    while (stops.length > 0) await stop();
  }
});

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.join('\n') === other.join('\n');
