// The last step of a write: from the object as it was judged to the bytes in etcd. Most kinds are
// judged in the version that is stored; where it is the version of the request (`Storing`), the
// object is converted here, and loses what the schema of the stored version does not know.
import { cloneAlike, jsonEqual } from '../api/json-value.ts';
import { whenThere } from '../base/maybe-promise.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { canonicalObject } from '../codec/normalise.ts';
import { closeStored, encodeStored, openStored } from '../codec/stored-form.ts';
import type { EncodedStored } from '../codec/stored-form.ts';
import type { StoreParts } from './store-parts.ts';

/** What etcd gets of an object. */
export interface StoredBytes {
  readonly value: Uint8Array;
  /** What the value opens as; undefined: reading it still has defaults to fill in. */
  readonly encoded: EncodedStored | undefined;
}

/** What writes start from: the stored item in the version that they are judged in. */
export const judgedItem = (
  { storing }: StoreParts,
  stored: Item,
  signal: AbortSignal,
): MaybePromise<Item> => (storing === undefined ? stored : storing.conversion.item(stored, signal));

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

/** The record of the version in etcd. */
export const storedRecord = ({ storing, storedAs }: StoreParts): ResourceInfo =>
  storing === undefined ? storedAs : storing.resource;

/**
 * `object` is in the stored version. Defaults of that version are no part of what is written in
 * another one: they are filled in when it is read.
 */
export function storedBytes(parts: StoreParts, object: ApiObject): StoredBytes {
  const { storing, media, defaults } = parts;
  const record = storedRecord(parts);
  const encoded = encodeStored(object, record);
  const value = media.write(object, record, encoded.value);
  if (storing === undefined) return { value, encoded };
  const completed = cloneAlike(object);
  defaults.apply(completed, record.type);
  if (jsonEqual(completed, object)) return { value, encoded };
  const isOwnForm = value === encoded.value;
  return { value: isOwnForm ? uncompleted(encoded) : value, encoded: undefined };
}

/** Of no schema: it is read through that of its version, as what others wrote. */
const uncompleted = ({ header, payload }: EncodedStored): Uint8Array =>
  closeStored({ header: { ...header, schema: '' }, payload });

/** Whether two values hold the same object in the same form. */
export function holdSame(
  one: Uint8Array,
  other: Uint8Array,
  { hasLiveSchema = false }: ResourceInfo,
): boolean {
  if (Buffer.compare(one, other) === 0) return true;
  if (!hasLiveSchema) return false;
  const [opened, expected] = [openStored(one), openStored(other)];
  if (opened === undefined || expected === undefined) return false;
  return Buffer.compare(opened.payload, expected.payload) === 0;
}
