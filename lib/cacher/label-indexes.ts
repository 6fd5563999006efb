// Which labels of one resource have an index: those that are selected by again and again, while the
// memory budget has room. They are built in slices beside the changes, and are the first to go.
import { limits } from '../base/limits.ts';
import { Yielder } from '../base/yielder.ts';
import type { LabelRequirement } from '../api/selector.ts';
import type { CachedItem } from './item.ts';
import { LabelIndex, labelIndexBytesMax } from './label-index.ts';
import type { Droppable, MemoryBudget } from './memory-budget.ts';
import type { ItemOrder, PathRange } from './resource-index.ts';

const { labelIndexItemsMin, labelIndexIdleMs, labelIndexesMax, labelKeysCountedMax } = limits;
/** Items that a build takes from the order at once: it may change between two visits. */
const batchCount = 64;
/** An index that leaves more than this part of what a walk would see is of no use to it. */
const usefulShareMax = 1 / 2;
/** Uses within the idle time after which the next one finds an index. */
const usesToBuild = 2;

export interface LabelIndexesOptions {
  /** The current objects: another order after the resource was emptied. */
  readonly items: () => ItemOrder;
  readonly budget: () => MemoryBudget;
}

interface KeptIndex extends Droppable {
  readonly index: LabelIndex;
  isBuilt: boolean;
}

interface Uses {
  count: number;
  readonly sinceMs: number;
}

//   scan ─ 1st use ─▶ scan ─ 2nd use ─▶ scan, build in slices ─▶ index ─ idle, or no room ─▶ scan

export class LabelIndexes {
  readonly #options: LabelIndexesOptions;
  readonly #kept = new Map<string, KeptIndex>();
  readonly #uses = new Map<string, Uses>();

  constructor(options: LabelIndexesOptions) {
    this.#options = options;
  }

  /** Labels that have an index, or will have one when it is built. */
  get keys(): readonly string[] {
    return [...this.#kept.keys()];
  }

  /** Replaces what `previous` left in the indexes by `item`. */
  change(previous: CachedItem | undefined, item: CachedItem | undefined): void {
    for (const kept of this.#kept.values()) {
      kept.index.change(previous, item);
      this.#count(kept);
    }
  }

  /**
   * An order that holds, of the range, all items of which the requirements hold, and few others;
   * undefined: none is known, or it would not help. Counts as a use of the labels.
   */
  narrowed(terms: readonly LabelRequirement[], range: PathRange): ItemOrder | undefined {
    const usable = terms.filter(isIndexable);
    const items = this.#options.items();
    if (usable.length === 0 || items.size < labelIndexItemsMin) return undefined;
    const most = items.count(range) * usefulShareMax;
    let least = most;
    let best: { readonly order: ItemOrder; readonly kept: KeptIndex } | undefined;
    for (const { key, operator, values } of usable) {
      const kept = this.#kept.get(key);
      if (kept?.isBuilt !== true) continue;
      const order = kept.index.select(operator === 'exists' ? undefined : values, range);
      const count = order.count(range);
      if (count > least) continue;
      least = count;
      best = { order, kept };
    }
    if (best === undefined) for (const { key } of usable) this.#used(key);
    else best.kept.usedMs = this.#options.budget().nowMs;
    return best?.order;
  }

  /** Drops all: the resource is emptied, or ends. */
  clear(): void {
    for (const kept of this.#kept.values()) this.#options.budget().release(kept);
    this.#kept.clear();
  }

  #used(key: string): void {
    if (this.#kept.has(key)) return;
    const { nowMs } = this.#options.budget();
    const known = this.#uses.get(key);
    const isLate = known === undefined || nowMs - known.sinceMs > labelIndexIdleMs;
    const uses = isLate ? { count: 0, sinceMs: nowMs } : known;
    uses.count++;
    this.#uses.delete(key);
    if (uses.count >= usesToBuild && this.#hasRoom()) {
      void this.#build(key);
      return;
    }
    this.#uses.set(key, uses);
    const [oldest] = this.#uses.keys();
    if (this.#uses.size > labelKeysCountedMax && oldest !== undefined) this.#uses.delete(oldest);
  }

  #hasRoom(): boolean {
    const bytesMax = labelIndexBytesMax(this.#options.items().size);
    return this.#kept.size < labelIndexesMax && this.#options.budget().hasRoomFor(bytesMax);
  }

  async #build(key: string): Promise<void> {
    const budget = this.#options.budget();
    const kept: KeptIndex = {
      index: new LabelIndex(key),
      isBuilt: false,
      bytes: 0,
      usedMs: budget.nowMs,
      idleMs: labelIndexIdleMs,
      drop: () => this.#kept.delete(key),
    };
    this.#kept.set(key, kept);
    budget.keep(kept);
    const yielder = new Yielder();
    let range: PathRange = { start: '', isAfter: false, end: undefined };
    for (;;) {
      await yielder.yield();
      do {
        // It was dropped, or the resource was emptied.
        if (this.#kept.get(key) !== kept) return;
        const last = addBatch(kept.index, this.#options.items(), range);
        if (last === undefined) {
          kept.isBuilt = true;
          this.#count(kept);
          return;
        }
        range = { start: last, isAfter: true, end: undefined };
      } while (!yielder.isDue(batchCount));
      this.#count(kept);
    }
  }

  #count(kept: KeptIndex): void {
    const grown = kept.index.bytes - kept.bytes;
    if (grown !== 0) this.#options.budget().resize(kept, grown);
  }
}

const isIndexable = ({ operator }: LabelRequirement): boolean =>
  operator === 'in' || operator === 'exists';

/** Adds the next items of the range; the path of the last one. */
function addBatch(index: LabelIndex, items: ItemOrder, range: PathRange): string | undefined {
  let left = batchCount;
  let last: string | undefined;
  items.walk(range, (item) => {
    index.change(undefined, item);
    last = item.path;
    return --left > 0;
  });
  return last;
}
