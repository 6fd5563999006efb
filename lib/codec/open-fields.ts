// Readers of the fields of open types: what is there is kept as it is, "" and {} and 0 too, and a
// value of another JSON type than declared is for validation to refuse. Only null means absence.
import { isObject } from '../api/json-value.ts';
import { newRecord } from '../api/record.ts';
import type { FieldInfo, JsonObject, JsonValue, TypeInfo, ValueInfo } from '../api/type-info.ts';
import { elementOf } from '../api/value-info.ts';
import { readMap } from './read-map.ts';
import { int64Max, int64Min, ownData, readElements } from './scalar-readers.ts';
import type { ReadField, ReadValue } from './scalar-readers.ts';
import type { Walk } from './walk.ts';

/** Any JSON, as data. Integers of 64 bits are exact, longer ones doubles; beyond these it fails. */
export const readData: ReadValue = (value, walk) =>
  walk.owned ? ownData(value, walk, readNumber) : withNumbers(value, walk);

/** `readerOf` gives the reader of messages, which takes objects only. */
export function openFieldReader(field: FieldInfo, readerOf: ReaderOf): ReadField {
  const read = openReader(field, readerOf);
  const ofNull = field.nullable === true ? null : undefined;
  return (value, walk) => (value === null ? ofNull : read(value, walk));
}

export type ReaderOf = (message: TypeInfo) => ReadValue;

/** Reads what is not null. */
function openReader(value: ValueInfo, readerOf: ReaderOf): ReadValue {
  const element = elementOf(value);
  const readElement = element === undefined ? readData : openReader(element, readerOf);
  const readList: ReadValue = (list, walk) =>
    Array.isArray(list) ? readElements(list, readElement, null, walk) : readData(list, walk);
  switch (value.cardinality) {
    case 'single':
      return openMessageReader(value, readerOf, element === undefined ? readData : readList);
    case 'list':
      return readList;
    case 'map': {
      // An entry with a default has it in the place of null, once defaults are filled in.
      const keepsNull = element?.nullable === true || element?.schema?.default !== undefined;
      return (map, walk) => {
        if (!isObject(map)) return readData(map, walk);
        const entries = keepsNull ? map : withoutNulls(map, walk);
        return readMap(entries, readElement, null, walk);
      };
    }
  }
}

/** `readOther` reads what is no object. */
function openMessageReader(
  { message }: ValueInfo,
  readerOf: ReaderOf,
  readOther: ReadValue,
): ReadValue {
  if (message === undefined || message.special === 'intOrString') return readOther;
  const read = readerOf(message);
  if (message.open === undefined) return read;
  return (value, walk) => (isObject(value) ? read(value, walk) : readOther(value, walk));
}

function withoutNulls(object: JsonObject, walk: Walk): JsonObject {
  const entries = Object.entries(object).filter(([, value]) => value !== null);
  const droppedCount = Object.keys(object).length - entries.length;
  if (droppedCount === 0) return object;
  walk.members += droppedCount;
  const kept = newRecord();
  for (const [key, value] of entries) kept[key] = value;
  return kept;
}

/** Of a number. */
const readNumber: ReadValue = (value, walk) => {
  if (typeof value === 'bigint') {
    const isExact = value >= int64Min && value <= int64Max;
    return isExact ? value : readNumber(Number(value), walk);
  }
  return Number.isFinite(value) ? value : walk.fail('a number of 64 bits', value);
};

/** The same value when all its numbers are right. */
function withNumbers(value: JsonValue, walk: Walk): JsonValue {
  if (typeof value === 'number' || typeof value === 'bigint') return readNumber(value, walk);
  if (Array.isArray(value)) {
    let list = value;
    for (let at = 0; at < value.length; at += 1) {
      const element = value[at];
      if (element === undefined || typeof element === 'string') continue;
      const read = withNumbers(element, walk);
      if (read === element) continue;
      if (list === value) list = value.slice();
      list[at] = read;
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
    if (result === value) result = Object.assign(newRecord(), value);
    result[key] = read;
  }
  return result;
}
