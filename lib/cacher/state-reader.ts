// The initial state of a watch as ADDED events, one batch a call. Between calls it holds a position
// in the index of one revision, and no events.
import { limits } from '../base/limits.ts';
import type { CachedItem } from './item.ts';
import type { ItemOrder, PathRange } from './resource-index.ts';
import type { WatchEvent } from './resource-view.ts';
import type { Predicate } from './select.ts';
import { stateEvent } from './watch-events.ts';
import { selects } from './watch-selection.ts';
import type { WatchSelection } from './watch-selection.ts';

/** The state that a watch begins with. */
export interface InitialState {
  readonly items: ItemOrder;
  readonly range: PathRange;
  readonly predicate: Predicate | undefined;
  /** A bookmark tells where the state ends (`sendInitialEvents`). */
  readonly hasEndBookmark: boolean;
}

export class StateReader {
  readonly hasEndBookmark: boolean;
  readonly #state: InitialState;
  readonly #selection: WatchSelection;
  #range: PathRange;
  #isDone = false;

  constructor(state: InitialState, selection: WatchSelection) {
    this.hasEndBookmark = state.hasEndBookmark;
    this.#state = state;
    this.#selection = selection;
    this.#range = state.range;
  }

  /** The last batch was taken. */
  get isDone(): boolean {
    return this.#isDone;
  }

  take(): WatchEvent[] {
    const { items, predicate } = this.#state;
    const events: WatchEvent[] = [];
    let last: CachedItem | undefined;
    let isMore = false;
    items.walk(this.#range, (item) => {
      if (events.length >= limits.watchBatchCountMax) {
        isMore = true;
        return false;
      }
      last = item;
      if (selects(this.#selection, item, predicate)) events.push(stateEvent(item));
      return true;
    });
    if (isMore && last !== undefined) {
      this.#range = { ...this.#range, start: last.path, isAfter: true };
    } else this.#isDone = true;
    return events;
  }
}
