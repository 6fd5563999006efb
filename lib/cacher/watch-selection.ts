// What a watch lets through, of its state and of its log alike.
import type { CachedItem } from './item.ts';
import type { LogEntry } from './log-entry.ts';
import type { Predicate } from './select.ts';

export interface WatchSelection {
  /** undefined: everything in the bucket is selected. */
  readonly predicate: Predicate | undefined;
  /** Whether an object that cannot be read may be one of those that are selected. */
  readonly mayHold: Predicate;
  /** Changes of unreadable objects are events, too; otherwise they end the watch. */
  readonly showsUnreadable: boolean;
}

/** `predicate` is the one of the selection, or of its state, which no bucket has narrowed. */
export function selects(
  { mayHold, showsUnreadable }: WatchSelection,
  item: CachedItem,
  predicate: Predicate | undefined,
): boolean {
  if (item.problem === undefined) return predicate === undefined || predicate(item);
  return showsUnreadable && mayHold(item);
}

/** Nobody can tell whether this change of an unreadable object is one of the watch's events. */
export function isUndecidable(
  { mayHold, showsUnreadable }: WatchSelection,
  { isUnreadable, item, previous }: LogEntry,
): boolean {
  if (!isUnreadable || showsUnreadable) return false;
  const either = item ?? previous;
  return either !== undefined && mayHold(either);
}
