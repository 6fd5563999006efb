// The one loop of the write path, for update, patch and delete alike: a state → what the verb makes
// of it → one transaction that states the version it started from. A lost race starts again from
// what etcd holds now; an answer that changes nothing is given from etcd's state only.
import { limits } from '../base/limits.ts';
import { tooManyRequests } from '../base/status.ts';
import type { StatusError } from '../base/status.ts';
import type { ItemKey } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { commitTogether } from './companions.ts';
import { currentState, firstState, provenState, stateOf } from './current-state.ts';
import type { State } from './current-state.ts';
import type { WriteContext } from '../kinds/strategy.ts';
import type { InHand } from './requests.ts';
import type { StoreParts } from './store-parts.ts';
import { inHand, storedBytes } from './stored-version.ts';
import type { StoredBytes } from './stored-version.ts';
import type { Found, WriteTurn } from './write-turns.ts';

/** What one try came to. */
export type Try<T> =
  /** `written`: the object as it is stored now, when this try stored it. */
  | { readonly kind: 'done'; readonly answer: T; readonly written?: Found | undefined }
  /**
   * No, or nothing to do, by a state that may be old. `again`: what it comes to, without a new try,
   * where the object turns out to be the current one. `byItem`: the stored bytes would tell that no
   * more than the item in memory.
   */
  | {
      readonly kind: 'stale';
      readonly again?: (current: State & Found) => Promise<Try<T>>;
      readonly byItem?: boolean;
    }
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

/**
 * `run` may be called several times, each time with another state; what it throws ends the loop.
 * @throws StatusError 429 when too many others write the object.
 */
export async function untilWritten<T>(
  parts: StoreParts,
  key: ItemKey,
  request: WriteRequest,
  run: (state: State) => Promise<Try<T>>,
): Promise<T> {
  const { signal } = request;
  const { turns } = parts;
  const etcdKey = parts.keyOf(key);
  // No transaction will tell whether a dry run started from an old state.
  const isRehearsal = request.options.dryRun;
  let turn: WriteTurn | undefined;
  let written: Found | undefined;
  try {
    if (!isRehearsal && turns.isAwaited(etcdKey)) turn = await turns.take(etcdKey, signal);
    let state = await (isRehearsal ? currentState : firstState)(parts, key, signal);
    state = newer(state, turn);
    let next: (state: State) => Promise<Try<T>> = run;
    for (let lostCount = 0; ;) {
      signal.throwIfAborted();
      const result = await next(state);
      next = run;
      if (result.kind === 'done') {
        written = result.written;
        return result.answer;
      }
      if (result.kind === 'stale') {
        const { again, byItem = false } = result;
        const proven = byItem ? await provenState(parts, key, state, signal) : undefined;
        const current = proven ?? (await currentState(parts, key, signal));
        const { item } = current;
        const isProven = item?.revision === state.item?.revision && current.epoch === state.epoch;
        if (again !== undefined && item !== undefined && isProven) {
          next = () => again({ ...current, item });
        }
        state = current;
        continue;
      }
      if (++lostCount > limits.lostRacesMax) {
        throw tooManyWriters();
      }
      state = result.state;
      // In its turn a writer races with other replicas only, and at once: who pauses starts from an
      // older state, and loses until the others' lines are empty (measured).
      if (turn !== undefined) continue;
      turn = await turns.take(etcdKey, signal);
      state = newer(state, turn);
    }
  } finally {
    turn?.end(written);
  }
}

export const tooManyWriters = (): StatusError =>
  tooManyRequests('too many others write this object at once', 1);

/** What the writer before stored, where that is newer: no answer to this request rests on it. */
function newer(state: State, turn: WriteTurn | undefined): State {
  if (turn?.newest?.epoch !== state.epoch) return state;
  const { item, epoch } = turn.newest;
  if ((state.item?.revision ?? Infinity) >= item.revision) return state;
  return { item, value: undefined, isCurrent: false, epoch };
}

interface Stored extends Found {
  readonly kind: 'stored';
  readonly written: InHand | undefined;
}

/**
 * Stores `object`, which is in the stored version, in place of `item`, unless the epoch of that is
 * over. `bytes` are those of the object, when they were made already.
 */
export async function putInstead(
  parts: StoreParts,
  key: ItemKey,
  change: Found & {
    readonly object: ApiObject;
    readonly bytes?: StoredBytes | undefined;
    /** Of an update; absent: see `CompanionWrite`. */
    readonly context?: WriteContext;
  },
  signal: AbortSignal,
): Promise<Stored | Lost> {
  const { item, epoch, object, context } = change;
  const etcdKey = parts.keyOf(key);
  const { value, encoded } = change.bytes ?? storedBytes(parts, object, item);
  const ttlSeconds = parts.strategy.ttlSeconds?.(object);
  const lifetime = ttlSeconds === undefined ? {} : { ttlSeconds };
  const expected = { expected: item.revision, epoch };
  const asked = parts.companions?.of({ object, old: item, context }, signal);
  const company = asked instanceof Promise ? await asked : asked;
  // What it is compared with has been compared: while etcd works, collections copy what is kept.
  item.forgetObject();
  const sentIn = parts.storage.epoch;
  const labels = [object.metadata?.labels, item.labels];
  const result =
    company === undefined
      ? await parts.storage.put(etcdKey, value, { ...expected, ...lifetime, labels }, signal)
      : await commitTogether(
          parts,
          { change: { type: 'put', key: etcdKey, value, ...lifetime, labels }, ...expected },
          company,
          signal,
        );
  if (!result.ok) return { kind: 'lost', state: stateOf(parts, result.current, sentIn) };
  const stored = { key: etcdKey, value, modRevision: result.revision, createRevision: 0 };
  const written = parts.view.itemOf(stored, encoded);
  await parts.onStored?.(written);
  return { kind: 'stored', item: written, epoch, written: inHand(written, encoded) };
}

/** undefined: it is gone. Lost, too, when the epoch of `item` is over. */
export async function removeStored(
  parts: StoreParts,
  key: ItemKey,
  { item, epoch }: Found,
  signal: AbortSignal,
): Promise<Lost | undefined> {
  const etcdKey = parts.keyOf(key);
  const expected = { expected: item.revision, epoch };
  const asked = parts.companions?.of({ object: undefined, old: item, context: undefined }, signal);
  const company = asked instanceof Promise ? await asked : asked;
  item.forgetObject();
  const sentIn = parts.storage.epoch;
  const result =
    company === undefined
      ? await parts.storage.delete(etcdKey, { ...expected, labels: [item.labels] }, signal)
      : await commitTogether(
          parts,
          { change: { type: 'delete', key: etcdKey, labels: [item.labels] }, ...expected },
          company,
          signal,
        );
  return result.ok ? undefined : { kind: 'lost', state: stateOf(parts, result.current, sentIn) };
}
