// What admission knows of the cluster: the objects of one resource, from memory, and from the
// store itself where memory may be behind.
import { whenThere } from '../base/maybe-promise.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Item, ItemKey, ReadAt, ResourceView } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';

export interface Objects {
  readonly view: Pick<ResourceView, 'peek' | 'list' | 'all'>;
  /** Reads the store itself, past the memory. */
  lookUp(key: ItemKey, signal: AbortSignal): Promise<Item | undefined>;
}

/** Of memory, else of the store. */
export const findItem = (
  objects: Objects,
  key: ItemKey,
  signal: AbortSignal,
): MaybePromise<Item | undefined> => objects.view.peek(key) ?? objects.lookUp(key, signal);

/** Of memory, else of the store; one that cannot be read is not there. */
export const findObject = (
  objects: Objects,
  key: ItemKey,
  signal: AbortSignal,
): MaybePromise<Readonly<ApiObject> | undefined> =>
  whenThere(findItem(objects, key, signal), readable);

/** Those that can be read, as memory has them now, by name. @throws StatusError 429 */
export const allObjects = ({ view }: Objects, namespace?: string): readonly Readonly<ApiObject>[] =>
  view
    .all(namespace)
    .map(readable)
    .filter((object) => object !== undefined);

const readable = (item: Item | undefined): Readonly<ApiObject> | undefined =>
  item === undefined || item.corrupted ? undefined : item.object();

/**
 * Those that can be read, by name. `latest` has everything that was written before the call, for
 * the time of a read of etcd; `any` is what memory holds now.
 */
export async function listObjects(
  { view }: Objects,
  namespace: string,
  mode: Extract<ReadAt['mode'], 'any' | 'latest'>,
  signal: AbortSignal,
): Promise<readonly Readonly<ApiObject>[]> {
  const selection = { ...(namespace === '' ? {} : { namespace }), showsUnreadable: true };
  const { items } = await view.list(selection, { mode }, everything, signal);
  return items.map(readable).filter((object) => object !== undefined);
}

const everything = { limitCount: 0 };
