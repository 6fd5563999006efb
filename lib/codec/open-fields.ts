// Readers of the fields of open types: what is there is kept as it is, "" and {} and 0 too, and a
// value of another JSON type than declared is for validation to refuse. Only null means absence.
import { isObject } from '../api/json-value.ts';
import type { FieldInfo, JsonObject, JsonValue } from '../api/type-info.ts';
import { readMap } from './read-map.ts';
import { int64Max, int64Min, readAny, readElements } from './scalar-readers.ts';
import type { ReadField, ReadValue } from './scalar-readers.ts';
import type { Walk } from './walk.ts';

/** Any JSON, as data. Integers of 64 bits are exact, longer ones doubles; beyond these it fails. */
export const readData: ReadValue = (value, walk) => withNumbers(readAny(value, walk), walk);

/** `readElement` reads what is not null of a field's value, or of its elements. */
export function openFieldReader(field: FieldInfo, readElement: ReadValue): ReadField {
  const read = openReader(field, readElement);
  const ofNull = field.nullable === true ? null : undefined;
  return (value, walk) => (value === null ? ofNull : read(value, walk));
}

export function openReader(field: FieldInfo, readElement: ReadValue): ReadValue {
  switch (field.cardinality) {
    case 'single':
      return readElement;
    case 'list':
      return (value, walk) =>
        Array.isArray(value) ? readElements(value, readElement, null, walk) : readData(value, walk);
    case 'map': {
      const keepsNull = field.nullableElements === true;
      return (value, walk) => {
        if (!isObject(value)) return readData(value, walk);
        const entries = keepsNull ? value : withoutNulls(value, walk);
        return readMap(entries, readElement, null, walk);
      };
    }
  }
}

function withoutNulls(object: JsonObject, walk: Walk): JsonObject {
  const entries = Object.entries(object).filter(([, value]) => value !== null);
  const droppedCount = Object.keys(object).length - entries.length;
  if (droppedCount === 0) return object;
  walk.members += droppedCount;
  const kept = Object.create(null) as JsonObject;
  for (const [key, value] of entries) kept[key] = value;
  return kept;
}

/** The same value when all its numbers are right. */
function withNumbers(value: JsonValue, walk: Walk): JsonValue {
  if (typeof value === 'number') {
    return Number.isFinite(value) ? value : walk.fail('a number of 64 bits', value);
  }
  if (typeof value === 'bigint') {
    const isExact = value >= int64Min && value <= int64Max;
    return isExact ? value : withNumbers(Number(value), walk);
  }
  if (Array.isArray(value)) {
    let list = value;
    for (const [index, element] of value.entries()) {
      const read = withNumbers(element, walk);
      if (read === element) continue;
      if (list === value) list = value.slice();
      list[index] = read;
    }
    return list;
  }
  if (!isObject(value)) return value;
  let result = value;
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === undefined) continue;
    const read = withNumbers(member, walk);
    if (read === member) continue;
    if (result === value) result = Object.assign(Object.create(null), value) as JsonObject;
    result[key] = read;
  }
  return result;
}
