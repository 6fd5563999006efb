// Keeps roles and bindings as this replica's views have them, each from the moment that its event
// arrives. What could not be followed for a while keeps its last state until the next one is whole;
// an object that cannot be read grants nothing, and hinders no other.
import type { Logger } from '../../base/log.ts';
import { follow } from '../../cacher/follow.ts';
import type { Follower } from '../../cacher/follow.ts';
import type { Item, ResourceView } from '../../cacher/resource-view.ts';
import type { RbacPolicy } from './policy.ts';

export interface RbacViews {
  readonly roles: ResourceView;
  readonly clusterRoles: ResourceView;
  readonly roleBindings: ResourceView;
  readonly clusterRoleBindings: ResourceView;
}

export interface FollowedPolicy {
  /** Resolves when the policy is whole for the first time. */
  readonly whole: Promise<void>;
  /** Resolves when the signal has ended it. */
  readonly ended: Promise<void>;
}

export function followPolicy(
  policy: RbacPolicy,
  views: RbacViews,
  log: Logger,
  signal: AbortSignal,
): FollowedPolicy {
  const setRole = (item: Item): void => policy.setRole(item, item.object());
  const setBinding = (item: Item): void => policy.setBinding(item, item.object());
  const removeRole = (item: Key): void => policy.removeRole(item);
  const removeBinding = (item: Key): void => policy.removeBinding(item);
  const followed = [
    { view: views.roles, of: new Followed(setRole, removeRole) },
    { view: views.clusterRoles, of: new Followed(setRole, removeRole) },
    { view: views.roleBindings, of: new Followed(setBinding, removeBinding) },
    { view: views.clusterRoleBindings, of: new Followed(setBinding, removeBinding) },
  ];
  const select = { showsUnreadable: true };
  const ended = followed.map(({ view, of }) => follow(of, { view, select, log }, signal));
  return {
    whole: Promise.all(followed.map(({ of }) => of.whole)).then(() => undefined),
    ended: Promise.all(ended).then(() => undefined),
  };
}

type Key = Pick<Item, 'namespace' | 'name'>;

/** One resource: after a restart, what does not come again is removed. */
class Followed implements Follower {
  readonly whole: Promise<void>;
  readonly #set: (item: Item) => void;
  readonly #remove: (key: Key) => void;
  readonly #held = new Map<string, Key>();
  /** Of the state before a restart, what has not come again; undefined: the state is whole. */
  #missing: Map<string, Key> | undefined;
  #isWhole: () => void = () => undefined;

  constructor(set: (item: Item) => void, remove: (key: Key) => void) {
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

  #forget(key: string, of: Key): void {
    this.#held.delete(key);
    this.#missing?.delete(key);
    this.#remove(of);
  }
}
