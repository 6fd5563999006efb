// Brings items into one version by calls that wait: few for all the items of an answer, none for
// those that are in it. Bytes of a converted version stay with the stored item, and calls that are
// under way are shared, so that any number of watchers and lists need one call for each change.
import { apiVersionOf } from '../api/type-info.ts';
import { abortable } from '../base/abort.ts';
import type { WaitEnd } from '../base/abort.ts';
import { invariant } from '../base/invariant.ts';
import { limits } from '../base/limits.ts';
import { Yielder } from '../base/yielder.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { isIn } from './conversion.ts';
import type { ConvertAll } from './conversion.ts';
import { convertedItem, keptConversion } from './converted-item.ts';
import type { ShownIn } from './converted-item.ts';

/** Served items by the stored ones that they were made of. */
type Call = Promise<ReadonlyMap<Item, Item>>;

const { conversionCallBytesTarget, conversionCallsAtOnceMax } = limits;

export class ItemConversion {
  readonly #shown: ShownIn;
  readonly #convertAll: ConvertAll;
  /** By stored item. */
  readonly #underWay = new Map<Item, Call>();

  constructor(shown: ShownIn, convertAll: ConvertAll) {
    this.#shown = shown;
    this.#convertAll = convertAll;
  }

  /** @throws StatusError 500 of the conversion. */
  item(stored: Item, end: WaitEnd): MaybePromise<Item> {
    if (this.#isDone(stored)) return stored;
    return this.#converted([stored], end, false).then(([served = stored]) => served);
  }

  /** @throws StatusError 500 of the conversion; what succeeded of it is kept all the same. */
  items(stored: readonly Item[], end: WaitEnd): MaybePromise<readonly Item[]> {
    if (stored.every((item) => this.#isDone(item))) return stored;
    return this.#converted(stored, end, true);
  }

  /** Those that cannot be read are not converted: who looks into them is told. */
  #isDone(item: Item): boolean {
    return item.corrupted || isIn(item, this.#shown.resource);
  }

  async #converted(
    stored: readonly Item[],
    end: WaitEnd,
    isList: boolean,
  ): Promise<readonly Item[]> {
    const atHand = new Map<Item, Item>();
    const calls = new Map<Item, Call>();
    const missing: Item[] = [];
    for (const item of stored) {
      const kept = this.#isDone(item) ? item : keptConversion(item, this.#shown);
      const call = this.#underWay.get(item);
      if (kept !== undefined) atHand.set(item, kept);
      else if (call !== undefined) calls.set(item, call);
      else missing.push(item);
    }
    for (const [item, call] of this.#begin([...new Set(missing)], isList)) calls.set(item, call);
    const all = new Set(calls.values());
    const made = new Map<Call, ReadonlyMap<Item, Item>>();
    const waits = [...all].map(async (call) => made.set(call, await call));
    if (waits.length > 0) await abortable(Promise.all(waits), end);
    return stored.map((item) => {
      const call = calls.get(item);
      const served =
        atHand.get(item) ?? (call === undefined ? undefined : made.get(call)?.get(item));
      invariant(served !== undefined, 'what was missing is converted');
      return served;
    });
  }

  /** Calls of a bounded size, of which a few are under way at once. */
  #begin(items: readonly Item[], isList: boolean): ReadonlyMap<Item, Call> {
    const begun = new Map<Item, Call>();
    const calls: Call[] = [];
    let from = 0;
    for (const part of partsOf(items)) {
      const listIndex = isList ? from : undefined;
      // It starts once it can be found: it may fail at once. Where one fails, none follows it.
      const before: Promise<unknown> = calls.at(-conversionCallsAtOnceMax) ?? Promise.resolve();
      const call = before
        .then(() => this.#convert(part, listIndex))
        .finally(() => {
          for (const item of part) this.#underWay.delete(item);
        });
      call.catch(() => undefined); // Told to those who wait, if there are any left.
      calls.push(call);
      for (const item of part) {
        begun.set(item, call);
        this.#underWay.set(item, call);
      }
      from += part.length;
    }
    return begun;
  }

  async #convert(items: readonly Item[], listIndex: number | undefined): Call {
    const yielder = new Yielder();
    const objects: Readonly<ApiObject>[] = [];
    for (const item of items) {
      objects.push(item.object());
      if (yielder.isDue()) await yielder.yield();
    }
    const version = apiVersionOf(this.#shown.resource.kind);
    const converted = await this.#convertAll(objects, version, listIndex);
    const made = new Map<Item, Item>();
    for (const [index, item] of items.entries()) {
      const object = converted[index];
      invariant(object !== undefined, 'a conversion answers as many objects as it was given');
      const one = convertedItem(item, this.#shown, () => object);
      one.json(); // kept from now on
      made.set(item, one);
      if (yielder.isDue()) await yielder.yield();
    }
    return made;
  }
}

function* partsOf(items: readonly Item[]): Generator<readonly Item[]> {
  let part: Item[] = [];
  let partBytes = 0;
  for (const item of items) {
    const { byteLength } = item.json();
    if (part.length > 0 && partBytes + byteLength > conversionCallBytesTarget) {
      yield part;
      part = [];
      partBytes = 0;
    }
    part.push(item);
    partBytes += byteLength;
  }
  if (part.length > 0) yield part;
}
