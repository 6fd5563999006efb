// One resource in memory: its current objects, its indexes, its part of the log and what is
// unreadable in it. Written by the reflector alone. Readers take what they need in one turn of the
// event loop.
import { invariant } from '../base/invariant.ts';
import { limits } from '../base/limits.ts';
import type { EncodedStored } from '../codec/stored-form.ts';
import type { Revision } from '../storage-etcd/storage.ts';
import { ResourceLog } from './event-log.ts';
import type { EventLog } from './event-log.ts';
import { FieldIndex } from './field-index.ts';
import { makeItem } from './item.ts';
import type { CachedItem, ItemSource } from './item.ts';
import { LogEntry } from './log-entry.ts';
import { ResourceCounts } from './resource-counts.ts';
import { ResourceIndex } from './resource-index.ts';
import { Snapshots } from './snapshots.ts';

export interface ResourceCacheOptions {
  readonly source: ItemSource;
  readonly log: EventLog;
  /** Fields whose values lists find without a scan. */
  readonly indexedFields: readonly string[];
  /** Changes that the log keeps although bytes, age or compaction would evict them. */
  readonly historyCountMin: number;
  readonly onCorrupted: (item: CachedItem) => void;
}

const { answeredWritesMax } = limits;

export interface StoredValue {
  readonly path: string;
  readonly revision: Revision;
  readonly stored: Uint8Array;
}

interface Answered {
  readonly value: Uint8Array;
  readonly item: CachedItem;
}

export class ResourceCache {
  readonly options: ResourceCacheOptions;
  readonly source: ItemSource;
  readonly snapshots = new Snapshots();
  readonly counts = new ResourceCounts();
  #index = new ResourceIndex();
  #fields: readonly FieldIndex[];
  #log: ResourceLog;
  readonly #unreadable = new Map<string, CachedItem>();
  #bytes = 0;
  #isRemoved = false;
  readonly #answered = new Map<string, Answered>();

  constructor(options: ResourceCacheOptions) {
    this.options = options;
    this.source = options.source;
    this.#fields = options.indexedFields.map((field) => new FieldIndex(field));
    this.#log = new ResourceLog(options.log.revision, options.historyCountMin);
  }

  get index(): ResourceIndex {
    return this.#index;
  }

  get log(): ResourceLog {
    return this.#log;
  }

  /** Bytes of the current state. */
  get bytes(): number {
    return this.#bytes;
  }

  /** By path. */
  get unreadable(): ReadonlyMap<string, CachedItem> {
    return this.#unreadable;
  }

  fieldIndex(field: string): FieldIndex | undefined {
    return this.#fields.find((index) => index.field === field);
  }

  /** Empties the cache; the log of the resource starts at `revision` once `begin` is called. */
  clear(): void {
    this.source.budget.addState(-this.#bytes);
    this.#bytes = 0;
    this.#index = new ResourceIndex();
    this.#fields = this.options.indexedFields.map((field) => new FieldIndex(field));
    this.#unreadable.clear();
    this.snapshots.clear();
  }

  /**
   * Ends the cache, which holds nothing from now on: what it held, as it was stored. Reads that
   * have the view go to the store.
   */
  remove(): readonly StoredValue[] {
    invariant(this.source.keepsStored, 'the stored bytes of what is removed were kept');
    const values: StoredValue[] = [];
    this.#index.walk({ start: '', isAfter: false, end: undefined }, (item) => {
      values.push({ path: item.path, revision: item.revision, stored: item.storedValue() });
      this.source.budget.forget(item);
      return true;
    });
    this.clear();
    this.#answered.clear();
    this.#isRemoved = true;
    return values;
  }

  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  begin(revision: Revision): void {
    this.#answered.clear(); // their events are in what was loaded
    this.#log = new ResourceLog(revision, this.options.historyCountMin);
  }

  /** Adds an object of the list that the reflector fills memory with. */
  load(path: string, value: Uint8Array, revision: Revision): void {
    this.#replace(path, makeItem(this.source, path, value, revision));
  }

  /**
   * The item of stored bytes, which `encoded` became: the one in memory when it is that version.
   * What a write answers with is kept until its event comes, which then needs not make it again; it
   * is in no index before.
   */
  itemOf(path: string, value: Uint8Array, revision: Revision, encoded?: EncodedStored): CachedItem {
    const held = this.#index.get(path);
    if (held?.revision === revision) return held;
    const item = makeItem(this.source, path, value, revision, encoded);
    const isEventDue = revision > this.options.log.revision;
    if (item.corrupted || !isEventDue) return item;
    if (this.#answered.size >= answeredWritesMax) this.#answered.clear();
    this.#answered.set(path, { value, item });
    return item;
  }

  put(path: string, value: Uint8Array, revision: Revision, atMs: number): void {
    if (this.#isKnown(path, revision)) return;
    const item =
      this.#takeAnswered(path, value, revision) ?? makeItem(this.source, path, value, revision);
    const previous = this.#replace(path, item);
    if (previous !== undefined) this.source.budget.forgetObject(previous);
    this.#append({ revision, path, item, previous, atMs });
  }

  delete(path: string, revision: Revision, atMs: number): void {
    if (this.#isKnown(path, revision)) return;
    const previous = this.#replace(path, undefined);
    if (previous !== undefined) this.#append({ revision, path, item: undefined, previous, atMs });
  }

  /** The item of an answered write, where the event has the same bytes and revision. */
  #takeAnswered(path: string, value: Uint8Array, revision: Revision): CachedItem | undefined {
    const answered = this.#answered.get(path);
    if (answered === undefined) return undefined;
    if (answered.item.revision > revision) return undefined;
    this.#answered.delete(path);
    if (answered.item.revision !== revision) return undefined;
    return Buffer.compare(answered.value, value) === 0 ? answered.item : undefined;
  }

  #append(change: ConstructorParameters<typeof LogEntry>[0]): void {
    this.options.log.append(this.#log, new LogEntry(change));
  }

  /** etcd may deliver an event twice (etcd#15274, etcd#15275). */
  #isKnown(path: string, revision: Revision): boolean {
    return (this.#index.get(path)?.revision ?? 0) >= revision;
  }

  #replace(path: string, item: CachedItem | undefined): CachedItem | undefined {
    const previous = item === undefined ? this.#index.delete(path) : this.#index.set(item);
    for (const field of this.#fields) field.change(previous, item);
    const grown = (item?.bytes ?? 0) - (previous?.bytes ?? 0);
    this.#bytes += grown;
    this.source.budget.addState(grown);
    if (previous?.corrupted === true) this.#unreadable.delete(path);
    if (item?.corrupted === true) {
      this.#unreadable.set(path, item);
      this.options.onCorrupted(item);
    }
    return previous;
  }
}
