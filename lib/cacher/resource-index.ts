// The current objects of one resource in the order of their keys in etcd: sorted chunks, shared
// with snapshots until somebody writes. A snapshot costs one pointer; the first write after it
// copies the list of chunks and one chunk.
import { invariant } from '../base/invariant.ts';
import { utf8SortKey } from '../base/utf8-order.ts';
import type { CachedItem } from './item.ts';

//   current  ─ chunks ─▶ [ a…f ][ g…m' ][ n…z ]
//   snapshot ─ chunks ─▶ [ a…f ][ g…m  ][ n…z ]     only the written chunk differs

interface Chunk {
  items: CachedItem[];
  /** The ordering that may write into this chunk. */
  readonly owner: object;
}

const chunkCountMax = 256;

/** From `start` (left out when `isAfter`) up to and without `end`. */
export interface PathRange {
  readonly start: string;
  readonly isAfter: boolean;
  /** undefined: no end. */
  readonly end: string | undefined;
}

/** An ordering that nobody writes to. */
export interface ItemOrder {
  readonly size: number;
  get(path: string): CachedItem | undefined;
  /** Visits the range in order until `visit` answers false. */
  walk(range: PathRange, visit: (item: CachedItem) => boolean): void;
  count(range: PathRange): number;
  /** The order as it is now; the same one until the next write. */
  snapshot(): ItemOrder;
}

/** One end of a range. */
interface Edge {
  readonly path: string | undefined;
  readonly isAfter: boolean;
}

export class ResourceIndex implements ItemOrder {
  #chunks: Chunk[];
  #ownsList = true;
  #owner: object = {};
  #size: number;
  #snapshot: ResourceIndex | undefined;

  constructor(shared?: { readonly chunks: Chunk[]; readonly size: number }) {
    this.#chunks = shared?.chunks ?? [];
    this.#size = shared?.size ?? 0;
    this.#ownsList = shared === undefined;
  }

  get size(): number {
    return this.#size;
  }

  get(path: string): CachedItem | undefined {
    // Almost every path is its own sort key, and what is asked for is mostly there.
    const item = this.#firstFrom(path);
    if (item?.path === path) return item;
    const key = utf8SortKey(path);
    const other = key === path ? undefined : this.#firstFrom(key);
    return other?.path === path ? other : undefined;
  }

  /** Puts the item at its path; gives what was there. */
  set(item: CachedItem): CachedItem | undefined {
    const index = this.#chunkAt(item.sortKey);
    const chunk = this.#writable(index);
    const at = lowerBound(chunk.items, item.sortKey);
    const old = chunk.items[at];
    if (old?.path === item.path) {
      chunk.items[at] = item;
      return old;
    }
    if (at === chunk.items.length) chunk.items.push(item);
    else chunk.items.splice(at, 0, item);
    this.#size++;
    if (chunk.items.length > chunkCountMax) this.#split(index, at);
    return undefined;
  }

  delete(path: string): CachedItem | undefined {
    if (this.get(path) === undefined) return undefined;
    const key = utf8SortKey(path);
    const index = this.#chunkAt(key);
    const chunk = this.#writable(index);
    const [old] = chunk.items.splice(lowerBound(chunk.items, key), 1);
    this.#size--;
    if (chunk.items.length === 0) this.#chunks.splice(index, 1);
    return old;
  }

  snapshot(): ItemOrder {
    return this.#shared();
  }

  /** A copy that may be changed without changing this index. */
  fork(): ResourceIndex {
    const { chunks, size } = { chunks: this.#chunks, size: this.#size };
    this.#shared();
    return new ResourceIndex({ chunks, size });
  }

  walk(range: PathRange, visit: (item: CachedItem) => boolean): void {
    const start = utf8SortKey(range.start);
    const end = range.end === undefined ? undefined : utf8SortKey(range.end);
    for (let c = this.#chunkAt(start); c < this.#chunks.length; c++) {
      const items = this.#chunks[c]?.items ?? [];
      let i = items[0] !== undefined && items[0].sortKey < start ? lowerBound(items, start) : 0;
      if (range.isAfter && items[i]?.sortKey === start) i++;
      for (; i < items.length; i++) {
        const item = items[i];
        if (item === undefined || (end !== undefined && item.sortKey >= end)) return;
        if (!visit(item)) return;
      }
    }
  }

  count(range: PathRange): number {
    const { start, isAfter, end } = range;
    return this.#rank({ path: end, isAfter: false }) - this.#rank({ path: start, isAfter });
  }

  /** Of one chunk: the item that has the sort key, if any has it. */
  #firstFrom(key: string): CachedItem | undefined {
    const items = this.#chunks[this.#chunkAt(key)]?.items;
    return items?.[lowerBound(items, key)];
  }

  #shared(): ResourceIndex {
    if (this.#snapshot !== undefined) return this.#snapshot;
    this.#snapshot = new ResourceIndex({ chunks: this.#chunks, size: this.#size });
    this.#ownsList = false;
    this.#owner = {};
    return this.#snapshot;
  }

  /** The number of items before `path` (and at it, when `isAfter`); all, when there is no path. */
  #rank({ path, isAfter }: Edge): number {
    if (path === undefined) return this.#size;
    const key = utf8SortKey(path);
    const index = this.#chunkAt(key);
    let rank = 0;
    for (let c = 0; c < index; c++) rank += this.#chunks[c]?.items.length ?? 0;
    const items = this.#chunks[index]?.items ?? [];
    const at = lowerBound(items, key);
    return rank + at + (isAfter && items[at]?.sortKey === key ? 1 : 0);
  }

  /**
   * Index of the chunk that holds or would hold a sort key: the last one that starts at or before
   * it.
   */
  #chunkAt(key: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const first = this.#chunks[middle]?.items[0];
      if (first !== undefined && first.sortKey <= key) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  #writable(index: number): Chunk {
    this.#snapshot = undefined;
    if (!this.#ownsList) {
      this.#chunks = this.#chunks.slice();
      this.#ownsList = true;
    }
    const chunk = this.#chunks[index];
    if (chunk?.owner === this.#owner) return chunk;
    const own = { items: chunk?.items.slice() ?? [], owner: this.#owner };
    this.#chunks[index] = own;
    return own;
  }

  /** Splits a full chunk; keys that come in order leave full chunks behind. */
  #split(index: number, insertedAt: number): void {
    const chunk = this.#chunks[index];
    invariant(chunk !== undefined, 'the chunk to split exists');
    const isLast = insertedAt === chunk.items.length - 1;
    const tail = chunk.items.splice(isLast ? insertedAt : chunk.items.length >>> 1);
    this.#chunks.splice(index + 1, 0, { items: tail, owner: this.#owner });
  }
}

/** First position whose sort key is not before `key`. */
function lowerBound(items: readonly CachedItem[], key: string): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && item.sortKey < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
