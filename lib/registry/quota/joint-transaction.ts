// Several writes in one transaction: all of them happen at one revision or none does, and when it
// did not happen each learns of its own keys alone. Pure; it sends nothing.
import { limits } from '../../base/limits.ts';
import type { Change, Condition, Revision, StoredItem } from '../../storage-etcd/storage.ts';
import type { Company, OwnChange } from '../companions.ts';

/** One of them. */
export interface Joiner {
  readonly own: OwnChange;
  /** What is written with it, and with nobody else. */
  readonly company: Pick<Company, 'conditions' | 'changes'>;
}

const { quotaTransactionOpsMax, quotaTransactionBytesMax } = limits;

export class JointTransaction {
  readonly #expected = new Map<string, Revision>();
  readonly #changed = new Set<string>();
  readonly #changes: Change[] = [];
  #bytes = 0;

  /**
   * Whether there is room for `joiner` and for `extraCount` keys that all share, beside those who
   * are in. `apart`: it depends on what another one changes, or changes what another one depends
   * on; what they come to must not depend on their order. The first always finds room.
   */
  roomFor({ own, company }: Joiner, extraCount: number): 'room' | 'full' | 'apart' {
    if (this.#changes.length === 0) return 'room';
    const conditions = conditionsOf(own, company);
    const changes = [own.change, ...company.changes];
    const opsCount = Math.max(
      this.#expected.size + conditions.length,
      this.#changes.length + changes.length,
    );
    if (opsCount + extraCount > quotaTransactionOpsMax) return 'full';
    if (this.#bytes + bytesOf(changes) > quotaTransactionBytesMax) return 'full';
    const isFree =
      conditions.every(
        ({ key, expected }) =>
          !this.#changed.has(key) && (this.#expected.get(key) ?? expected) === expected,
      ) && changes.every(({ key }) => !this.#changed.has(key) && !this.#expected.has(key));
    return isFree ? 'room' : 'apart';
  }

  add({ own, company }: Joiner): void {
    for (const { key, expected } of conditionsOf(own, company)) this.#expected.set(key, expected);
    const changes = [own.change, ...company.changes];
    for (const { key } of changes) this.#changed.add(key);
    this.#changes.push(...changes);
    this.#bytes += bytesOf(changes);
  }

  /** What all share. */
  addChange(change: Change, expected: Revision): void {
    this.#expected.set(change.key, expected);
    this.#changes.push(change);
  }

  get conditions(): readonly Condition[] {
    return [...this.#expected].map(([key, expected]) => ({ key, expected }));
  }

  get changes(): readonly Change[] {
    return this.#changes;
  }
}

/** What is stored under the keys of the conditions of a transaction that did not happen. */
export class CurrentState {
  readonly #items = new Map<string, StoredItem | undefined>();

  constructor(conditions: readonly Condition[], current: readonly (StoredItem | undefined)[]) {
    for (const [at, { key }] of conditions.entries()) this.#items.set(key, current[at]);
  }

  of(key: string): StoredItem | undefined {
    return this.#items.get(key);
  }

  holds({ key, expected }: Condition): boolean {
    return (this.of(key)?.modRevision ?? 0) === expected;
  }
}

const conditionsOf = (
  { change: { key }, expected }: OwnChange,
  { conditions }: Joiner['company'],
): readonly Condition[] => [{ key, expected }, ...conditions];

function bytesOf(changes: readonly Change[]): number {
  let bytes = 0;
  for (const change of changes) if (change.type === 'put') bytes += change.value.length;
  return bytes;
}
