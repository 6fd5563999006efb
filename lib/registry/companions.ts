// Other keys that are written with an object, in its own transaction: what it claims is there when
// the object is, whoever stops in between. A store without companions writes its one key and does
// nothing of this.
import { whenThere } from '../base/maybe-promise.ts';
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
  /**
   * Of a create or an update. undefined: a step of a deletion, or a change that another request
   * brings with it.
   */
  readonly context: WriteContext | undefined;
}

/** More of one transaction. Its keys are full etcd keys, and none is the object's own. */
export interface Company {
  readonly conditions: readonly Condition[];
  readonly changes: readonly Change[];
  /**
   * Told what is stored under the keys of `conditions`, in their order, when the object itself was
   * as expected and nothing was written. The write begins again from that, `settle` and validation
   * included; a source without `settle` has nothing to begin with, and refuses.
   * @throws StatusError to refuse it instead.
   */
  lost(current: readonly (StoredItem | undefined)[]): MaybePromise<void>;
  /** Sends the transaction, with more of its own in it; absent: it is sent as it is. */
  readonly commit?: Commit;
}

/** `company` is all that is written with the object besides what the sender adds. */
export type Commit = (
  storage: Storage,
  own: OwnChange,
  company: Omit<Company, 'commit'>,
  signal: AbortSignal,
) => Promise<Together>;

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
  { storage }: { readonly storage: Storage },
  own: OwnChange,
  company: Company,
  signal: AbortSignal,
): Promise<Together> {
  if (company.commit !== undefined) return company.commit(storage, own, company, signal);
  const { change, expected, epoch } = own;
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

/** What several sources write beside one resource; at most one of them has a `commit`. */
export function joinedCompanions(
  sources: readonly (Companions | undefined)[],
): Companions | undefined {
  const present = sources.filter((one) => one !== undefined);
  const [first, second] = present;
  if (second === undefined || first === undefined) return first;
  const settling = present.filter((one) => one.settle !== undefined);
  return {
    settle(...of) {
      const from = (at: number): MaybePromise<void> => {
        const settled = settling[at]?.settle?.(...of);
        return at >= settling.length ? undefined : whenThere(settled, () => from(at + 1));
      };
      return from(0);
    },
    of(...of) {
      const from = (at: number, found: readonly Company[]): MaybePromise<Company | undefined> => {
        const source = present[at];
        if (source === undefined) return joinedCompany(found);
        return whenThere(source.of(...of), (one) =>
          from(at + 1, one === undefined ? found : [...found, one]),
        );
      };
      return from(0, []);
    },
  };
}

function joinedCompany(companies: readonly Company[]): Company | undefined {
  const [first, second] = companies;
  if (second === undefined) return first;
  const commit = companies.find((one) => one.commit !== undefined)?.commit;
  return {
    conditions: companies.flatMap(({ conditions }) => conditions),
    changes: companies.flatMap(({ changes }) => changes),
    async lost(current) {
      let at = 0;
      for (const company of companies) {
        await company.lost(current.slice(at, (at += company.conditions.length)));
      }
    },
    ...(commit === undefined ? {} : { commit }),
  };
}
