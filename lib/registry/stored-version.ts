// The last step of a write: from the object as it was judged to the bytes in etcd. Most kinds are
// judged in the version that is stored; where it is the version of the request (`Storing`), the
// object is converted here, and loses what the schema of the stored version does not know.
import { parseData } from '../codec/json.ts';
import { cloneAlike, jsonEqual } from '../api/json-value.ts';
import { whenThere } from '../base/maybe-promise.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { canonicalObject } from '../codec/normalise.ts';
import { closeStored, encodeStored, openStored, schemaGeneration } from '../codec/stored-form.ts';
import type { EncodedStored } from '../codec/stored-form.ts';
import { isIn } from './conversion.ts';
import type { InHand } from './requests.ts';
import type { StoreParts } from './store-parts.ts';

/** What etcd gets of an object. */
export interface StoredBytes {
  readonly value: Uint8Array;
  /** What the value opens as; undefined: reading it still has defaults to fill in. */
  readonly encoded: EncodedStored | undefined;
}

/** What writes start from: the stored item in the version that they are judged in. */
export const judgedItem = (
  { storing, conversion }: StoreParts,
  stored: Item,
  signal: AbortSignal,
): MaybePromise<Item> =>
  storing?.conversion.item(stored, signal) ?? conversion?.storedItem(stored, signal) ?? stored;

/** A judged object in the stored version. @throws StatusError 500 of the conversion. */
export const inStoredVersion = (
  { storing }: StoreParts,
  object: ApiObject,
  signal: AbortSignal,
): MaybePromise<ApiObject> =>
  storing === undefined
    ? object
    : whenThere(storing.conversion.toStored(object, signal), (stored) =>
        canonicalObject(stored, storing.resource.type),
      );

/**
 * The record of the version in etcd. What takes the place of `old` without a conversion stays in
 * the version of that.
 */
export function storedRecord(
  { storing, storedAs }: StoreParts,
  change?: { readonly object: Readonly<ApiObject>; readonly old: Item },
): ResourceInfo {
  const record = storing === undefined ? storedAs : storing.resource;
  if (change === undefined || isIn(change.old, record)) return record;
  const { resource } = change.old;
  return change.object.apiVersion === apiVersionOf(resource.kind) ? resource : record;
}

/**
 * `object` is in the stored version. Defaults of that version are no part of what is written in
 * another one: they are filled in when it is read.
 */
export function storedBytes(parts: StoreParts, object: ApiObject, old?: Item): StoredBytes {
  const { storing, media, defaults } = parts;
  const record = storedRecord(parts, old === undefined ? undefined : { object, old });
  const encoded = encodeStored(object, record);
  const value = media.write(object, record, encoded.value);
  if (storing === undefined || record === parts.storedAs) return { value, encoded };
  const completed = cloneAlike(object);
  defaults.apply(completed, record.type);
  if (jsonEqual(completed, object)) return { value, encoded };
  const isOwnForm = value === encoded.value;
  return { value: isOwnForm ? uncompleted(encoded) : value, encoded: undefined };
}

/** What was put into `item`; undefined where the item shows something else of it. */
export function inHand(item: Item, encoded: EncodedStored | undefined): InHand | undefined {
  if (encoded?.header.schema !== schemaGeneration(item.resource)) return undefined;
  return { item, canonical: encoded.canonical };
}

/** Of no schema: it is read through that of its version, as what others wrote. */
const uncompleted = ({ header, payload }: EncodedStored): Uint8Array =>
  closeStored({ header: { ...header, schema: '' }, payload });

/** Whether two values hold the same object in the same form. Of custom kinds, plain JSON is one. */
export function holdSame(
  one: Uint8Array,
  other: Uint8Array,
  { hasLiveSchema = false }: ResourceInfo,
): boolean {
  if (Buffer.compare(one, other) === 0) return true;
  if (!hasLiveSchema) return false;
  const [opened, expected] = [openStored(one), openStored(other)];
  if (expected === undefined) return false;
  if (opened === undefined) return isPlainJson(one) && holdSameData(one, expected.payload);
  return Buffer.compare(opened.payload, expected.payload) === 0;
}

const isPlainJson = (value: Uint8Array): boolean => value[0] === '{'.charCodeAt(0);

/** What others stored may have its members in another order. */
function holdSameData(one: Uint8Array, other: Uint8Array): boolean {
  try {
    return jsonEqual(parseData(one), parseData(other));
  } catch {
    return false; // It is read as well as it can be, and written anew.
  }
}
