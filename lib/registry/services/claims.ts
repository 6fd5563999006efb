// Claims: keys that name whom an address or a port belongs to. A claim is made by who finds no key
// there, and given back by who read that it is its own.
import type { StoredItem } from '../../storage-etcd/storage.ts';
import type { Change, Condition } from '../../storage-etcd/storage.ts';
import type { Company } from '../companions.ts';

/** Whom it belongs to: there is one service of this name at a time. */
export interface Holder {
  readonly namespace: string;
  readonly name: string;
}

export const isSameHolder = (one: Holder | undefined, two: Holder): boolean =>
  one?.name === two.name && one.namespace === two.namespace;

/** One key of a company. */
export interface Claim {
  readonly condition: Condition;
  /** undefined: the condition is all. */
  readonly change?: Change;
  /** Told when the condition did not hold. */
  lost(current: StoredItem | undefined): void;
}

/** undefined without claims: nothing goes along. */
export function companyOf(claims: readonly Claim[]): Company | undefined {
  if (claims.length === 0) return undefined;
  return {
    conditions: claims.map(({ condition }) => condition),
    changes: claims.flatMap(({ change }) => change ?? []),
    lost(current) {
      for (const [at, claim] of claims.entries()) {
        const found = current[at];
        if ((found?.modRevision ?? 0) !== claim.condition.expected) claim.lost(found);
      }
    },
  };
}
