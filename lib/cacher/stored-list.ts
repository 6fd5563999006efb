// Reads that etcd answers: at revisions that memory does not hold, or when memory cannot be proven
// current. Their items are those that memory would have; where memory has the same version of an
// object, its item is used.
import type { ResourceInfo } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { utf8SortKey } from '../base/utf8-order.ts';
import type { Revision, Storage, StoredItem } from '../storage-etcd/storage.ts';
import { makeItem } from './item.ts';
import type { CachedItem, ItemSource } from './item.ts';
import type { ListPage, ListResult, Selection } from './resource-view.ts';
import { PageBuilder } from './page-builder.ts';
import { isFiltered, rangeOf } from './select.ts';
import { Yielder } from '../base/yielder.ts';

export interface StoredReads {
  readonly storage: Storage;
  readonly source: ItemSource;
  /** The version that memory holds of a key, if any. */
  readonly known: (path: string) => CachedItem | undefined;
  readonly onCorrupted: (item: CachedItem) => void;
}

export interface StoredListing extends ListResult {
  readonly items: readonly CachedItem[];
}

const { filteredPageCount } = limits;

/**
 * `at` undefined: the newest. @throws StatusError 410 when the revision was compacted, 504 when it
 * is ahead.
 */
export async function listStored(
  reads: StoredReads,
  select: Selection,
  page: ListPage,
  at: Revision | undefined,
  signal: AbortSignal,
): Promise<StoredListing> {
  for (;;) {
    const { epoch } = reads.storage;
    const { readCount, ...read } = await readPages(reads, select, page, at, signal);
    // Pages over two connections need not be of one store: then all of them once more.
    const isOfOne = readCount === 1 || reads.storage.epoch === epoch;
    if (isOfOne) return { ...read, history: epoch.history };
  }
}

interface PagesRead extends Omit<StoredListing, 'history'> {
  /** How often the store was asked. */
  readonly readCount: number;
}

async function readPages(
  reads: StoredReads,
  select: Selection,
  page: ListPage,
  at: Revision | undefined,
  signal: AbortSignal,
): Promise<PagesRead> {
  const range = rangeOf(select, page.after);
  const prefix =
    reads.source.keyPrefix + (select.namespace === undefined ? '' : `${select.namespace}/`);
  const limit = page.limitCount === 0 ? Infinity : page.limitCount;
  const isPlain = !isFiltered(select);
  const yielder = new Yielder();
  const built = new PageBuilder(select, page, { checksNamespace: false });
  let revision = at;
  let afterKey = range.isAfter ? reads.source.keyPrefix + range.start : undefined;
  for (let readCount = 1; ; readCount++) {
    const limitCount = countToAsk({ limit, have: built.count, isPlain });
    const stored = await reads.storage.list(
      {
        prefix,
        limitCount,
        ...(afterKey === undefined ? {} : { afterKey }),
        ...(revision === undefined ? {} : { at: revision }),
      },
      signal,
    );
    revision ??= stored.revision;
    for (const entry of stored.items) {
      afterKey = entry.key;
      const item = itemOf(reads, entry);
      if (item === undefined) continue;
      if (!built.add(item)) {
        const remainingCount = isPlain ? stored.remainingCount + 1 : undefined;
        return { items: built.finish(), revision, more: true, remainingCount, readCount };
      }
      if (yielder.isDue()) await yielder.yield();
    }
    const { remainingCount } = stored;
    const isFull = isPlain && built.count === limit && remainingCount > 0;
    if (isFull) return { items: built.finish(), revision, more: true, remainingCount, readCount };
    if (remainingCount === 0 || stored.items.length === 0) {
      const none = isPlain ? 0 : undefined;
      return { items: built.finish(), revision, more: false, remainingCount: none, readCount };
    }
  }
}

/** One object; `at` undefined: the newest. */
export async function getStored(
  reads: StoredReads,
  path: string,
  at: Revision | undefined,
  signal: AbortSignal,
): Promise<{ readonly item: CachedItem | undefined; readonly revision: Revision }> {
  const key = reads.source.keyPrefix + path;
  if (at === undefined) {
    const { item, revision } = await reads.storage.get(key, signal);
    return { item: item === undefined ? undefined : itemOf(reads, item), revision };
  }
  const item = await findAt(reads, path, at, signal);
  return { item: item === undefined ? undefined : itemOf(reads, item), revision: at };
}

/** etcd reads one key at the newest revision only through `get`; older ones are read as a range. */
async function findAt(
  reads: StoredReads,
  path: string,
  at: Revision,
  signal: AbortSignal,
): Promise<StoredItem | undefined> {
  const key = reads.source.keyPrefix + path;
  const prefix = key.slice(0, key.lastIndexOf('/') + 1);
  let afterKey = keyBefore(key);
  for (;;) {
    const { items } = await reads.storage.list({ prefix, afterKey, limitCount: 1, at }, signal);
    const [first] = items;
    if (first === undefined || utf8SortKey(first.key) > utf8SortKey(key)) return undefined;
    if (first.key === key) return first;
    afterKey = first.key;
  }
}

/** A key before `key`: few others lie between the two. */
function keyBefore(key: string): string {
  const last = Array.from(key).at(-1) ?? '';
  const code = (last.codePointAt(0) ?? 0) - 1;
  const before = String.fromCodePoint(code === lastSurrogate ? firstSurrogate - 1 : code);
  return `${key.slice(0, -last.length)}${before}\u{10ffff}`;
}
const firstSurrogate = 0xd800;
const lastSurrogate = 0xdfff;

function itemOf(reads: StoredReads, stored: StoredItem): CachedItem | undefined {
  const path = stored.key.slice(reads.source.keyPrefix.length);
  if (!isItemPath(path, reads.source.resource)) return undefined;
  const known = reads.known(path);
  if (known?.revision === stored.modRevision) return known;
  const item = makeItem(reads.source, path, stored.value, stored.modRevision);
  if (item.corrupted) reads.onCorrupted(item);
  return item;
}

/** `namespace/name` where the resource has namespaces, else `name`: other keys are no objects. */
export function isItemPath(path: string, { namespaced }: ResourceInfo): boolean {
  const slash = path.indexOf('/');
  if (!namespaced) return slash < 0 && path !== '';
  return slash > 0 && slash < path.length - 1 && !path.includes('/', slash + 1);
}

interface PageCount {
  readonly limit: number;
  readonly have: number;
  readonly isPlain: boolean;
}

function countToAsk({ limit, have, isPlain }: PageCount): number {
  if (limit === Infinity) return 0;
  return isPlain ? Math.max(1, limit - have) : Math.max(filteredPageCount, limit);
}
