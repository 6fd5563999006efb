// The three sources of watch events: the log (shared by all watchers), a state snapshot, bookmarks.
import type { Revision } from '../storage-etcd/storage.ts';
import type { CachedItem } from './item.ts';
import type { Memo, MemoOwner } from './memory-budget.ts';
import type { WatchEvent } from './resource-view.ts';

/**
 * A change from the log. What is made from it is kept once for all watchers and counts in the
 * memory budget.
 */
export class LoggedEvent implements WatchEvent, MemoOwner {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: Revision;
  readonly item: CachedItem;
  kept: Memo | undefined = undefined;

  constructor(type: 'ADDED' | 'MODIFIED' | 'DELETED', revision: Revision, item: CachedItem) {
    this.type = type;
    this.revision = revision;
    this.item = item;
  }

  memo(variant: string, make: (event: WatchEvent) => Uint8Array): Uint8Array {
    return this.item.source.budget.encoding(this, variant, () => make(this));
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

export function bookmark(revision: Revision, initialEventsEnd: boolean): WatchEvent {
  const event = { type: 'BOOKMARK', revision, item: undefined, memo: makeAlways } as const;
  return initialEventsEnd ? { ...event, initialEventsEnd } : event;
}

function makeAlways(
  this: WatchEvent,
  _variant: string,
  make: (event: WatchEvent) => Uint8Array,
): Uint8Array {
  return make(this);
}
