// Namespaces with random content that end in random order, worked on by two controllers of two
// replicas which are stopped and started meanwhile: content and conditions come to those of a model
// that knows nothing of time.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sleep } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import { isDeleting } from '../codec/object-meta.ts';
import { internalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { scope, VerbDriver } from '../registry/testing/verb-driver.ts';
import { controllerUser } from './controller-user.ts';
import { NamespaceController } from './namespace.ts';
import { Random } from '../../scripts/fuzz/random.ts';
import { runController } from './testing/run-controller.ts';

let registry: RegistryOnEtcd;
let replicas: Replica[];

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replicas = [await registry.replica(), await registry.replica()];
});
afterAll(async () => {
  await registry.stop();
});

const kinds = ['pods', 'configmaps', 'secrets', 'coordination.svc.io/leases'];
const finalizers = ['example.com/a', 'example.com/b'];
const namespaceCount = 5;
const stepCount = 40;
const never = new AbortController().signal;

/** An object, and what the model knows of it. */
interface Thing {
  readonly kind: string;
  readonly name: string;
  finalizers: string[];
  /** A pod on a node, whose end somebody there has to confirm. */
  isOnNode: boolean;
  isDeleting: boolean;
}

interface Space {
  readonly name: string;
  readonly things: Map<string, Thing>;
  isEnding: boolean;
}

/** What a controller that has done all it can leaves. */
function settle(space: Space): void {
  if (!space.isEnding) return;
  const all = [...space.things.values()];
  end(
    space,
    all.filter(({ kind }) => kind === 'pods'),
  );
  if ([...space.things.values()].some(({ kind }) => kind === 'pods')) return;
  end(
    space,
    all.filter(({ kind }) => kind !== 'pods'),
  );
}

function end(space: Space, things: readonly Thing[]): void {
  for (const thing of things) {
    thing.isDeleting = true;
    if (thing.finalizers.length === 0 && !thing.isOnNode) space.things.delete(idOf(thing));
  }
}

const idOf = ({ kind, name }: Thing): string => `${kind} ${name}`;

/** The messages of the two conditions that tell what is left. */
function messagesOf(space: Space): string[] {
  const pods = [...space.things.values()].filter(({ kind }) => kind === 'pods');
  const seen = pods.length > 0 ? pods : [...space.things.values()];
  const byKind = new Map<string, number>();
  const byFinalizer = new Map<string, number>();
  for (const { kind, finalizers: held } of seen) {
    const [group = '', name] = kind.includes('/') ? kind.split('/') : ['', kind];
    const resource = `${name ?? ''}.${group}`;
    byKind.set(resource, (byKind.get(resource) ?? 0) + 1);
    for (const one of held) byFinalizer.set(one, (byFinalizer.get(one) ?? 0) + 1);
  }
  const text = (counts: Map<string, number>, verb: string): string =>
    [...counts]
      .map(([name, count]) => `${name} ${verb} ${String(count)} resource instances`)
      .sort()
      .join(', ');
  return [
    `Some resources are remaining: ${text(byKind, 'has')}`,
    byFinalizer.size === 0
      ? 'All content-preserving finalizers finished'
      : `Some content in the namespace has finalizers remaining: ${text(byFinalizer, 'in')}`,
  ];
}

class World {
  readonly spaces: Space[] = [];
  readonly #random: Random;
  readonly #verbs: VerbDriver;
  readonly #stops: (() => Promise<void>)[] = [];

  constructor(random: Random) {
    this.#random = random;
    this.#verbs = new VerbDriver(this.#replica());
  }

  #replica(): Replica {
    const found = replicas[this.#random.below(replicas.length)];
    if (found === undefined) throw new Error('no such replica');
    return found;
  }

  async make(name: string): Promise<void> {
    const space: Space = { name, things: new Map(), isEnding: false };
    await this.#verbs.create(this.#store('namespaces'), { metadata: { name } });
    const count = this.#random.below(12);
    for (let index = 0; index < count; index++) {
      const kind = this.#random.of(kinds);
      const held = finalizers.filter(() => this.#random.below(4) === 0);
      const isOnNode = kind === 'pods' && this.#random.below(2) === 0;
      const thing = {
        kind,
        name: `o${String(index)}`,
        finalizers: held,
        isOnNode,
        isDeleting: false,
      };
      const spec = {
        ...(isOnNode ? { nodeName: 'n' } : {}),
        containers: [{ name: 'c', image: 'i' }],
      };
      const metadata = { name: thing.name, finalizers: held };
      const body = { metadata, ...(kind === 'pods' ? { spec } : {}) };
      await this.#verbs.create(this.#store(kind), body, '', name);
      space.things.set(idOf(thing), thing);
    }
    this.spaces.push(space);
  }

  /** One thing that a user, a finalizer's owner, a node or an operator does. */
  async step(): Promise<void> {
    const space = this.spaces[this.#random.below(this.spaces.length)];
    if (space === undefined) return;
    const things = [...space.things.values()].filter((thing) => thing.isDeleting);
    const thing = things[this.#random.below(things.length)];
    if (this.#random.below(6) === 0) {
      await this.#turnOver();
    } else if (!space.isEnding) {
      space.isEnding = true;
      await this.#verbs.remove(this.#store('namespaces'), space.name);
    } else if (thing !== undefined && thing.finalizers.length > 0) {
      thing.finalizers.pop();
      await this.#setFinalizers(space, thing);
    } else if (thing?.isOnNode === true) {
      thing.isOnNode = false;
      const body = { gracePeriodSeconds: 0 };
      await this.#verbs.remove(this.#store('pods'), thing.name, { body, namespace: space.name });
    }
    settle(space);
  }

  /** A controller starts, or one that runs stops in the middle of what it does. */
  async #turnOver(): Promise<void> {
    if (this.#stops.length < 2) this.start();
    else await this.#stops.shift()?.();
  }

  start(): void {
    const { naming, stores: resources } = this.#replica();
    const controller = new NamespaceController({
      namespaces: this.#store('namespaces'),
      resources,
      naming,
      client: internalClient(controllerUser(naming, 'namespace-controller')),
      clock: systemClock,
      log: createLogger('error', () => undefined),
    });
    this.#stops.push(runController(controller));
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops) await stop();
  }

  /** Waits until etcd holds what the model says, in every namespace. */
  async agrees(): Promise<void> {
    const { signal } = scope();
    for (const space of this.spaces) {
      const wanted = this.#wanted(space);
      let found: unknown;
      while (!isSame((found = await this.#found(space)), wanted)) {
        if (signal.aborted) expect(found).toEqual(wanted);
        await sleep(20, never);
      }
    }
  }

  #wanted(space: Space): unknown {
    const things = [...space.things.values()].map(
      (thing) => `${idOf(thing)}${thing.isDeleting ? ' is going' : ''}`,
    );
    if (space.isEnding && things.length === 0) return { isThere: false, things, messages: [] };
    return {
      isThere: true,
      things: things.sort(),
      messages: space.isEnding ? messagesOf(space) : [],
    };
  }

  async #found({ name: namespace }: Space): Promise<unknown> {
    const { signal } = scope();
    const things: string[] = [];
    for (const kind of kinds) {
      const { view } = this.#store(kind);
      const page = { limitCount: 0 };
      const { items } = await view.list({ namespace }, { mode: 'latest' }, page, signal);
      for (const item of items) {
        things.push(`${kind} ${item.name}${isDeleting(item.object()) ? ' is going' : ''}`);
      }
    }
    const key = { namespace: '', name: namespace };
    const item = await this.#store('namespaces').view.get(key, { mode: 'latest' }, signal);
    const { conditions = [] } = (item?.object()['status'] ?? {}) as {
      readonly conditions?: readonly { readonly type: string; readonly message: string }[];
    };
    const told = ['NamespaceContentRemaining', 'NamespaceFinalizersRemaining'];
    const messages = told.flatMap((type) =>
      conditions.filter((one) => one.type === type).map(({ message }) => message),
    );
    return { isThere: item !== undefined, things: things.sort(), messages };
  }

  #store(kind: string): ResourceStore {
    return this.#replica().store(kind);
  }

  async #setFinalizers(space: Space, thing: Thing): Promise<void> {
    await this.#store(thing.kind).patch({
      ...scope(),
      path: { namespace: space.name, name: thing.name, subresource: '' },
      kind: 'merge',
      patch: Buffer.from(JSON.stringify({ metadata: { finalizers: thing.finalizers } })),
      options: { dryRun: false, fieldManager: '', fieldValidation: 'Warn', force: undefined },
    });
  }
}

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

test.each([1, 2, Number(process.env['SEED'] ?? 3)])(
  'content and conditions of ending namespaces are those of the model, seed %i',
  async (seed) => {
    const world = new World(new Random(seed));
    try {
      for (let index = 0; index < namespaceCount; index++) {
        await world.make(`space-${String(seed)}-${String(index)}`);
      }
      world.start();
      for (let index = 0; index < stepCount; index++) {
        await world.step();
        if (index % 10 === 9) {
          world.start();
          await world.agrees();
        }
      }
    } finally {
      await world.stop();
    }
  },
);
