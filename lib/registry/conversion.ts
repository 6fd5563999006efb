// Between the version of requests and the one that is stored. Items are synchronous: whoever holds
// one has its bytes, and what may wait is the step before. What converts at once does so lazily.
import { apiVersionOf } from '../api/type-info.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import type { WaitEnd } from '../base/abort.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Item, WatchCursor, WatchEvent } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { convertedEvent, convertedItem } from './converted-item.ts';
import type { ShownIn } from './converted-item.ts';

/**
 * `object` in another version of its kind; it is kept as it is. @throws StatusError 500 when that
 * is not possible.
 */
export type ConvertObject = (object: Readonly<ApiObject>, toApiVersion: string) => ApiObject;

/**
 * The same for several objects in one call, which ends by its own deadline: as many, in the same
 * order. `listIndex`: of the first one in the list that is converted; undefined: one object by
 * itself, which messages tell from a list of one. @throws StatusError 500 that says why.
 */
export type ConvertAll = (
  objects: readonly Readonly<ApiObject>[],
  toApiVersion: string,
  listIndex?: number,
) => Promise<readonly ApiObject[]>;

/**
 * How a resource converts between its versions. Bytes that were made in one generation of it are
 * not used in another; not given: it never changes.
 */
export type Converter = (
  { readonly convert: ConvertObject } | { readonly convertAll: ConvertAll }
) & { readonly generation?: string };

/** The two versions of one store: `served` that of requests. */
export interface VersionPair {
  readonly served: ResourceInfo;
  readonly stored: ResourceInfo;
  /** Objects may lie in other versions than `stored`, and stay there until they are written. */
  readonly isMixed?: boolean;
}

export interface Conversion {
  /** What a request brings, in the storage version. @throws StatusError 500. */
  toStored(object: Readonly<ApiObject>, signal: AbortSignal): MaybePromise<ApiObject>;
  /** An item in the storage version, in which it need not lie. @throws StatusError 500. */
  storedItem(item: Item, end: WaitEnd): MaybePromise<Item>;
  /** A stored item as requests see it. @throws StatusError 500. */
  item(stored: Item, end: WaitEnd): MaybePromise<Item>;
  /** All items of an answer. @throws StatusError 500. */
  items(stored: readonly Item[], end: WaitEnd): MaybePromise<readonly Item[]>;
  /** The events of a cursor over stored items; its `next` throws what `items` throws. */
  cursor(stored: WatchCursor): WatchCursor;
  /**
   * Whether a field selector may be judged on stored items; otherwise it is on what is served: what
   * is stored need not have the field, or may lie in several versions.
   */
  selectsStored(path: string): boolean;
  /** The same of label selectors. */
  readonly selectsStoredLabels: boolean;
}

/** Field selectors that are evaluated on the key, in every version. */
export const isOfKey = (path: string): boolean => path.startsWith('metadata.');

/** The item is in this version of its kind. */
export const isIn = ({ resource }: Item, { kind }: ResourceInfo): boolean =>
  resource.kind.version === kind.version && resource.kind.group === kind.group;

/** Nothing is decoded or converted before somebody needs it. */
export function lazyConversion(
  { served, stored: storedAs }: VersionPair,
  { convert, generation = '' }: Extract<Converter, { readonly convert: ConvertObject }>,
): Conversion {
  const version = apiVersionOf(served.kind);
  const shown: ShownIn = { resource: served, generation };
  const toServed = (object: Readonly<ApiObject>): ApiObject => convert(object, version);
  const item = (stored: Item): Item =>
    stored.corrupted ? stored : convertedItem(stored, shown, toServed);
  const event = (stored: WatchEvent): WatchEvent =>
    stored.item === undefined ? stored : convertedEvent(stored, item(stored.item), shown);
  return {
    toStored: (object) => convert(object, apiVersionOf(storedAs.kind)),
    storedItem: (stored) => stored,
    item,
    items: (stored) => stored.map(item),
    cursor: (stored) => ({
      next: async (signal) => (await stored.next(signal))?.map(event),
      take: (receiver) =>
        stored
          .take({
            signal: receiver.signal,
            give: (events) => receiver.give(events?.map(event)),
            fail: (error) => receiver.fail(error),
          })
          ?.map(event),
      get position() {
        return stored.position;
      },
      close: () => {
        stored.close();
      },
    }),
    selectsStoredLabels: true,
    // Closed types have every field in every version, perhaps by another name.
    selectsStored: (path) =>
      isOfKey(path) || storedAs.fieldSelectors.includes(path) || storedAs.type.open === undefined,
  };
}
