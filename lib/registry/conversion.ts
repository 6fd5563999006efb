// Between the version of requests and the one that is stored. Items are synchronous: whoever holds
// one has its bytes, and what may wait is the step before. What converts at once does so lazily.
import { apiVersionOf } from '../api/type-info.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import type { WaitEnd } from '../base/abort.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Item, WatchCursor, WatchEvent } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { convertedEvent, convertedItem } from './converted-item.ts';

/**
 * `object` in another version of its kind; it is kept as it is. @throws StatusError 500 when that
 * is not possible.
 */
export type ConvertObject = (object: Readonly<ApiObject>, toApiVersion: string) => ApiObject;

/**
 * The same for several objects in one call, which ends by its own deadline: as many, in the same
 * order. @throws StatusError 500 that says why.
 */
export type ConvertAll = (
  objects: readonly Readonly<ApiObject>[],
  toApiVersion: string,
) => Promise<readonly ApiObject[]>;

/** How a resource converts between its versions. */
export type Converter = { readonly convert: ConvertObject } | { readonly convertAll: ConvertAll };

/** The two versions of one store: `served` that of requests. */
export interface VersionPair {
  readonly served: ResourceInfo;
  readonly stored: ResourceInfo;
}

export interface Conversion {
  /** What a request brings, in the storage version. @throws StatusError 500. */
  toStored(object: Readonly<ApiObject>, signal: AbortSignal): MaybePromise<ApiObject>;
  /** A stored item as requests see it. @throws StatusError 500. */
  item(stored: Item, end: WaitEnd): MaybePromise<Item>;
  /** All items of an answer. @throws StatusError 500. */
  items(stored: readonly Item[], end: WaitEnd): MaybePromise<readonly Item[]>;
  /** The events of a cursor over stored items; its `next` throws what `items` throws. */
  cursor(stored: WatchCursor): WatchCursor;
  /** Field selectors are judged on what is served: what is stored need not have the fields. */
  readonly selectsServed: boolean;
}

/** Nothing is decoded or converted before somebody needs it. */
export function lazyConversion(
  { served, stored: storedAs }: VersionPair,
  convert: ConvertObject,
): Conversion {
  const version = apiVersionOf(served.kind);
  const toServed = (object: Readonly<ApiObject>): ApiObject => convert(object, version);
  const item = (stored: Item): Item =>
    stored.corrupted ? stored : convertedItem(stored, served, toServed);
  const event = (stored: WatchEvent): WatchEvent =>
    stored.item === undefined ? stored : convertedEvent(stored, item(stored.item), served);
  return {
    toStored: (object) => convert(object, apiVersionOf(storedAs.kind)),
    item,
    items: (stored) => stored.map(item),
    cursor: (stored) => ({
      next: async (signal) => (await stored.next(signal))?.map(event),
      get position() {
        return stored.position;
      },
      close: () => {
        stored.close();
      },
    }),
    selectsServed: false,
  };
}
