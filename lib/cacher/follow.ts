// Follows a selection of objects (client-go's informer, without a store): its state, then every
// change, and the whole state again after a watch has failed. Authorizers, webhooks, quotas and
// controllers keep what they need of the cluster this way.
import { sleep } from '../base/abort.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import { isLongTurn, nextTurn, ownTurn } from '../base/turn.ts';
import type { Revision } from '../storage-etcd/storage.ts';
import type { Item, ResourceView, Selection, WatchCursor, WatchEvent } from './resource-view.ts';
import type { WatchStart } from './resource-view.ts';

/** Handlers of state and changes, called in order; they must not throw. */
export interface Follower {
  /** A watch begins: all up to its position was told, but for what it gave in this turn. */
  opened?(cursor: Pick<WatchCursor, 'position'>): void;
  /**
   * The state follows again, object by object. An object that does not come again before `synced`
   * was deleted meanwhile; a follower that answers questions keeps its old answers until then.
   */
  restarted?(): void;
  /** An object is there, or has changed: then `previous` is what it was. */
  present(item: Item, previous?: Item): void;
  /** An object is gone, or is selected no more; `item` is its last state. */
  absent(item: Item): void;
  /** Every object up to `revision` was reported: after a state, and with each bookmark. */
  synced?(revision: Revision): void;
}

export interface FollowOptions {
  readonly view: ResourceView;
  /**
   * While an object that it may hold of cannot be read, the follower is told nothing new, unless it
   * is to be shown such objects.
   */
  readonly select?: Selection;
  readonly log: Logger;
  /** As of a watch: for those whose answers count from the moment that an event arrives. */
  readonly isPrompt?: boolean;
}

/**
 * Resolves when `signal` fires, the cache is stopped or the resource is removed from it; never
 * rejects.
 */
export async function follow(
  follower: Follower,
  options: FollowOptions,
  signal: AbortSignal,
): Promise<void> {
  const { view, log } = options;
  /** Where a watch that was closed had come to; 0: the state is needed. */
  let reached: Revision = 0;
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      if (!isFirst && reached === 0) follower.restarted?.();
      const cursor = await followOnce(follower, options, reached, signal);
      if (cursor.replaced === undefined) return;
      reached = cursor.replaced === 'goOn' ? cursor.position : 0;
    } catch (error) {
      if (signal.aborted) return;
      reached = 0;
      const reason = error instanceof Error ? error.message : String(error);
      log.warn('a follower lost its watch and starts again', { resource: view.name, reason });
      await sleep(limits.followRetryMs, signal).catch(() => undefined);
    }
  }
}

/** `after` 0: the state, too. @returns the cursor when it was closed. */
async function followOnce(
  follower: Follower,
  { view, select = {}, isPrompt = false }: FollowOptions,
  after: Revision,
  signal: AbortSignal,
): Promise<WatchCursor> {
  const start: WatchStart =
    after === 0
      ? { from: 'state', at: { mode: 'any' }, bookmark: true }
      : { from: 'revision', revision: after };
  const cursor = await view.watch(select, start, { bookmarks: true, isPrompt }, signal);
  follower.opened?.(cursor);
  try {
    for (;;) {
      // Batches of the state are there at once: all of them together, and those of others who begin
      // in the same turn, are a long one.
      if (isLongTurn(limits.workSliceMs)) await (isPrompt ? nextTurn() : ownTurn());
      const events = await cursor.next(signal);
      if (events === undefined) return cursor;
      for (const event of events) tell(follower, event);
    }
  } finally {
    cursor.close();
  }
}

function tell(follower: Follower, { type, item, revision, change }: WatchEvent): void {
  if (item === undefined) follower.synced?.(revision);
  else if (type === 'DELETED') follower.absent(item);
  else follower.present(item, change?.previous);
}
