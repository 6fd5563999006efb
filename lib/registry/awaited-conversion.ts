// Conversion by calls that wait, for a resource whose objects may lie in several versions: an item
// stays in the version that it was stored in until somebody needs another one.
import { apiVersionOf } from '../api/type-info.ts';
import { abortable } from '../base/abort.ts';
import type { WaitEnd } from '../base/abort.ts';
import { invariant } from '../base/invariant.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Item, WatchCursor, WatchEvent } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { isOfKey } from './conversion.ts';
import type { ConvertAll, Conversion, Converter, VersionPair } from './conversion.ts';
import { convertedEvent } from './converted-item.ts';
import type { ShownIn } from './converted-item.ts';
import { ItemConversion } from './item-conversion.ts';
import { SteppedCursor } from './stepped-cursor.ts';

type AwaitedConverter = Extract<Converter, { readonly convertAll: ConvertAll }>;

export class AwaitedConversion implements Conversion {
  readonly #versions: VersionPair;
  readonly #convert: ReturnType<typeof convertingOne>;
  readonly #shown: ShownIn;
  readonly #toServed: ItemConversion;
  readonly #toStored: ItemConversion;

  constructor(versions: VersionPair, converter: AwaitedConverter) {
    const { convertAll, generation = '' } = converter;
    const { served, stored } = versions;
    this.#versions = versions;
    this.#convert = convertingOne(convertAll);
    this.#shown = { resource: served, generation, hasOwnLabels: true };
    this.#toServed = new ItemConversion(this.#shown, convertAll);
    this.#toStored =
      served === stored
        ? this.#toServed
        : new ItemConversion({ ...this.#shown, resource: stored }, convertAll);
  }

  toStored(object: Readonly<ApiObject>, signal: AbortSignal): MaybePromise<ApiObject> {
    return this.#convert(object, apiVersionOf(this.#versions.stored.kind), signal);
  }

  storedItem(item: Item, end: WaitEnd): MaybePromise<Item> {
    return this.#toStored.item(item, end);
  }

  item(stored: Item, end: WaitEnd): MaybePromise<Item> {
    return this.#toServed.item(stored, end);
  }

  items(stored: readonly Item[], end: WaitEnd): MaybePromise<readonly Item[]> {
    return this.#toServed.items(stored, end);
  }

  cursor(stored: WatchCursor): WatchCursor {
    return new SteppedCursor(stored, async (events, signal) => {
      const items = itemsOf(events);
      const [only] = items;
      const served =
        only !== undefined && items.length === 1
          ? [await this.item(only, signal)]
          : await this.items(items, signal);
      if (served === items) return events;
      let next = 0;
      return events.map((event) => {
        const item = event.item === undefined ? undefined : served[next++];
        const isAsItWas = item === undefined || item === event.item;
        return isAsItWas ? event : convertedEvent(event, item, this.#shown);
      });
    });
  }

  selectsStored(path: string): boolean {
    return isOfKey(path) || this.selectsStoredLabels;
  }

  /** Unless all lie in the version of the request, which then is what selectors see. */
  get selectsStoredLabels(): boolean {
    const { served, stored, isMixed = false } = this.#versions;
    return served === stored && !isMixed;
  }
}

/** One object by itself; there is no call, and no wait, for one that is in the version. */
export function convertingOne(
  convertAll: ConvertAll,
): (
  object: Readonly<ApiObject>,
  toApiVersion: string,
  signal: AbortSignal,
) => MaybePromise<ApiObject> {
  return (object, toApiVersion, signal) => {
    if (object.apiVersion === toApiVersion) return object;
    return abortable(convertAll([object], toApiVersion), signal).then(([converted]) => {
      invariant(converted !== undefined, 'a conversion answers as many objects as it was given');
      return converted;
    });
  };
}

const itemsOf = (events: readonly WatchEvent[]): readonly Item[] =>
  events.flatMap(({ item }) => item ?? []);
