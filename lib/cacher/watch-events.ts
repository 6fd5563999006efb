// The three sources of watch events: the log (shared by all watchers), a state snapshot, bookmarks.
import type { Revision } from '../storage-etcd/storage.ts';
import type { CachedItem } from './item.ts';
import type { Memo, MemoOwner } from './memory-budget.ts';
import type { Change, WatchEvent } from './resource-view.ts';

/**
 * A change from the log. What is made from it is kept once for all watchers and counts in the
 * memory budget.
 */
export class LoggedEvent implements WatchEvent, MemoOwner {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: Revision;
  readonly item: CachedItem;
  readonly change: Change;
  kept: Memo | undefined = undefined;

  constructor(type: 'ADDED' | 'MODIFIED' | 'DELETED', change: Change, item: CachedItem) {
    this.type = type;
    this.revision = change.revision;
    this.item = item;
    this.change = change;
  }

  memo(variant: string, make: (event: WatchEvent) => Uint8Array): Uint8Array {
    return this.item.source.budget.encoding(this, variant, make);
  }
}

/**
 * An object that was there when the watch began. Belongs to one watcher and is sent once: nothing
 * is kept.
 */
export function stateEvent(item: CachedItem): WatchEvent {
  const { revision } = item;
  return { type: 'ADDED', revision, item, memo: makeAlways };
}

export const bookmark = (revision: Revision): WatchEvent => ({
  type: 'BOOKMARK',
  revision,
  item: undefined,
  memo: makeAlways,
});

/** The bookmark that marks the end of the state that a watch begins with. */
export const endOfState = (revision: Revision): WatchEvent => ({
  ...bookmark(revision),
  initialEventsEnd: true,
});

function makeAlways(
  this: WatchEvent,
  _variant: string,
  make: (event: WatchEvent) => Uint8Array,
): Uint8Array {
  return make(this);
}
