// What becomes of one object: it waits, lets its dependents go, loses references to owners that are
// no more, or is deleted. Owners are read as the store has them; the graph says only who the
// dependents are, and is asked first how far it has come.
import { limits } from '../../base/limits.ts';
import type { Item } from '../../cacher/resource-view.ts';
import { ownershipOf } from '../../codec/ownership.ts';
import type { Ownership } from '../../codec/ownership.ts';
import type { PropagationPolicy } from '../../registry/requests.ts';
import type { Outcome } from '../controller.ts';
import type { FollowedResource, FollowedResources } from '../followed-resources.ts';
import { liveItem } from './garbage-writes.ts';
import type { GarbageWrites, Target } from './garbage-writes.ts';
import type { MisplacedOwners } from './misplaced-owners.ts';
import type { OwnedNode, OwnerGraph } from './owner-graph.ts';
import { foregroundFinalizer, liveState, orphanFinalizer } from './owner-states.ts';

export interface GarbageJudgeOptions {
  readonly graph: OwnerGraph<FollowedResource>;
  readonly resources: FollowedResources;
  readonly writes: GarbageWrites;
  readonly misplaced: MisplacedOwners;
}

type Node = OwnedNode<FollowedResource>;

/** An object as the store has it. */
interface Case {
  readonly node: Node;
  readonly target: Target;
  readonly item: Item;
  readonly ownership: Ownership;
}

interface Owners {
  readonly solid: readonly string[];
  readonly waiting: readonly string[];
  readonly absent: readonly string[];
  /** Nobody tells when a solid one goes: its resource is not followed. */
  readonly isUnseen: boolean;
}

export class GarbageJudge {
  readonly #options: GarbageJudgeOptions;

  constructor(options: GarbageJudgeOptions) {
    this.#options = options;
  }

  /** `again`: it cannot be decided, or could not be done, for now. */
  async judge(uid: string, signal: AbortSignal): Promise<Outcome> {
    const node = this.#options.graph.get(uid);
    const target = node === undefined ? undefined : targetOf(node);
    if (node === undefined || target === undefined) return 'done';
    const { resource, namespace, name } = target;
    const item = await resource.view.get({ namespace, name }, { mode: 'latest' }, signal);
    // What cannot be read is judged when it can be read again.
    if (item === undefined || item.corrupted) return 'done';
    const ownership = ownershipOf(item.listTail());
    if (ownership.uid !== uid) return 'done';
    const found = { node, target, item, ownership };
    if (!ownership.isDeleting) return this.#judgeByOwners(found, signal);
    const { finalizers } = ownership;
    if (finalizers.includes(orphanFinalizer)) return this.#orphan(found, signal);
    if (finalizers.includes(foregroundFinalizer)) return this.#release(found, signal);
    return 'done';
  }

  /** Dependents lose the reference to the object, then it may go. */
  async #orphan(found: Case, signal: AbortSignal): Promise<Outcome> {
    const { graph, writes } = this.#options;
    const { node, target } = found;
    if (!(await this.#knowsDependents(found, signal))) return 'again';
    const dependents = graph.dependentsOf(node).values();
    const work = async (): Promise<void> => {
      for (const dependent of dependents) {
        const one = targetOf(dependent);
        if (one !== undefined) await writes.removeOwners(one, [target.uid], signal);
      }
    };
    const works = await Promise.allSettled(Array.from({ length: limits.orphanWorkers }, work));
    for (const done of works) if (done.status === 'rejected') throw done.reason;
    await writes.removeFinalizer(target, orphanFinalizer, signal);
    return 'done';
  }

  /** Once no dependent is in the way: the last one that leaves brings the object here again. */
  async #release(found: Case, signal: AbortSignal): Promise<Outcome> {
    const { writes } = this.#options;
    const { node, target } = found;
    if (!(await this.#knowsDependents(found, signal))) return 'again';
    if (node.blockingCount === 0) await writes.removeFinalizer(target, foregroundFinalizer, signal);
    return 'done';
  }

  async #judgeByOwners(found: Case, signal: AbortSignal): Promise<Outcome> {
    const { target, ownership } = found;
    if (ownership.owners.length === 0) return 'done';
    const owners = await this.#ownersOf(found, signal);
    if (typeof owners === 'string') return owners;
    const { solid, waiting, absent, isUnseen } = owners;
    if (solid.length === 0) return this.#delete(found, waiting.length > 0, signal);
    // An owner that waits would wait for ever: this object stays.
    const former = [...absent, ...waiting];
    if (former.length > 0) await this.#options.writes.removeOwners(target, former, signal);
    return isUnseen ? 'again' : 'done';
  }

  async #delete(found: Case, isAwaited: boolean, signal: AbortSignal): Promise<Outcome> {
    const { graph, writes } = this.#options;
    const { node, target, item, ownership } = found;
    if (isAwaited && !(await this.#knowsDependents(found, signal))) return 'again';
    const dependents = isAwaited ? graph.dependentsOf(node) : [];
    if (dependents.length === 0) {
      return writes.delete(target, { item, policy: policyOf(ownership) }, signal);
    }
    let judged = item;
    if (dependents.some(({ waiting }) => waiting === 'foreground')) {
      // A circle: each would wait for the other.
      await writes.unblock(target, ownership.owners, signal);
      const now = await liveItem(target, signal);
      if (now === undefined) return 'done';
      judged = now;
    }
    return writes.delete(target, { item: judged, policy: 'Foreground' }, signal);
  }

  /** The node has all dependents that there were at the version of the object. */
  async #knowsDependents({ node, item }: Case, signal: AbortSignal): Promise<boolean> {
    const { graph, resources } = this.#options;
    // The graph may have made another node of the object during the wait.
    return (await resources.told(item.revision, signal)) && graph.get(node.uid) === node;
  }

  /** An outcome: nothing can be said of some owner, so nothing is done. */
  async #ownersOf({ target, ownership }: Case, signal: AbortSignal): Promise<Owners | Outcome> {
    const { graph, resources, misplaced } = this.#options;
    const uids = { solid: new Array<string>(), waiting: new Array<string>() };
    const absent: string[] = [];
    let isUnseen = false;
    for (const reference of ownership.owners) {
      const { uid } = reference;
      const store = resources.storeOf(reference.apiVersion, reference.kind);
      const state = await liveState({ reference, namespace: target.namespace, store }, signal);
      const mayBeElsewhere = store?.resource.namespaced === true && graph.get(uid)?.isGone !== true;
      switch (state) {
        case 'unknown':
          // Its kind may have gone with it; that it was deleted itself was seen.
          if (store !== undefined || graph.get(uid)?.isGone !== true) return 'again';
          absent.push(uid);
          break;
        case 'impossible':
          if (mayBeElsewhere) misplaced.seek(store.view, target, reference);
          return 'done';
        case 'absent':
          if (mayBeElsewhere) misplaced.seek(store.view, target, reference);
          absent.push(uid);
          break;
        case 'solid':
          isUnseen ||= store === undefined || resources.of(store) === undefined;
          uids.solid.push(uid);
          break;
        case 'waiting':
          uids.waiting.push(uid);
      }
    }
    return { ...uids, absent, isUnseen };
  }
}

/** undefined: nobody knows where it is, or it is gone. */
function targetOf({ uid, source, namespace, name }: Node): Target | undefined {
  return source === undefined ? undefined : { resource: source, namespace, name, uid };
}

/** What the object's own finalizers say already. */
function policyOf({ finalizers }: Ownership): PropagationPolicy {
  if (finalizers.includes(orphanFinalizer)) return 'Orphan';
  return finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background';
}
