// The index of watches: a bucket per watched namespace, object, label or field value holds the log
// entries that concern it. Buckets exist while watchers use them, so an event costs one lookup a
// watched dimension plus the watchers of its own buckets.
import { LinkedList } from '../base/linked-list.ts';
import type { Linked } from '../base/linked-list.ts';
import { limits } from '../base/limits.ts';
import type { Revision } from '../storage-etcd/storage.ts';
import type { CachedItem } from './item.ts';
import type { LogEntry } from './log-entry.ts';
import { LabelBuckets, isAtPlace } from './label-buckets.ts';
import type { LabelPlace } from './label-buckets.ts';
import type { Selection, WatchEvent } from './resource-view.ts';
import { onePathOf } from './select.ts';
import { Sequence } from './sequence.ts';

/** Woken when its bucket has grown; it waits for one bucket at a time. */
export interface Waiter extends Linked<Waiter> {
  /** Others decide by what it knows: it is not made to wait for more to come. Absent: it may be. */
  readonly isPrompt?: boolean;
  wake(): void;
}

/** The events of the entries in [from, to), for watchers without a predicate. */
export interface SharedBatch {
  readonly from: number;
  readonly to: number;
  readonly events: readonly WatchEvent[];
}

/** Entries of one resource that concern one value of one dimension; `all` holds every entry. */
export class Bucket {
  readonly entries = new Sequence<LogEntry>();
  /** Every entry after this revision that concerns the bucket is in it. */
  coversAfter: Revision;
  userCount = 0;
  /** The last batch that was made; dropped with the first of its entries. */
  shared: SharedBatch | undefined = undefined;
  readonly release: () => void;
  readonly #waiting = new LinkedList<Waiter>();
  readonly #prompt = new LinkedList<Waiter>();

  constructor(coversAfter: Revision, release: () => void) {
    this.coversAfter = coversAfter;
    this.release = release;
  }

  wait(waiter: Waiter): void {
    this.#listOf(waiter).add(waiter);
  }

  get hasPrompt(): boolean {
    return this.#prompt.size > 0;
  }

  /** All that wait, for who wakes them; those that find nothing wait again. */
  takeWaiting(into: Waiter[]): void {
    this.#prompt.takeAll(into);
    this.#waiting.takeAll(into);
  }

  wakePrompt(): void {
    for (const waiter of this.#prompt.takeAll()) waiter.wake();
  }

  /** A waiter that left must not be held by a bucket that stays quiet. */
  stopWaiting(waiter: Waiter): void {
    this.#listOf(waiter).delete(waiter);
  }

  #listOf({ isPrompt }: Waiter): LinkedList<Waiter> {
    return isPrompt === true ? this.#prompt : this.#waiting;
  }
}

/**
 * Where a selection is watched. `path` and `name` are of one object; `field` of one value of a
 * field; `label` of some values of a label.
 */
export type Dimension =
  | { readonly by: 'all' }
  | { readonly by: 'namespace'; readonly value: string }
  | { readonly by: 'path'; readonly value: string }
  | { readonly by: 'name'; readonly value: string }
  | { readonly by: 'field'; readonly field: string; readonly value: string }
  | { readonly by: 'label'; readonly place: LabelPlace };

/** The narrowest dimension of a selection. */
export function dimensionOf(
  select: Selection,
  resource: { readonly namespaced: boolean; readonly indexedFields: readonly string[] },
): Dimension {
  const { namespace, name } = select;
  const path = onePathOf(select, resource);
  if (path !== undefined) return { by: 'path', value: path };
  if (name !== undefined) return { by: 'name', value: name };
  const equal = select.fields?.filter(({ operator }) => operator === '=') ?? [];
  const field =
    equal.find(({ path }) => resource.indexedFields.includes(path)) ??
    (namespace === undefined ? equal.find(({ path }) => !path.startsWith('metadata.')) : undefined);
  if (field !== undefined) return { by: 'field', field: field.path, value: field.value };
  const place = labelPlaceOf(select);
  if (place !== undefined) return { by: 'label', place };
  return namespace === undefined ? { by: 'all' } : { by: 'namespace', value: namespace };
}

/** By the requirement that holds of the fewest values; undefined: there is none of few values. */
function labelPlaceOf({ labelTerms = [], namespace }: Selection): LabelPlace | undefined {
  let place: LabelPlace | undefined;
  for (const { key, operator, values } of labelTerms) {
    if (operator !== 'in') continue;
    const most = place === undefined ? limits.labelWatchValuesMax : place.values.length - 1;
    if (values.length <= most) place = { key, values: [...new Set(values)].sort(), namespace };
  }
  return place;
}

export class WatchIndex {
  readonly all: Bucket;
  readonly #namespaces = new Map<string, Bucket>();
  readonly #paths = new Map<string, Bucket>();
  readonly #names = new Map<string, Bucket>();
  readonly #fields = new Map<string, Map<string, Bucket>>();
  readonly #labels = new LabelBuckets<Bucket>();

  constructor(coversAfter: Revision) {
    this.all = new Bucket(coversAfter, () => undefined);
  }

  /**
   * The bucket of a dimension, holding everything after `after` (not before the log's beginning).
   */
  join(dimension: Dimension, after: Revision): Bucket {
    const bucket = this.#open(dimension);
    bucket.userCount++;
    if (bucket !== this.all && after < bucket.coversAfter) this.#extend(bucket, dimension, after);
    return bucket;
  }

  leave(bucket: Bucket): void {
    bucket.userCount--;
    if (bucket.userCount === 0) bucket.release();
  }

  /** Adds the entry to every bucket that it concerns, and those buckets to `touched`. */
  append(entry: LogEntry, touched: Set<Bucket>): void {
    this.#visit(entry, (bucket) => {
      bucket.entries.push(entry);
      touched.add(bucket);
    });
  }

  /** Removes the oldest entry of the log from its buckets. */
  drop(entry: LogEntry): void {
    this.#visit(entry, (bucket) => {
      bucket.coversAfter = Math.max(bucket.coversAfter, entry.revision);
      if (bucket.entries.oldest() !== entry) return;
      bucket.entries.shift();
      if ((bucket.shared?.from ?? Infinity) < bucket.entries.first) bucket.shared = undefined;
    });
  }

  #visit(entry: LogEntry, visit: (bucket: Bucket) => void): void {
    visit(this.all);
    const item = entry.item ?? entry.previous;
    if (item === undefined) return;
    visitOne(this.#namespaces, item.namespace, visit);
    visitOne(this.#paths, entry.path, visit);
    if (this.#names.size > 0) visitOne(this.#names, item.name, visit);
    this.#labels.visit(entry, visit);
    for (const [field, values] of this.#fields) {
      if (entry.isUnreadable) {
        for (const bucket of values.values()) visit(bucket);
        continue;
      }
      const value = item.field(field);
      visitOne(values, value, visit);
      const before = entry.previous?.field(field);
      if (before !== undefined && before !== value) visitOne(values, before, visit);
    }
  }

  #open(dimension: Dimension): Bucket {
    switch (dimension.by) {
      case 'all':
        return this.all;
      case 'namespace':
        return this.#openIn(this.#namespaces, dimension.value);
      case 'path':
        return this.#openIn(this.#paths, dimension.value);
      case 'name':
        return this.#openIn(this.#names, dimension.value);
      case 'field': {
        const values = this.#fields.get(dimension.field) ?? new Map<string, Bucket>();
        this.#fields.set(dimension.field, values);
        return this.#openIn(values, dimension.value, () => {
          if (values.size === 0) this.#fields.delete(dimension.field);
        });
      }
      case 'label':
        return this.#labels.open(dimension.place, (release) => this.#make(release));
    }
  }

  #openIn(buckets: Map<string, Bucket>, value: string, onRelease?: () => void): Bucket {
    const known = buckets.get(value);
    if (known !== undefined) return known;
    const made = this.#make(() => {
      buckets.delete(value);
      onRelease?.();
    });
    buckets.set(value, made);
    return made;
  }

  /** A bucket that holds what comes from now on. */
  #make(release: () => void): Bucket {
    const newest = this.all.entries.at(this.all.entries.end - 1);
    return new Bucket(newest?.revision ?? this.all.coversAfter, release);
  }

  /** Fetches the entries of (after, coversAfter] from the resource's log. */
  #extend(bucket: Bucket, dimension: Dimension, after: Revision): void {
    const { entries } = this.all;
    const older: LogEntry[] = [];
    const start = entries.find(({ revision }) => revision > after);
    for (let number = start; number < entries.end; number++) {
      const entry = entries.at(number);
      if (entry === undefined || entry.revision > bucket.coversAfter) break;
      if (concerns(entry, dimension)) older.push(entry);
    }
    bucket.entries.prepend(older);
    bucket.coversAfter = after;
  }
}

function concerns(entry: LogEntry, dimension: Dimension): boolean {
  if (dimension.by === 'label') return entry.isUnreadable || isAtPlace(entry, dimension.place);
  const held = (item: CachedItem | undefined): boolean => {
    if (item === undefined) return false;
    if (dimension.by === 'namespace') return item.namespace === dimension.value;
    if (dimension.by === 'path') return item.path === dimension.value;
    if (dimension.by === 'name') return item.name === dimension.value;
    return dimension.by === 'all' || item.field(dimension.field) === dimension.value;
  };
  if (entry.isUnreadable && dimension.by === 'field') return true;
  return held(entry.item) || held(entry.previous);
}

function visitOne(
  buckets: ReadonlyMap<string, Bucket>,
  value: string,
  visit: (bucket: Bucket) => void,
): void {
  if (buckets.size === 0) return;
  const bucket = buckets.get(value);
  if (bucket !== undefined) visit(bucket);
}
