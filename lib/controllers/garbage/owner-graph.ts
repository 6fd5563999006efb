// Who owns whom, by uid: nodes of the objects that own or are owned, or wait for their dependents.
// Objects without either cost nothing. It is made of events and may lag behind the store: whoever
// decides by it asks first how far it has come.
import type { OwnerReference } from '../../codec/ownership.ts';

/** One stored resource whose objects are followed. */
export interface Source {
  /** Counts the states that were followed: an object not told in this one is gone. */
  round: number;
}

/** Why an object whose deletion has begun is kept for its dependents. */
export type Waiting = 'no' | 'foreground' | 'orphan';

/**
 *     owner.dependents ─→ Link ⇄ Link ⇄ …     (all that name this owner)
 *     dependent.owners ─→ Link → Link → …     (all that this dependent names)
 */
class Link<S> {
  readonly dependent: OwnedNode<S>;
  readonly owner: OwnedNode<S>;
  isBlocking: boolean;
  nextOwner: Link<S> | undefined = undefined;
  previous: Link<S> | undefined = undefined;
  next: Link<S> | undefined;

  constructor(dependent: OwnedNode<S>, owner: OwnedNode<S>, isBlocking: boolean) {
    this.dependent = dependent;
    this.owner = owner;
    this.isBlocking = isBlocking;
    this.next = owner.dependents;
  }
}

export class OwnedNode<S> {
  readonly uid: string;
  /** undefined: known from references alone, or gone. */
  source: S | undefined = undefined;
  namespace = '';
  name = '';
  round = 0;
  waiting: Waiting = 'no';
  /** Its deletion was seen. */
  isGone = false;
  /** Dependents that block its deletion in the foreground. */
  blockingCount = 0;
  owners: Link<S> | undefined = undefined;
  dependents: Link<S> | undefined = undefined;

  constructor(uid: string) {
    this.uid = uid;
  }
}

const none: readonly never[] = [];

export class OwnerGraph<S extends Source> {
  readonly #nodes = new Map<string, OwnedNode<S>>();
  readonly #onUnblocked: (owner: OwnedNode<S>) => void;

  /** `onUnblocked`: nothing blocks the deletion of an owner any more that waits for that. */
  constructor(onUnblocked: (owner: OwnedNode<S>) => void) {
    this.#onUnblocked = onUnblocked;
  }

  get size(): number {
    return this.#nodes.size;
  }

  get nodes(): Iterable<OwnedNode<S>> {
    return this.#nodes.values();
  }

  get(uid: string): OwnedNode<S> | undefined {
    return this.#nodes.get(uid);
  }

  /** The object was seen there. */
  place(
    uid: string,
    at: { readonly source: S; readonly namespace: string; readonly name: string },
  ): OwnedNode<S> {
    const node = this.#nodeOf(uid);
    const { source, namespace, name } = at;
    if (node.source !== source || node.name !== name || node.namespace !== namespace) {
      node.source = source;
      node.namespace = namespace;
      node.name = name;
    }
    node.round = source.round;
    node.isGone = false;
    return node;
  }

  /** @returns the references to owners that it did not name before. */
  setOwners(node: OwnedNode<S>, references: readonly OwnerReference[]): readonly OwnerReference[] {
    if (isSame(node.owners, references)) return none;
    const wanted = new Map<string, boolean>();
    for (const { uid, blockOwnerDeletion = false } of references) {
      // What owns itself does not wait for itself.
      wanted.set(uid, uid !== node.uid && (blockOwnerDeletion || wanted.get(uid) === true));
    }
    const kept = new Map<string, Link<S>>();
    for (let link = node.owners; link !== undefined; link = link.nextOwner) {
      const isBlocking = wanted.get(link.owner.uid);
      if (isBlocking !== undefined) kept.set(link.owner.uid, link);
      if (isBlocking === undefined) this.#cut(link);
      else if (isBlocking !== link.isBlocking) this.#setBlocking(link, isBlocking);
    }
    const added = references.filter(({ uid }) => !kept.has(uid));
    node.owners = undefined;
    for (const [uid, isBlocking] of [...wanted].reverse()) {
      const link = kept.get(uid) ?? this.#join(node, this.#nodeOf(uid), isBlocking);
      link.nextOwner = node.owners;
      node.owners = link;
    }
    return added;
  }

  /** The object is gone, or not seen any more; what it owned stays linked to it. */
  remove(node: OwnedNode<S>, { isGone = true }: { readonly isGone?: boolean } = {}): void {
    for (let link = node.owners; link !== undefined; link = link.nextOwner) this.#cut(link);
    node.owners = undefined;
    node.source = undefined;
    node.waiting = 'no';
    node.isGone = isGone;
    this.drop(node);
  }

  /** Forgets a node that says nothing any more. */
  drop(node: OwnedNode<S>): void {
    const isLinked = node.owners !== undefined || node.dependents !== undefined;
    if (!isLinked && node.waiting === 'no') this.#nodes.delete(node.uid);
  }

  /** As they are now: links change while others work on them. */
  dependentsOf(owner: OwnedNode<S>): OwnedNode<S>[] {
    const found: OwnedNode<S>[] = [];
    for (let link = owner.dependents; link !== undefined; link = link.next) {
      found.push(link.dependent);
    }
    return found;
  }

  #nodeOf(uid: string): OwnedNode<S> {
    let node = this.#nodes.get(uid);
    if (node === undefined) {
      node = new OwnedNode(uid);
      this.#nodes.set(uid, node);
    }
    return node;
  }

  #join(dependent: OwnedNode<S>, owner: OwnedNode<S>, isBlocking: boolean): Link<S> {
    const link = new Link(dependent, owner, isBlocking);
    if (owner.dependents !== undefined) owner.dependents.previous = link;
    owner.dependents = link;
    if (isBlocking) owner.blockingCount++;
    return link;
  }

  /** Of its owner; its dependent's list is the caller's. */
  #cut(link: Link<S>): void {
    const { owner, previous, next } = link;
    if (previous === undefined) owner.dependents = next;
    else previous.next = next;
    if (next !== undefined) next.previous = previous;
    if (link.isBlocking) this.#setBlocking(link, false);
    if (owner !== link.dependent) this.drop(owner);
  }

  #setBlocking(link: Link<S>, isBlocking: boolean): void {
    const { owner } = link;
    link.isBlocking = isBlocking;
    owner.blockingCount += isBlocking ? 1 : -1;
    if (owner.blockingCount === 0 && owner.waiting === 'foreground') this.#onUnblocked(owner);
  }
}

function isSame<S>(first: Link<S> | undefined, references: readonly OwnerReference[]): boolean {
  let link = first;
  for (const { uid, blockOwnerDeletion = false } of references) {
    if (link?.owner.uid !== uid || link.isBlocking !== blockOwnerDeletion) return false;
    link = link.nextOwner;
  }
  return link === undefined;
}
