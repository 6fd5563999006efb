// The one loop of the write path, for update, patch and delete alike: a state → what the verb makes
// of it → one transaction that states the version it started from. A lost race starts again from
// what etcd holds now; an answer that changes nothing is given from etcd's state only.
import type { Item, ItemKey } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { encodeStored } from '../codec/stored-form.ts';
import { currentState, firstState, stateOf } from './current-state.ts';
import type { State } from './current-state.ts';
import type { StoreParts } from './store-parts.ts';

/** What one try came to. */
export type Try<T> =
  /** `written`: the object as it is stored now, when this try stored it. */
  | { readonly kind: 'done'; readonly answer: T; readonly written?: Item | undefined }
  /** No, or nothing to do, by a state that may be old. */
  | { readonly kind: 'stale' }
  | Lost;

/** Somebody else wrote first. */
export interface Lost {
  readonly kind: 'lost';
  readonly state: State;
}

export const stale = { kind: 'stale' } as const;

interface WriteRequest {
  readonly options: { readonly dryRun: boolean };
  readonly signal: AbortSignal;
}

/** `run` may be called several times, each time with another state; what it throws ends the loop. */
export async function untilWritten<T>(
  parts: StoreParts,
  key: ItemKey,
  request: WriteRequest,
  run: (state: State) => Promise<Try<T>>,
): Promise<T> {
  const { signal } = request;
  // No transaction will tell whether a dry run started from an old state.
  const isRehearsal = request.options.dryRun;
  let state = await (isRehearsal ? currentState : firstState)(parts, key, signal);
  for (;;) {
    signal.throwIfAborted();
    const result = await run(state);
    switch (result.kind) {
      case 'done':
        return result.answer;
      case 'stale':
        state = await currentState(parts, key, signal);
        break;
      case 'lost':
        state = result.state;
    }
  }
}

/** Stores `object` in place of `item`. `value` is its stored form, when that was made already. */
export async function putInstead(
  parts: StoreParts,
  key: ItemKey,
  change: { readonly item: Item; readonly object: ApiObject; readonly value?: Uint8Array },
  signal: AbortSignal,
): Promise<{ readonly kind: 'stored'; readonly item: Item } | Lost> {
  const { item, object } = change;
  const etcdKey = parts.keyOf(key);
  const value = change.value ?? encodeStored(object, parts.storedAs);
  const bytes = parts.media.write(object, parts.storedAs, value);
  const ttlSeconds = parts.strategy.ttlSeconds?.(object);
  const options = {
    expected: item.revision,
    ...(ttlSeconds === undefined ? {} : { ttlSeconds }),
  };
  const result = await parts.storage.put(etcdKey, bytes, options, signal);
  if (!result.ok) return { kind: 'lost', state: stateOf(parts, result.current) };
  const stored = { key: etcdKey, value, modRevision: result.revision, createRevision: 0 };
  return { kind: 'stored', item: parts.view.itemOf(stored) };
}

/** undefined: it is gone. */
export async function removeStored(
  parts: StoreParts,
  key: ItemKey,
  item: Pick<Item, 'revision'>,
  signal: AbortSignal,
): Promise<Lost | undefined> {
  const expected = { expected: item.revision };
  const result = await parts.storage.delete(parts.keyOf(key), expected, signal);
  return result.ok ? undefined : { kind: 'lost', state: stateOf(parts, result.current) };
}
