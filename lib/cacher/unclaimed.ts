// Keys below the prefix that belong to no resource, by their first two segments: a resource that is
// added looks at what may be its own.
import type { Revision } from '../storage-etcd/storage.ts';
import type { CachedItem } from './item.ts';

/** Bytes as they are stored, or the item that a resource made of them before it was removed. */
export type UnclaimedValue =
  { readonly value: Uint8Array; readonly revision: Revision } | CachedItem;
type Keys = Map<string, UnclaimedValue>;

/** Where a key is held, for who asks about it often. */
export interface Place {
  readonly first: string;
  readonly second: string;
  readonly key: string;
}

//   pods    ─▶ n1    ─▶ pods/n1/a, pods/n1/b
//   zoo.org ─▶ lions ─▶ zoo.org/lions/n1/a

export class Unclaimed {
  readonly #byFirst = new Map<string, Map<string, Keys>>();

  /** `key` without the prefix of all. */
  set(key: string, held: UnclaimedValue): void {
    const { first, second } = placeOf(key);
    const bySecond = this.#byFirst.get(first) ?? new Map<string, Keys>();
    this.#byFirst.set(first, bySecond);
    const keys = bySecond.get(second) ?? new Map<string, UnclaimedValue>();
    bySecond.set(second, keys);
    keys.set(key, held);
  }

  /** The revision of its last change; 0: there is no such key here. */
  revisionAt({ first, second, key }: Place): Revision {
    return this.#byFirst.get(first)?.get(second)?.get(key)?.revision ?? 0;
  }

  delete(key: string): void {
    const { first, second } = placeOf(key);
    const bySecond = this.#byFirst.get(first);
    const keys = bySecond?.get(second);
    if (bySecond === undefined || keys?.delete(key) !== true || keys.size > 0) return;
    bySecond.delete(second);
    if (bySecond.size === 0) this.#byFirst.delete(first);
  }

  /** Takes out, by path, what `isOwn` of all below a storage prefix of one or two segments. */
  take(storagePrefix: string, isOwn: (path: string) => boolean): Map<string, UnclaimedValue> {
    const [first = '', only] = storagePrefix.split('/');
    const bySecond = this.#byFirst.get(first) ?? new Map<string, Keys>();
    const taken = new Map<string, UnclaimedValue>();
    for (const second of only === undefined ? [...bySecond.keys()] : [only]) {
      const left: Keys = new Map();
      for (const [key, held] of bySecond.get(second) ?? []) {
        const path = key.slice(storagePrefix.length + 1);
        if (isOwn(path)) taken.set(path, held);
        else left.set(key, held);
      }
      if (left.size > 0) bySecond.set(second, left);
      else bySecond.delete(second);
    }
    if (bySecond.size === 0) this.#byFirst.delete(first);
    return taken;
  }

  clear(): void {
    this.#byFirst.clear();
  }
}

/** `key` without the prefix of all. */
export function placeOf(key: string): Place {
  const end = key.indexOf('/');
  if (end < 0) return { first: key, second: '', key };
  const next = key.indexOf('/', end + 1);
  return { first: key.slice(0, end), second: key.slice(end + 1, next < 0 ? undefined : next), key };
}
