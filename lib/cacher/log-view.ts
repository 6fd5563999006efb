// ResourceView over the log and the indexes: decides whether memory, a snapshot or etcd answers a
// read, then selects in one turn of the event loop.
import { limits } from '../base/limits.ts';
import { abortable, signalOf } from '../base/abort.ts';
import type { WaitEnd } from '../base/abort.ts';
import { invariant } from '../base/invariant.ts';
import { expired, tooOldResourceVersion } from '../base/status.ts';
import { nextTurn, turnMs } from '../base/turn.ts';
import { utf8SortKey } from '../base/utf8-order.ts';
import type { EncodedStored } from '../codec/stored-form.ts';
import type { Epoch, Revision, StoredItem } from '../storage-etcd/storage.ts';
import { dimensionOf } from './watch-index.ts';
import { itemsByField, itemsByLabel } from './indexed-search.ts';
import { makeItem } from './item.ts';
import { limitedWait, notFilled } from './ready-wait.ts';
import type { CachedItem } from './item.ts';
import type { Answerer } from './read-at.ts';
import type { ResourceCache } from './resource-cache.ts';
import { ResourceIndex } from './resource-index.ts';
import type { ItemOrder } from './resource-index.ts';
import type { Item, ItemKey, ListPage, ListResult, ReadAt, ReadVerb } from './resource-view.ts';
import type { ResourceView, Selection, WatchCursor, WatchOptions } from './resource-view.ts';
import type { WatchStart } from './resource-view.ts';
import { PageBuilder } from './page-builder.ts';
import { isFiltered, onePathOf, pathOf, predicateOf, rangeOf, unnamed } from './select.ts';
import { getStored, listStored } from './stored-list.ts';
import type { StoredReads } from './stored-list.ts';
import { mayHold } from './unreadable.ts';
import { LogCursor } from './watch-cursor.ts';
import type { InitialState } from './state-reader.ts';
import type { ViewHost } from './view-host.ts';

const { selectTurnMsMax } = limits;

interface OrderedState {
  readonly items: ItemOrder;
  readonly revision: Revision;
}

type Source =
  | { readonly from: 'memory' }
  | { readonly from: 'snapshot'; readonly order: ItemOrder; readonly revision: Revision }
  | { readonly from: 'storage'; readonly at: Revision | undefined };

export class LogView implements ResourceView {
  readonly name: string;
  readonly #host: ViewHost;
  readonly #cache: ResourceCache;
  readonly #stored: StoredReads;

  constructor(host: ViewHost, cache: ResourceCache) {
    const { group, resource } = cache.source.resource;
    this.name = `${group}/${resource}`;
    this.#host = host;
    this.#cache = cache;
    this.#stored = {
      storage: host.storage,
      get source() {
        return cache.source;
      },
      // The same revision of another history is another version.
      known: (path) => (host.isCurrent() ? cache.get(path) : undefined),
      onCorrupted: cache.options.onCorrupted,
    };
  }

  async get(key: ItemKey, at: ReadAt, end: WaitEnd): Promise<Item | undefined> {
    const fromMs = performance.now();
    const source = this.#taken(await this.#decide(at, end), 'get', at, fromMs);
    const path = pathOf(key);
    switch (source.from) {
      case 'memory':
        return this.#cache.get(path);
      case 'snapshot':
        return source.order.get(path);
      case 'storage': {
        const { item, revision } = await getStored(this.#stored, path, source.at, signalOf(end));
        await this.#requireAsked(at, revision, signalOf(end));
        return item;
      }
    }
  }

  async list(
    select: Selection,
    at: ReadAt,
    page: ListPage,
    signal: AbortSignal,
  ): Promise<ListResult> {
    const fromMs = performance.now();
    const found = await this.#decide(at, signal);
    const isOfOne = onePathOf(select, this.#cache.source.resource) !== undefined;
    if (found.from === 'memory' && this.#isUnsettled && !isOfOne) await this.#settled(signal);
    // Memory only becomes newer during the wait: an exact version would be passed.
    while (at.mode !== 'exact' && turnMs() > selectTurnMsMax) await nextTurn();
    const source = this.#taken(found, 'list', at, fromMs);
    switch (source.from) {
      case 'memory':
        return this.#listMemory(select, page);
      case 'snapshot':
        return this.#listSnapshot(source, select, page);
      case 'storage': {
        const result = await listStored(this.#stored, select, page, source.at, signal);
        await this.#requireAsked(at, result.revision, signal);
        return result;
      }
    }
  }

  async watch(
    select: Selection,
    start: WatchStart,
    options: WatchOptions,
    signal: AbortSignal,
  ): Promise<WatchCursor> {
    const { replaceCount } = this.#cache;
    const cursor = await this.#openWatch(select, start, options, signal);
    // The record was replaced during the wait: this watch is one that was running then.
    if (this.#cache.replaceCount !== replaceCount) cursor.closeReplaced('startOver');
    return cursor;
  }

  async #openWatch(
    select: Selection,
    start: WatchStart,
    options: WatchOptions,
    signal: AbortSignal,
  ): Promise<LogCursor> {
    const { isReady, isCurrent, ready, current } = this.#host;
    for (;;) {
      if (this.#cache.isRemoved) throw expired(`${this.name} were removed or changed: list again`);
      if (!isReady()) await limitedWait(ready, signal);
      const state =
        start.from === 'state' ? await this.#stateFor(select, start.at, signal) : undefined;
      // The state and what follows it are of one history.
      if (state !== undefined && !isCurrent()) {
        await limitedWait(current, signal);
        continue;
      }
      const isOfMemory = start.from === 'state' && state === undefined;
      if (isOfMemory && this.#isUnsettled) await this.#settled(signal);
      // Memory may have been dropped during the wait: check again, and open in this turn.
      if (!this.#isHeld()) continue;
      if (start.from === 'revision') return this.#watchAfter(select, start.revision, options);
      const { items, revision } = state ?? this.#currentState(select);
      return this.#open(select, revision, options, {
        items,
        range: rangeOf(select, undefined),
        predicate: predicateOf(select, { checksNamespace: false }),
        hasEndBookmark: start.bookmark,
      });
    }
  }

  peek(key: ItemKey): Item | undefined {
    return this.#isHeld() ? this.#cache.get(pathOf(key)) : undefined;
  }

  all(namespace?: string): readonly Item[] {
    if (!this.#isHeld()) throw notFilled();
    return this.#cache.all(namespace);
  }

  get epoch(): Epoch | undefined {
    return this.#host.epoch();
  }

  get shownRevision(): Revision {
    return this.#host.log.revision;
  }

  itemOf({ key, value, modRevision }: StoredItem, encoded?: EncodedStored): Item {
    const path = key.slice(this.#cache.source.keyPrefix.length);
    // The same revision of another history is another version.
    return this.#host.isCurrent()
      ? this.#cache.itemOf(path, value, modRevision, encoded)
      : makeItem(this.#cache.source, path, value, modRevision, encoded);
  }

  /** Memory holds the resource. */
  #isHeld(): boolean {
    return this.#host.isReady() && !this.#cache.isRemoved;
  }

  /** Called in the turn that reads: memory may have been dropped since `#source` chose it. */
  #taken(found: Source, read: ReadVerb, at: ReadAt, fromMs: number): Source {
    if (at.mode === 'exact') this.#host.gate.requireSameHistory(at);
    const isHeld = found.from !== 'memory' || this.#isHeld();
    const exactly = at.mode === 'exact' ? at.revision : undefined;
    const source: Source = isHeld ? found : { from: 'storage', at: exactly };
    this.#host.onRead?.(this.name, read, at.mode, source.from);
    if (at.mode !== 'any') this.#host.onWait?.(this.name, (performance.now() - fromMs) / 1000);
    return source;
  }

  /** The source that answers; a promise where the mode asks for a wait. */
  #decide(at: ReadAt, end: WaitEnd): Source | Promise<Source> {
    const { gate } = this.#host;
    switch (at.mode) {
      case 'any':
        return this.#isHeld() ? newest.memory : newest.storage;
      case 'latest':
        return gate.latest(end).then(newestOf);
      case 'notOlderThan':
        return gate.notOlderThan(at.revision, signalOf(end)).then(newestOf);
      case 'exact':
        return this.#decideExact(at, signalOf(end));
    }
  }

  /** Fails when etcd's answer is not what was asked for. @throws StatusError */
  async #requireAsked(at: ReadAt, revision: Revision, signal: AbortSignal): Promise<void> {
    const { gate, isReady, isCurrent, current } = this.#host;
    // Of which history it is comes out once memory is known to be of the same store.
    if (at.mode === 'exact' && isReady() && !isCurrent()) await limitedWait(current, signal);
    gate.requireAsked(at, revision);
  }

  async #decideExact(
    at: ReadAt & { readonly mode: 'exact' },
    signal: AbortSignal,
  ): Promise<Source> {
    const { gate, log, clock, listFromSnapshot, snapshotRetentionMs } = this.#host;
    const { revision } = at;
    const answerer = await gate.notOlderThan(revision, signal);
    if (answerer === 'memory' && this.#isUnsettled) await this.#settled(signal);
    const isHeld =
      answerer === 'memory' &&
      listFromSnapshot &&
      this.#isHeld() &&
      revision >= this.#cache.log.oldest &&
      revision >= this.#cache.changedAt &&
      revision >= log.compacted &&
      log.isRecent(revision, snapshotRetentionMs, clock.monotonicMs());
    if (!isHeld) return { from: 'storage', at: revision };
    if (revision === log.revision) {
      return { from: 'snapshot', order: this.#cache.index.snapshot(), revision };
    }
    const order = await this.#cache.snapshots.at(revision, this.#cache.index, this.#cache.log);
    return { from: 'snapshot', order, revision };
  }

  #listMemory(select: Selection, page: ListPage): ListResult {
    const { revision } = this.#host.log;
    const indexed = itemsByField(this.#cache, select);
    if (indexed === undefined) {
      const order = itemsByLabel(this.#cache, select, page.after);
      return this.#listOrder(order, select, page, { from: 'memory', revision });
    }
    const afterKey = page.after === undefined ? '' : utf8SortKey(pathOf(page.after));
    const built = new PageBuilder(select, page, { checksNamespace: true });
    for (const item of indexed) if (item.sortKey > afterKey && !built.add(item)) break;
    const items = this.#counted(built, 'memory');
    const { history } = this.#host.storage.epoch;
    return { items, revision, history, more: built.isCut, remainingCount: undefined };
  }

  #listSnapshot(source: Source & { from: 'snapshot' }, select: Selection, page: ListPage) {
    const isOfNow = source.revision === this.#host.log.revision && this.#isHeld();
    const order = isOfNow ? itemsByLabel(this.#cache, select, page.after) : source.order;
    return this.#listOrder(order, select, page, source);
  }

  #listOrder(
    order: ItemOrder,
    select: Selection,
    page: ListPage,
    source: { readonly from: 'memory' | 'snapshot'; readonly revision: Revision },
  ): ListResult {
    const { from, revision } = source;
    const { history } = this.#host.storage.epoch;
    const range = rangeOf(select, page.after);
    const built = new PageBuilder(select, page, { checksNamespace: false });
    order.walk(range, (item) => built.add(item));
    const items = this.#counted(built, from);
    const more = built.isCut;
    if (isFiltered(select)) return { items, revision, history, more, remainingCount: undefined };
    const last = items.at(-1);
    const remainingCount =
      more && last !== undefined
        ? order.count({ start: last.path, isAfter: true, end: range.end })
        : 0;
    return { items, revision, history, more, remainingCount };
  }

  #counted(built: PageBuilder, from: 'memory' | 'snapshot'): CachedItem[] {
    const items = built.finish();
    const { counts } = this.#cache;
    counts.fetched[from] += built.seenCount;
    counts.returned += items.length;
    return items;
  }

  get #isUnsettled(): boolean {
    return this.#cache.settled !== undefined;
  }

  /** Waits until what memory holds of the resource is made with the record of now, or a later. */
  async #settled(signal: AbortSignal): Promise<void> {
    const { settled } = this.#cache;
    if (settled !== undefined) await abortable(settled, signal);
  }

  #watchAfter(select: Selection, revision: Revision, options: WatchOptions): LogCursor {
    const { compacted } = this.#host.log;
    if (this.#cache.log.minimumCount === 0 && revision < compacted) {
      // Its window is etcd's, lost events or not.
      throw tooOldResourceVersion(String(revision), compacted);
    }
    // A revision that is still to come is waited for by position: older changes are not given.
    this.#host.gate.requireReachable(revision);
    return this.#open(select, revision, options, undefined);
  }

  /** @throws StatusError 500: a stream could not say that it leaves an object out. */
  #currentState(select: Selection): OrderedState {
    const { unreadable } = this.#cache;
    if (unreadable.size > 0) {
      const probe = new PageBuilder(select, { limitCount: 0 }, { checksNamespace: true });
      for (const item of unreadable.values()) probe.add(item);
      probe.finish();
    }
    const items = itemsByLabel(this.#cache, select, undefined).snapshot();
    return { items, revision: this.#host.log.revision };
  }

  /**
   * Waits until a watch may take the state that it begins with from memory: undefined. The state
   * itself when only etcd has it as new as asked for.
   */
  async #stateFor(
    select: Selection,
    at: ReadAt,
    signal: AbortSignal,
  ): Promise<OrderedState | undefined> {
    invariant(at.mode !== 'exact', 'a watch does not start from an exact state');
    const source = await this.#decide(at, signal);
    this.#host.onRead?.(this.name, 'watch', at.mode, source.from);
    if (source.from !== 'storage') return undefined;
    const everything = { limitCount: 0 };
    const result = await listStored(this.#stored, select, everything, undefined, signal);
    await this.#requireAsked(at, result.revision, signal);
    const items = new ResourceIndex();
    for (const item of result.items) items.set(item);
    return { items, revision: result.revision };
  }

  #open(
    select: Selection,
    after: Revision,
    options: WatchOptions,
    state: InitialState | undefined,
  ): LogCursor {
    const { log, cursors, bookmarkIntervalMs } = this.#host;
    const { watchIndex, oldest } = this.#cache.log;
    if (after < oldest) throw tooOldResourceVersion(String(after), oldest);
    const dimension = dimensionOf(select, {
      namespaced: this.#cache.source.resource.namespaced,
      indexedFields: this.#cache.indexedFields,
    });
    if (state !== undefined) {
      this.#cache.counts.initialEvents += state.items.count({ ...state.range, isAfter: false });
    }
    const cursor = new LogCursor({
      log,
      watchIndex,
      bucket: watchIndex.join(dimension, after),
      predicate: predicateOf(unnamed(select), {
        checksNamespace: dimension.by === 'field' || dimension.by === 'label',
      }),
      showsUnreadable: select.showsUnreadable === true,
      mayHold: (item) => mayHold(select, item),
      after,
      state,
      counts: this.#cache.counts,
      bookmarkMs: options.bookmarks ? bookmarkIntervalMs : 0,
      isPrompt: options.isPrompt === true,
      onClose: (closed) => {
        cursors.delete(closed);
      },
    });
    cursors.add(cursor);
    return cursor;
  }
}

const newest: Readonly<Record<Answerer, Source>> = {
  memory: { from: 'memory' },
  storage: { from: 'storage', at: undefined },
};
const newestOf = (answerer: Answerer): Source => newest[answerer];
