// What admission knows of the cluster: the objects of one resource, from memory, and from the
// store itself where memory may be behind.
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Item, ItemKey, ReadAt, ResourceView } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';

export interface Objects {
  readonly view: Pick<ResourceView, 'peek' | 'list' | 'all'>;
  /** Reads the store itself, past the memory. */
  lookUp(key: ItemKey, signal: AbortSignal): Promise<Item | undefined>;
}

/** Of memory, else of the store; one that cannot be read is not there. */
export function findObject(
  objects: Objects,
  key: ItemKey,
  signal: AbortSignal,
): MaybePromise<Readonly<ApiObject> | undefined> {
  const known = objects.view.peek(key);
  return known === undefined ? objects.lookUp(key, signal).then(readable) : readable(known);
}

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
