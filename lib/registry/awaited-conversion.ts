// Conversion by calls that wait: one for all objects of an answer that are not converted yet. Bytes
// of a converted version stay with the stored item, and calls that are under way are shared, so
// that watchers of one version need one call for each change.
import { apiVersionOf } from '../api/type-info.ts';
import { abortable } from '../base/abort.ts';
import type { WaitEnd } from '../base/abort.ts';
import { invariant } from '../base/invariant.ts';
import { Yielder } from '../base/yielder.ts';
import type { Item, WatchCursor, WatchEvent } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { ConvertAll, Conversion, VersionPair } from './conversion.ts';
import { convertedEvent, convertedItem, keptConversion } from './converted-item.ts';
import { SteppedCursor } from './stepped-cursor.ts';

/** Served items by the stored ones that they were made of. */
type Call = Promise<ReadonlyMap<Item, Item>>;

export class AwaitedConversion implements Conversion {
  readonly selectsServed = true;
  readonly #versions: VersionPair;
  readonly #convertAll: ConvertAll;
  /** By stored item. */
  readonly #underWay = new Map<Item, Call>();

  constructor(versions: VersionPair, convertAll: ConvertAll) {
    this.#versions = versions;
    this.#convertAll = convertAll;
  }

  async toStored(object: Readonly<ApiObject>, signal: AbortSignal): Promise<ApiObject> {
    const call = this.#convertAll([object], apiVersionOf(this.#versions.stored.kind));
    const [stored] = await abortable(call, signal);
    invariant(stored !== undefined, 'a conversion answers as many objects as it was given');
    return stored;
  }

  async item(stored: Item, end: WaitEnd): Promise<Item> {
    const [served = stored] = await this.items([stored], end);
    return served;
  }

  async items(stored: readonly Item[], end: WaitEnd): Promise<readonly Item[]> {
    const atHand = new Map<Item, Item>();
    const calls = new Set<Call>();
    const missing = new Set<Item>();
    for (const item of stored) {
      const kept = item.corrupted ? item : keptConversion(item, this.#versions.served);
      const call = this.#underWay.get(item);
      if (kept !== undefined) atHand.set(item, kept);
      else if (call !== undefined) calls.add(call);
      else missing.add(item);
    }
    if (missing.size > 0) calls.add(this.#begin([...missing]));
    const made = calls.size === 0 ? [] : await abortable(Promise.all(calls), end);
    return stored.map((item) => {
      const served = atHand.get(item) ?? made.find((call) => call.has(item))?.get(item);
      invariant(served !== undefined, 'what was missing is converted');
      return served;
    });
  }

  cursor(stored: WatchCursor): WatchCursor {
    const { served } = this.#versions;
    return new SteppedCursor(stored, async (events, signal) => {
      const items = await this.items(itemsOf(events), signal);
      let next = 0;
      return events.map((event) => {
        const item = event.item === undefined ? undefined : items[next++];
        return item === undefined ? event : convertedEvent(event, item, served);
      });
    });
  }

  #begin(items: readonly Item[]): Call {
    // It starts once it can be found: it may fail at once.
    const call = Promise.resolve().then(() => this.#convert(items));
    for (const item of items) this.#underWay.set(item, call);
    return call;
  }

  async #convert(items: readonly Item[]): Call {
    const { served } = this.#versions;
    const yielder = new Yielder();
    try {
      const objects: Readonly<ApiObject>[] = [];
      for (const item of items) {
        objects.push(item.object());
        if (yielder.isDue()) await yielder.yield();
      }
      const converted = await this.#convertAll(objects, apiVersionOf(served.kind));
      const made = new Map<Item, Item>();
      for (const [index, item] of items.entries()) {
        const object = converted[index];
        invariant(object !== undefined, 'a conversion answers as many objects as it was given');
        const one = convertedItem(item, served, () => object);
        one.json(); // kept from now on
        made.set(item, one);
        if (yielder.isDue()) await yielder.yield();
      }
      return made;
    } finally {
      for (const item of items) this.#underWay.delete(item);
    }
  }
}

const itemsOf = (events: readonly WatchEvent[]): readonly Item[] =>
  events.flatMap(({ item }) => item ?? []);
