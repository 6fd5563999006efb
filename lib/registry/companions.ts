// Other keys that are written with an object, in its own transaction: what it claims is there when
// the object is, whoever stops in between. A store without companions writes its one key and does
// nothing of this.
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { WriteContext } from '../kinds/strategy.ts';
import type { Change, Condition, Epoch, Revision } from '../storage-etcd/storage.ts';
import type { Storage, StoredItem } from '../storage-etcd/storage.ts';

/** What a resource writes beside its objects. One for all versions of a resource. */
export interface Companions {
  /**
   * Completes an object by what it is going to claim, after its defaults and before its validation;
   * of a dry run, too. Changes `object`, takes nothing.
   * @throws StatusError for what it cannot have.
   */
  settle?(
    object: ApiObject,
    old: Readonly<ApiObject> | undefined,
    context: WriteContext,
    signal: AbortSignal,
  ): MaybePromise<void>;
  /** Asked right before the object is stored or removed; undefined: its own key is all. */
  of(write: CompanionWrite, signal: AbortSignal): MaybePromise<Company | undefined>;
}

export interface CompanionWrite {
  /** As it is going to be stored; undefined: it is removed. */
  readonly object: Readonly<ApiObject> | undefined;
  /** As it is stored: the version that the transaction depends on. undefined: it is new. */
  readonly old: Item | undefined;
}

/** More of one transaction. Its keys are full etcd keys, and none is the object's own. */
export interface Company {
  readonly conditions: readonly Condition[];
  readonly changes: readonly Change[];
  /**
   * Told what is stored under the keys of `conditions`, in their order, when the object itself was
   * as expected and nothing was written. The write begins again from that, `settle` and validation
   * included. @throws StatusError to refuse it instead.
   */
  lost(current: readonly (StoredItem | undefined)[]): MaybePromise<void>;
}

/** The object's own part of the transaction. */
export interface OwnChange {
  readonly change: Change;
  readonly expected: Revision;
  /** See `Transaction`. */
  readonly epoch: Epoch | undefined;
}

export type Together =
  | { readonly ok: true; readonly revision: Revision }
  /** `current`: the object. `isCompany`: it was as expected, and what came along was not. */
  | {
      readonly ok: false;
      readonly current: StoredItem | undefined;
      readonly isCompany: boolean;
    };

/** @throws StatusError of the company that refuses. */
export async function commitTogether(
  { storage }: { readonly storage: Pick<Storage, 'transact' | 'epoch'> },
  { change, expected, epoch }: OwnChange,
  company: Company,
  signal: AbortSignal,
): Promise<Together> {
  const conditions = [{ key: change.key, expected }, ...company.conditions];
  const changes = [change, ...company.changes];
  const result = await storage.transact({ conditions, changes, epoch }, signal);
  if (result.ok) return result;
  const [current, ...others] = result.current;
  const isEpochOver = epoch !== undefined && epoch !== storage.epoch;
  const isCompany = (current?.modRevision ?? 0) === expected && !isEpochOver;
  if (isCompany) await company.lost(others);
  return { ok: false, current, isCompany };
}
