// The objects of one resource, told on to who keeps something of each: after a restart, what does
// not come again is removed, and until then it is kept.
import type { Follower } from '../../cacher/follow.ts';
import type { Item } from '../../cacher/resource-view.ts';

export type ObjectKey = Pick<Item, 'namespace' | 'name'>;

export class FollowedObjects implements Follower {
  readonly whole: Promise<void>;
  readonly #set: (item: Item) => void;
  readonly #remove: (key: ObjectKey) => void;
  readonly #held = new Map<string, ObjectKey>();
  /** Of the state before a restart, what has not come again; undefined: the state is whole. */
  #missing: Map<string, ObjectKey> | undefined;
  #isWhole: () => void = () => undefined;

  constructor(set: (item: Item) => void, remove: (key: ObjectKey) => void) {
    this.#set = set;
    this.#remove = remove;
    this.whole = new Promise((resolve) => (this.#isWhole = resolve));
  }

  restarted(): void {
    this.#missing = new Map(this.#held);
  }

  present(item: Item): void {
    const { namespace, name } = item;
    const key = `${namespace}/${name}`;
    if (item.corrupted) {
      this.#forget(key, { namespace, name });
      return;
    }
    this.#held.set(key, { namespace, name });
    this.#missing?.delete(key);
    this.#set(item);
  }

  absent({ namespace, name }: Item): void {
    this.#forget(`${namespace}/${name}`, { namespace, name });
  }

  synced(): void {
    for (const [key, of] of this.#missing ?? []) this.#forget(key, of);
    this.#missing = undefined;
    this.#isWhole();
  }

  #forget(key: string, of: ObjectKey): void {
    this.#held.delete(key);
    this.#missing?.delete(key);
    this.#remove(of);
  }
}
