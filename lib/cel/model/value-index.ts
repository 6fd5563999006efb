// Finds equal values among many without comparing each with each: what costs of comparing large
// sets and keyed lists assume.
import { Double, Duration, Timestamp, Uint, isError, isList, isMap } from './value.ts';
import type { Value } from './value.ts';

/** A text that all values equal to this one have too; values that differ may share it. */
export function bucketOf(value: Value): string {
  if (value === null) return 'null';
  switch (typeof value) {
    case 'string':
      return `"${value}`;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return bucketOfObject(value);
  }
}

function bucketOfObject(value: Exclude<Value, null | string | number | bigint | boolean>): string {
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Double) return numberBucket(value.value);
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('latin1')}`;
  if (value instanceof Timestamp) return `t${String(value.seconds)}.${String(value.nanos)}`;
  if (value instanceof Duration) return `d${String(value.nanos)}`;
  // Lists with rules of their own may be equal whatever their order.
  if (isList(value)) return `[${String(value.size())}`;
  return isMap(value) ? `{${String(value.size())} ${entriesBucket([...value.keys()])}` : 'other';
}

// Whole doubles equal integers.
const numberBucket = (value: number): string =>
  Number.isInteger(value) ? String(BigInt(value)) : String(value);

const entriesBucket = (keys: readonly Value[]): string => keys.map(bucketOf).sort().join();

/** Items by bucket, in the order they were added. */
export class BucketIndex<T> {
  readonly #buckets = new Map<string, T[]>();

  add(bucket: string, item: T): void {
    const items = this.#buckets.get(bucket);
    if (items === undefined) this.#buckets.set(bucket, [item]);
    else items.push(item);
  }

  /** All items that may be equal to one of this bucket. */
  candidates(bucket: string): readonly T[] {
    return this.#buckets.get(bucket) ?? [];
  }
}

/** The bucket of several values together; those that are absent or errors count as such. */
export const bucketOfAll = (values: readonly (Value | undefined)[]): string =>
  values
    .map((value) => (value === undefined ? '-' : isError(value) ? 'error' : bucketOf(value)))
    .join('\u0000');
