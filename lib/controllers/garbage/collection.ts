// One run of the garbage collector: events of all resources make the graph and say which objects to
// look at; each of these is then judged by what the store has, never by the graph alone.
import type { NamingProfile } from '../../api/vendor.ts';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Logger } from '../../base/log.ts';
import { isLongTurn, nextTurn } from '../../base/turn.ts';
import type { Item } from '../../cacher/resource-view.ts';
import { ownershipOf, uidOf } from '../../codec/ownership.ts';
import type { OwnerReference, Ownership } from '../../codec/ownership.ts';
import type { InternalClient } from '../../registry/internal-client.ts';
import type { ResourceMap } from '../../registry/resource-map.ts';
import { KeyedQueue } from '../controller.ts';
import type { QueueObserver } from '../controller.ts';
import { FollowedResources } from '../followed-resources.ts';
import type { Changes, FollowedResource } from '../followed-resources.ts';
import { GarbageJudge } from './garbage-judge.ts';
import { GarbageWrites } from './garbage-writes.ts';
import { MisplacedOwners } from './misplaced-owners.ts';
import { OwnerGraph } from './owner-graph.ts';
import type { OwnedNode, Waiting } from './owner-graph.ts';
import { foregroundFinalizer, knownState, orphanFinalizer } from './owner-states.ts';

export interface CollectionOptions {
  /** Custom resources come and go. */
  readonly resources: ResourceMap;
  readonly naming: NamingProfile;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: QueueObserver | undefined;
}

type Node = OwnedNode<FollowedResource>;

export class Collection implements Changes {
  readonly #signal: AbortSignal;
  readonly #graph: OwnerGraph<FollowedResource>;
  readonly #resources: FollowedResources;
  /** By uid. */
  readonly #queue: KeyedQueue;
  readonly #misplaced: MisplacedOwners;
  /** Walks over many nodes, a part in each turn. */
  readonly #walks = new Set<Promise<void>>();

  constructor(name: string, options: CollectionOptions, signal: AbortSignal) {
    const { client, clock, log, observer } = options;
    this.#signal = signal;
    this.#graph = new OwnerGraph((owner) => {
      this.#queue.add(owner.uid);
    });
    this.#resources = new FollowedResources({ ...options, changes: this });
    this.#misplaced = new MisplacedOwners(options, signal);
    const judge = new GarbageJudge({
      graph: this.#graph,
      resources: this.#resources,
      writes: new GarbageWrites(client),
      misplaced: this.#misplaced,
    });
    const workers = limits.garbageWorkers;
    this.#queue = new KeyedQueue({ name, clock, log, workers, observer }, (uid, running) =>
      judge.judge(uid, running),
    );
  }

  /** Works until the signal fires. */
  async run(): Promise<void> {
    const signal = this.#signal;
    await Promise.all([this.#queue.run(signal), this.#resources.run(signal)]);
    await Promise.all(this.#walks);
    await this.#misplaced.ended();
  }

  /** Nodes of the graph. */
  get size(): number {
    return this.#graph.size;
  }

  present(source: FollowedResource, item: Item): void {
    if (item.corrupted) return; // what was known of it stays true until it can be read again
    const ownership = ownershipOf(item.listTail());
    const waiting = waitingOf(ownership);
    const { uid, owners } = ownership;
    if (uid === '') return; // nobody could mean it: it was put into the store by hand
    const isBare = owners.length === 0 && waiting === 'no';
    if (isBare && this.#graph.get(uid) === undefined) return;
    const { namespace, name } = item;
    const node = this.#graph.place(uid, { source, namespace, name });
    const begins = waiting !== node.waiting;
    node.waiting = waiting;
    const added = this.#graph.setOwners(node, owners);
    this.#graph.drop(node);
    if (waiting !== 'no' || added.some((owner) => !this.#isSettled(item, owner))) {
      this.#queue.add(uid);
    }
    if (begins && waiting === 'foreground') this.#addDependents(node);
  }

  absent(source: FollowedResource, item: Item): void {
    if (!item.corrupted) {
      const node = this.#graph.get(uidOf(item.listTail()));
      if (node !== undefined) this.#remove(node);
      return;
    }
    const { namespace, name } = item;
    this.#removeWhere(
      (node) => node.source === source && node.name === name && node.namespace === namespace,
    );
  }

  settled(source: FollowedResource): void {
    const { round } = source; // another one may begin during the walk
    this.#removeWhere((node) => node.source === source && node.round < round);
  }

  left(source: FollowedResource, how: { readonly isGone: boolean }): void {
    this.#removeWhere((node) => node.source === source, how);
  }

  #remove(node: Node, how?: { readonly isGone: boolean }): void {
    this.#graph.remove(node, how);
    this.#addDependents(node);
  }

  /** The new owner keeps the object, or will be seen when it does not any more. */
  #isSettled(item: Item, reference: OwnerReference): boolean {
    const store = this.#resources.storeOf(reference.apiVersion, reference.kind);
    const source = store === undefined ? undefined : this.#resources.of(store);
    if (store === undefined || source === undefined) return false;
    const namespace = source.namespaced ? item.namespace : '';
    const owner = this.#graph.get(reference.uid);
    if (owner?.source !== undefined) {
      const isThere = owner.source === source && owner.name === reference.name;
      return isThere && owner.namespace === namespace && owner.waiting !== 'foreground';
    }
    if (knownState({ reference, namespace: item.namespace, store }) !== 'solid') return false;
    this.#graph.place(reference.uid, { source, namespace, name: reference.name });
    return true;
  }

  #addDependents(owner: Node): void {
    const dependents = this.#graph.dependentsOf(owner);
    this.#walk(dependents, ({ uid }) => {
      this.#queue.add(uid);
    });
  }

  #removeWhere(isMeant: (node: Node) => boolean, how?: { readonly isGone: boolean }): void {
    this.#walk(this.#graph.nodes, (node) => {
      if (isMeant(node)) this.#remove(node, how);
    });
  }

  #walk(nodes: Iterable<Node>, visit: (node: Node) => void): void {
    const walk = this.#visit(nodes, visit).finally(() => this.#walks.delete(walk));
    this.#walks.add(walk);
  }

  async #visit(nodes: Iterable<Node>, visit: (node: Node) => void): Promise<void> {
    for (const node of nodes) {
      if (isLongTurn(limits.garbageTurnMsMax)) await nextTurn();
      if (this.#signal.aborted) return;
      visit(node);
    }
  }
}

function waitingOf({ isDeleting, finalizers }: Ownership): Waiting {
  if (!isDeleting) return 'no';
  if (finalizers.includes(orphanFinalizer)) return 'orphan';
  return finalizers.includes(foregroundFinalizer) ? 'foreground' : 'no';
}
