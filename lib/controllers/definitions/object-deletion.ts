// Deletes all objects of a resource, page by page and so namespace by namespace: an ordinary DELETE
// each, with admission and finalizers. One that is refused keeps no other from being deleted.
import { limits } from '../../base/limits.ts';
import { StatusError } from '../../base/status.ts';
import { Yielder } from '../../base/yielder.ts';
import type { Item, ItemKey, ResourceView } from '../../cacher/resource-view.ts';
import { isDeleting } from '../../codec/object-meta.ts';
import type { InternalClient } from '../../registry/internal-client.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import { BeginAnew } from '../../base/begin-anew.ts';

/** @returns why some could not be deleted: the first few reasons, sorted, each once. */
export async function deleteObjects(
  store: ResourceStore,
  client: InternalClient,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const failures = new Set<string>();
  let after: ItemKey | undefined;
  for (;;) {
    const page = { limitCount: limits.instancePageCount, ...(after && { after }) };
    // Objects that come after the first page was read are none: none is created any more.
    const at = { mode: after === undefined ? 'latest' : 'any' } as const;
    const { items, more } = await store.view.list({ showsUnreadable: true }, at, page, signal);
    await deletePage(store, client, { items, failures }, signal);
    after = items.at(-1);
    if (!more || after === undefined) return [...failures].sort();
  }
}

interface Page {
  readonly items: readonly Item[];
  /** Filled. */
  readonly failures: Set<string>;
}

async function deletePage(
  store: ResourceStore,
  client: InternalClient,
  { items, failures }: Page,
  signal: AbortSignal,
): Promise<void> {
  const yielder = new Yielder();
  const left = items.values();
  const work = async (): Promise<void> => {
    for (const item of left) {
      if (yielder.isDue()) await yielder.yield();
      signal.throwIfAborted();
      if (!item.corrupted && isDeleting(item.object())) continue;
      const failure = await deleteOne(store, client, item, signal);
      const isTold = failures.size < limits.instanceFailuresTold;
      if (failure !== undefined && isTold) failures.add(failure);
    }
  };
  const works = Array.from({ length: limits.deleteCollectionWorkers }, work);
  for (const done of await Promise.allSettled(works)) {
    if (done.status === 'rejected') throw done.reason;
  }
}

/** @returns why not; undefined: its deletion has begun, or it is gone. */
async function deleteOne(
  store: ResourceStore,
  client: InternalClient,
  item: Item,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { namespace, name } = item;
  try {
    await client.delete(store, { path: { namespace, name, subresource: '' } }, signal);
    return undefined;
  } catch (error) {
    if (!(error instanceof StatusError) || error instanceof BeginAnew) throw error;
    return error.code === 404 ? undefined : error.message;
  }
}

/** Resolves when the resource has no objects; rejects when the watch cannot tell. */
export async function untilGone(view: ResourceView, signal: AbortSignal): Promise<void> {
  const select = { showsUnreadable: true };
  const start = { from: 'state', at: { mode: 'latest' }, bookmark: true } as const;
  const cursor = await view.watch(select, start, { bookmarks: false }, signal);
  try {
    let count = 0;
    for (let isWhole = false; !isWhole || count > 0;) {
      const events = await cursor.next(signal);
      if (events === undefined) throw new Error('the watch ended');
      for (const { type, initialEventsEnd } of events) {
        if (type === 'ADDED') count++;
        else if (type === 'DELETED') count--;
        isWhole ||= initialEventsEnd === true;
      }
    }
  } finally {
    cursor.close();
  }
}
