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
import { CachedItem, makeItem } from './item.ts';
import type { ItemSource } from './item.ts';
import { LabelIndexes } from './label-indexes.ts';
import { LogEntry } from './log-entry.ts';
import { ResourceCounts } from './resource-counts.ts';
import { ResourceIndex } from './resource-index.ts';
import type { PathRange } from './resource-index.ts';
import { rangeOf } from './select.ts';
import { Settling } from './settling.ts';
import { Snapshots } from './snapshots.ts';
import type { UnclaimedValue } from './unclaimed.ts';

/** What items are made with, and found by. */
export interface ResourceForm {
  readonly source: ItemSource;
  /** Fields whose values lists find without a scan. */
  readonly indexedFields: readonly string[];
}

export interface ResourceCacheOptions extends ResourceForm {
  readonly log: EventLog;
  /** Changes that the log keeps although bytes, age or compaction would evict them. */
  readonly historyCountMin: number;
  readonly onCorrupted: (item: CachedItem) => void;
}

const { answeredWritesMax } = limits;
/** Paths that a lap takes from the index at once: it may change between two visits. */
const lapBatchCount = 64;

interface Answered {
  readonly value: Uint8Array;
  readonly item: CachedItem;
}

export class ResourceCache {
  readonly options: Omit<ResourceCacheOptions, keyof ResourceForm>;
  readonly snapshots = new Snapshots();
  readonly counts = new ResourceCounts();
  /** In them while they are kept: every item that was made. Asked once `settled`. */
  readonly labels = new LabelIndexes({
    items: () => this.#index,
    budget: () => this.source.budget,
  });
  #source: ItemSource;
  /** What came before the resource did and is not made yet, by path: in no index before. */
  #claims = new Map<string, UnclaimedValue>();
  #index = new ResourceIndex();
  #indexedFields: readonly string[];
  #fields: readonly FieldIndex[];
  readonly #settling = new Settling(() => this.#visits());
  #changedAt: Revision = 0;
  #replaceCount = 0;
  #foreignCount = 0;
  #log: ResourceLog;
  readonly #unreadable = new Map<string, CachedItem>();
  #bytes = 0;
  #isRemoved = false;
  #all: readonly CachedItem[] | undefined;
  readonly #answered = new Map<string, Answered>();

  constructor(options: ResourceCacheOptions) {
    this.options = options;
    this.#source = options.source;
    this.#indexedFields = options.indexedFields;
    this.#fields = options.indexedFields.map((field) => new FieldIndex(field));
    this.#log = new ResourceLog(options.log.revision, options.historyCountMin);
  }

  /** What items are made with from now on. */
  get source(): ItemSource {
    return this.#source;
  }

  /** Reads of several items wait for `settled`; one is asked for by `get`. */
  get index(): ResourceIndex {
    return this.#index;
  }

  get indexedFields(): readonly string[] {
    return this.#indexedFields;
  }

  /**
   * Resolves when all items are made with the source of now, or with a later one; undefined: they
   * are.
   */
  get settled(): Promise<unknown> | undefined {
    return this.#settling.done;
  }

  /** How often the record was replaced. */
  get replaceCount(): number {
    return this.#replaceCount;
  }

  /** What was replaced since this revision was made with the source of now, or with a later one. */
  get changedAt(): Revision {
    return this.#changedAt;
  }

  /** The object in memory. */
  get(path: string): CachedItem | undefined {
    const item = this.#index.get(path);
    return item === undefined ? this.#claimed(path) : this.#made(item);
  }

  /** In the order of keys; of all namespaces: the same array until something changes. */
  all(namespace: string | undefined): readonly CachedItem[] {
    for (const path of this.#claims.keys()) this.#claimed(path);
    if (namespace === undefined) return (this.#all ??= this.#within(everything));
    return this.#within(rangeOf({ namespace }, undefined));
  }

  #within(range: PathRange): readonly CachedItem[] {
    const items: CachedItem[] = [];
    this.#index.walk(range, (item) => items.push(item) > 0);
    return items.map((item) => this.#made(item));
  }

  get log(): ResourceLog {
    return this.#log;
  }

  get objectCount(): number {
    return this.#index.size + this.#claims.size;
  }

  /** Bytes of the current state. */
  get bytes(): number {
    return this.#bytes;
  }

  /** By path. */
  get unreadable(): ReadonlyMap<string, CachedItem> {
    return this.#unreadable;
  }

  /** Undefined while not every item is in it, too. */
  fieldIndex(field: string): FieldIndex | undefined {
    if (this.#settling.done !== undefined) return undefined;
    return this.#fields.find((index) => index.field === field);
  }

  /** Empties the cache; the log of the resource starts at `revision` once `begin` is called. */
  clear(): void {
    this.source.budget.addState(-this.#bytes);
    this.#bytes = 0;
    this.#all = undefined;
    this.#foreignCount = 0;
    this.#changedAt = 0;
    this.#claims = new Map();
    this.#index = new ResourceIndex();
    this.labels.clear();
    this.#fields = this.#indexedFields.map((field) => new FieldIndex(field));
    this.#settling.stop();
    this.#unreadable.clear();
    this.snapshots.clear();
  }

  /**
   * Ends the cache, which holds nothing from now on: what it held, by path. Reads that have the
   * view go to the store.
   */
  remove(): ReadonlyMap<string, UnclaimedValue> {
    invariant(this.source.keepsStored, 'the stored bytes of what is removed were kept');
    const held = this.#claims;
    this.#index.walk(everything, (item) => {
      held.set(item.path, item);
      this.source.budget.forget(item);
      return true;
    });
    this.clear();
    this.#answered.clear();
    this.#isRemoved = true;
    return held;
  }

  /**
   * Another record of the resource takes the place of the one before. What both make alike stays;
   * the rest is made anew when it is asked for, and all of it until `settled`. The log keeps what
   * it has.
   */
  replace({ source, indexedFields }: ResourceForm): void {
    const { keepsStored, keyPrefix } = this.#source;
    invariant(keepsStored && source.keepsStored, 'the stored bytes of what is replaced were kept');
    invariant(source.keyPrefix === keyPrefix, 'a record takes the place of one with its keys');
    this.#replaceCount++;
    const isAlike = this.#takesOver(source);
    if (!isAlike) {
      this.#source = source;
      this.#changedAt = this.options.log.revision;
      this.#answered.clear();
      this.snapshots.clear();
    }
    if (isAlike && isSame(indexedFields, this.#indexedFields)) return;
    this.#indexedFields = indexedFields;
    this.#fields = indexedFields.map((field) => new FieldIndex(field));
    this.#settling.start();
  }

  /** The record of another source joins this one, where it makes the same of all that is here. */
  #takesOver(given: ItemSource): boolean {
    const source = this.#source;
    if (given.schema !== source.schema || !hasSameVersions(given, source)) return false;
    if (given.transcoder !== source.transcoder && this.#foreignCount > 0) return false;
    for (const [schema, version] of source.versions ?? []) {
      takeOver(version, given.versions?.get(schema) ?? version);
    }
    takeOver(source, given);
    return true;
  }

  *#visits(): Generator<undefined> {
    for (const path of this.#claims.keys()) {
      this.#claimed(path);
      yield;
    }
    let range = everything;
    for (;;) {
      const batch: string[] = [];
      this.#index.walk(range, ({ path }) => batch.push(path) < lapBatchCount);
      const last = batch.at(-1);
      if (last === undefined) return;
      for (const path of batch) {
        const item = this.get(path);
        for (const field of this.#fields) field.change(undefined, item);
        yield;
      }
      range = { start: last, isAfter: true, end: undefined };
    }
  }

  /** `item`, which is in the index, as the source of now makes it. */
  #made(item: CachedItem): CachedItem {
    if (item.source === this.#source || item.joins(this.#source)) return item;
    const { path, revision } = item;
    const made = makeItem(this.#source, path, item.storedValue(), revision);
    this.#replace(path, made);
    this.source.budget.forget(item);
    this.options.log.leave(this.#log, item);
    return made;
  }

  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  begin(revision: Revision): void {
    this.#answered.clear(); // their events are in what was loaded
    this.#log = new ResourceLog(revision, this.options.historyCountMin);
  }

  /** Adds what came before the resource did, by path: made as after a replacement. */
  claim(claims: Map<string, UnclaimedValue>): void {
    this.#claims = claims;
    if (claims.size > 0) this.#settling.start();
  }

  #claimed(path: string): CachedItem | undefined {
    const held = this.#claims.get(path);
    if (held === undefined) return undefined;
    this.#claims.delete(path);
    const item = this.#itemOfClaim(path, held);
    this.#replace(path, item);
    return item;
  }

  #itemOfClaim(path: string, held: UnclaimedValue): CachedItem {
    const source = this.#source;
    if (!(held instanceof CachedItem)) return makeItem(source, path, held.value, held.revision);
    if (held.joins(source)) return held;
    return makeItem(source, path, held.storedValue(), held.revision);
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
    const held = this.get(path);
    if (held?.revision === revision) return held;
    const item = makeItem(this.source, path, value, revision, encoded);
    const isEventDue = revision > this.options.log.revision;
    if (item.corrupted || !isEventDue) return item;
    if (this.#answered.size >= answeredWritesMax) this.#answered.clear();
    this.#answered.set(path, { value, item });
    return item;
  }

  put(path: string, value: Uint8Array, revision: Revision, atMs: number): void {
    if (!this.#isNew(path, revision)) return;
    const item =
      this.#takeAnswered(path, value, revision) ?? makeItem(this.source, path, value, revision);
    const previous = this.#replace(path, item);
    if (previous !== undefined) this.source.budget.forget(previous);
    this.#append({ revision, path, item, previous, atMs });
  }

  delete(path: string, revision: Revision, atMs: number): void {
    if (!this.#isNew(path, revision)) return;
    const previous = this.#replace(path, undefined);
    if (previous === undefined) return;
    this.source.budget.forget(previous);
    this.#append({ revision, path, item: undefined, previous, atMs });
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

  /**
   * False: etcd has delivered the event twice (etcd#15274, etcd#15275). What it changes is made by
   * the record of now: watches compare the two.
   */
  #isNew(path: string, revision: Revision): boolean {
    const held = this.get(path);
    return held === undefined || held.revision < revision;
  }

  #replace(path: string, item: CachedItem | undefined): CachedItem | undefined {
    this.#all = undefined;
    const previous = item === undefined ? this.#index.delete(path) : this.#index.set(item);
    for (const field of this.#fields) field.change(previous, item);
    this.labels.change(previous, item);
    const grown = (item?.bytes ?? 0) - (previous?.bytes ?? 0);
    this.#bytes += grown;
    this.source.budget.addState(grown);
    this.#foreignCount += Number(item?.isForeign ?? false) - Number(previous?.isForeign ?? false);
    if (previous?.corrupted === true) this.#unreadable.delete(path);
    if (item?.corrupted === true) {
      this.#unreadable.set(path, item);
      const isKnown = previous?.corrupted === true && previous.revision === item.revision;
      if (!isKnown) this.options.onCorrupted(item);
    }
    return previous;
  }
}

const everything: PathRange = { start: '', isAfter: false, end: undefined };

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((one, at) => one === others[at]);

function hasSameVersions({ versions: one }: ItemSource, { versions: other }: ItemSource): boolean {
  if ((one?.size ?? 0) !== (other?.size ?? 0)) return false;
  return [...(one?.keys() ?? [])].every((schema) => other?.has(schema) === true);
}

function takeOver(source: ItemSource, { resource, transcoder }: ItemSource): void {
  source.resource = resource;
  source.transcoder = transcoder;
}
