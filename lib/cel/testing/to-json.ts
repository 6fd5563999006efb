// Values as JSON: what tests compare.
import { keyText } from '../model/map-value.ts';
import { formatDuration, formatTimestamp } from '../model/time.ts';
import {
  Double,
  Duration,
  OptionalValue,
  Timestamp,
  TypeValue,
  Uint,
  isList,
  isMap,
  isOpaque,
  listItems,
} from '../model/value.ts';
import type { MapValue, Value } from '../model/value.ts';

/**
 * The JSON of a value. Objects have no prototype; ints beyond 2^53 are bigints. `rename` may change
 * the keys of maps.
 */
export function toJson(value: Value, rename?: (map: MapValue, key: string) => string): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Uint)
    return value.value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value.value) : value.value;
  if (value instanceof Double) return value.value;
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof OptionalValue)
    return value.value === undefined ? null : toJson(value.value, rename);
  if (isList(value)) return listItems(value).map((item) => toJson(item, rename));
  if (isOpaque(value)) return value.toText();
  if (!isMap(value)) return null;
  const object = Object.create(null) as Record<string, unknown>;
  for (const key of value.keys()) {
    const name = keyText(key);
    object[rename === undefined ? name : rename(value, name)] = toJson(
      value.find(key) ?? null,
      rename,
    );
  }
  return object;
}
