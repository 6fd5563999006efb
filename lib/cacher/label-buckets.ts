// Buckets of watches that select by the value of a label, found by the labels that a change takes
// away or brings: what it costs goes by the labels of the object, not by the watches.
import type { LogEntry } from './log-entry.ts';
import { noLabels } from './shared-values.ts';

/** Objects of a namespace (undefined: of all) whose label has one of the values. */
export interface LabelPlace {
  readonly key: string;
  readonly values: readonly string[];
  readonly namespace: string | undefined;
}

interface PlacedBucket<Bucket> {
  readonly values: readonly string[];
  readonly bucket: Bucket;
}

type Visit<Bucket> = (bucket: Bucket) => void;

export class LabelBuckets<Bucket> {
  readonly #known = new Map<string, PlacedBucket<Bucket>>();
  /** By label, then by namespace and value. */
  readonly #byKey = new Map<string, Map<string, Set<PlacedBucket<Bucket>>>>();

  /** The bucket of a place; `make` is given what is to be called when nobody uses it. */
  open(place: LabelPlace, make: (release: () => void) => Bucket): Bucket {
    const { key, values, namespace } = place;
    const name = JSON.stringify([key, namespace, ...values]);
    const known = this.#known.get(name);
    if (known !== undefined) return known.bucket;
    const bucket = make(() => {
      this.#known.delete(name);
      for (const value of values) this.#remove(key, slotOf(namespace, value), placed);
    });
    const placed = { values, bucket };
    this.#known.set(name, placed);
    for (const value of values) this.#add(key, slotOf(namespace, value), placed);
    return bucket;
  }

  /** Visits each bucket that the change concerns, once. */
  visit({ item, previous, isUnreadable }: LogEntry, visit: Visit<Bucket>): void {
    if (this.#known.size === 0) return;
    if (isUnreadable) {
      for (const { bucket } of this.#known.values()) visit(bucket);
      return;
    }
    const namespace = (item ?? previous)?.namespace ?? '';
    const after = item?.labels ?? noLabels;
    const before = previous?.labels ?? noLabels;
    for (const key in after) this.#visitValue(key, after[key] ?? '', namespace, undefined, visit);
    for (const key in before) {
      const value = before[key] ?? '';
      if (value !== after[key]) this.#visitValue(key, value, namespace, after[key], visit);
    }
  }

  /** `seen`: the value by which the label's buckets were visited. */
  #visitValue(
    key: string,
    value: string,
    namespace: string,
    seen: string | undefined,
    visit: Visit<Bucket>,
  ): void {
    const slots = this.#byKey.get(key);
    if (slots === undefined) return;
    visitAll(slots.get(slotOf(undefined, value)), seen, visit);
    visitAll(slots.get(slotOf(namespace, value)), seen, visit);
  }

  #add(key: string, slot: string, placed: PlacedBucket<Bucket>): void {
    const slots = this.#byKey.get(key) ?? new Map<string, Set<PlacedBucket<Bucket>>>();
    this.#byKey.set(key, slots);
    const buckets = slots.get(slot) ?? new Set();
    slots.set(slot, buckets.add(placed));
  }

  #remove(key: string, slot: string, placed: PlacedBucket<Bucket>): void {
    const slots = this.#byKey.get(key);
    const buckets = slots?.get(slot);
    buckets?.delete(placed);
    if (buckets?.size === 0) slots?.delete(slot);
    if (slots?.size === 0) this.#byKey.delete(key);
  }
}

/** Whether an entry's versions are of the place, before or after the change. */
export function isAtPlace({ item, previous }: LogEntry, place: LabelPlace): boolean {
  const { key, values, namespace } = place;
  return [item, previous].some((one) => {
    const value = one?.labels[key];
    if (one === undefined || value === undefined || !values.includes(value)) return false;
    return namespace === undefined || one.namespace === namespace;
  });
}

/** No namespace has a slash in its name. */
const slotOf = (namespace: string | undefined, value: string): string =>
  namespace === undefined ? `/${value}` : `${namespace}/${value}`;

function visitAll<Bucket>(
  buckets: ReadonlySet<PlacedBucket<Bucket>> | undefined,
  seen: string | undefined,
  visit: Visit<Bucket>,
): void {
  for (const { values, bucket } of buckets ?? []) {
    if (seen === undefined || !values.includes(seen)) visit(bucket);
  }
}
