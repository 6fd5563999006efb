// Objects of the cluster, followed for who keeps something of each: after a restart, what does not
// come again is removed, and until then it is kept. An object that cannot be read is as one that is
// not there, and holds up no other.
import type { Logger } from '../base/log.ts';
import type { ApiObject } from '../codec/codec.ts';
import { follow } from './follow.ts';
import type { Follower } from './follow.ts';
import type { Item, ItemKey, ResourceView } from './resource-view.ts';

/** Of one object; what a cluster has no namespace for begins with the slash. */
export const objectKey = ({ namespace, name }: ItemKey): string => `${namespace}/${name}`;

export interface ObjectKeeper {
  /**
   * `object`: that of the item, which is not kept decoded for it: what outlives its event makes
   * every collection longer. `previous`: what the item takes the place of, and was told before.
   */
  set(item: Item, key: string, object: () => Readonly<ApiObject>, previous?: Item): void;
  /** There may be none. */
  remove(key: string): void;
}

/** The objects of one resource. */
export class FollowedObjects implements Follower {
  /** Resolves when all objects have come for the first time. */
  readonly whole: Promise<void>;
  readonly #keeper: ObjectKeeper;
  readonly #held = new Set<string>();
  /** Of the state before a restart, what has not come again; undefined: the state is whole. */
  #missing: Set<string> | undefined;
  #isWhole: () => void = () => undefined;

  constructor(keeper: ObjectKeeper) {
    this.#keeper = keeper;
    this.whole = new Promise((resolve) => (this.#isWhole = resolve));
  }

  restarted(): void {
    this.#missing = new Set(this.#held);
  }

  present(item: Item, previous?: Item): void {
    const key = objectKey(item);
    if (item.corrupted) {
      this.#forget(key);
      return;
    }
    const told = this.#held.has(key) ? previous : undefined;
    this.#held.add(key);
    this.#missing?.delete(key);
    this.#keeper.set(item, key, () => item.objectOnce(), told);
  }

  absent(item: Item): void {
    this.#forget(objectKey(item));
  }

  synced(): void {
    for (const key of this.#missing ?? []) this.#forget(key);
    this.#missing = undefined;
    this.#isWhole();
  }

  #forget(key: string): void {
    this.#held.delete(key);
    this.#missing?.delete(key);
    this.#keeper.remove(key);
  }
}

export interface Following {
  /** Resolves when the objects of all views have come for the first time. */
  readonly whole: Promise<void>;
  /** Resolves when the signal has ended it. */
  readonly ended: Promise<void>;
}

/** Follows several resources until the signal fires, for who decides: changes are told at once. */
export function followObjects(
  resources: readonly { readonly view: ResourceView; readonly objects: FollowedObjects }[],
  log: Logger,
  signal: AbortSignal,
): Following {
  const select = { showsUnreadable: true };
  const ended = resources.map(({ view, objects }) =>
    follow(objects, { view, select, log, isPrompt: true }, signal),
  );
  return {
    whole: Promise.all(resources.map(({ objects }) => objects.whole)).then(() => undefined),
    ended: Promise.all(ended).then(() => undefined),
  };
}
