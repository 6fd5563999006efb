// What a write starts from, and its version. The cached item comes first and costs no round trip,
// but it may be old: an answer that says no (or "nothing to do") is only given when it was computed
// from etcd's current state.
import { StatusError } from '../base/status.ts';
import type { Item, ItemKey } from '../cacher/resource-view.ts';
import type { Epoch, StoredItem } from '../storage-etcd/storage.ts';
import type { StoreParts } from './store-parts.ts';

export interface State {
  /** undefined: no such object. */
  readonly item: Item | undefined;
  /** The stored bytes; undefined when the item came from memory. */
  readonly value: Uint8Array | undefined;
  /** Read from etcd after the request came in. */
  readonly isCurrent: boolean;
  /** Began before it was read: a write that is based on it compares that, too. */
  readonly epoch: Epoch;
}

/** The cached item when there is one, else etcd's. */
export async function firstState(
  parts: StoreParts,
  key: ItemKey,
  signal: AbortSignal,
): Promise<State> {
  const item = parts.view.peek(key);
  const { epoch } = parts.view;
  if (item === undefined || epoch === undefined) return currentState(parts, key, signal);
  return { item, value: undefined, isCurrent: false, epoch };
}

export async function currentState(
  parts: StoreParts,
  key: ItemKey,
  signal: AbortSignal,
): Promise<State> {
  const { epoch } = parts.storage;
  const { item } = await parts.storage.get(parts.keyOf(key), signal);
  return stateOf(parts, item, epoch);
}

/**
 * `state`, which memory showed, where a proof like a reader's finds that it is still the current
 * one: many requests share a proof, and none of them reads the object from etcd.
 */
export async function provenState(
  parts: StoreParts,
  key: ItemKey,
  state: State,
  signal: AbortSignal,
): Promise<State | undefined> {
  if (state.item === undefined) return undefined;
  const item = await parts.view.get(key, { mode: 'latest' }, signal);
  const isProven = item === state.item && parts.view.epoch === state.epoch;
  return isProven ? { ...state, isCurrent: true } : undefined;
}

/** The state that a failed write came back with; `epoch`: of when the write was sent. */
export function stateOf(parts: StoreParts, stored: StoredItem | undefined, epoch: Epoch): State {
  if (stored === undefined) return { item: undefined, value: undefined, isCurrent: true, epoch };
  return { item: parts.view.itemOf(stored), value: stored.value, isCurrent: true, epoch };
}

/** A step of a write on one state: what to do, or why not. */
export type Decision<T> =
  | { readonly kind: 'go'; readonly plan: T }
  | { readonly kind: 'stop'; readonly error: StatusError };

/** Errors for the client become decisions, because an old state may be their only reason. */
export async function decide<T>(run: () => T | Promise<T>): Promise<Decision<T>> {
  try {
    return { kind: 'go', plan: await run() };
  } catch (error) {
    if (error instanceof StatusError) return { kind: 'stop', error };
    throw error;
  }
}
