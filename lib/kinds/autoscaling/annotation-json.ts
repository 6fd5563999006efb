// JSON in annotations that other servers write and read by types of theirs: a text that has not the
// types of its shape counts for nothing. Names of members are read whatever their case.
import { isObject, setMember } from '../../api/json-value.ts';
import { canonicalQuantity } from '../../api/quantity.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';

/** A list has one element that is the shape of all; a map has the member `*`. */
export type Shape =
  'text' | 'integer' | 'quantity' | 'time' | readonly [Shape] | { readonly [name: string]: Shape };

/** What the text holds, members that the shape does not have left out; undefined: not its shape. */
export function readAnnotation(text: string | undefined, shape: Shape): JsonValue | undefined {
  if (text === undefined) return undefined;
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return undefined; // A user's text under our name: no JSON.
  }
  return shaped(value, shape);
}

const integerMax = 2_147_483_647;

function shaped(value: JsonValue, shape: Shape): JsonValue | undefined {
  if (value === null) return null;
  switch (shape) {
    case 'text':
      return typeof value === 'string' ? value : undefined;
    case 'time':
      return typeof value === 'string' && isTime(value) ? value : undefined;
    case 'integer':
      if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
      return Math.abs(value) <= integerMax ? value : undefined;
    case 'quantity':
      if (typeof value !== 'string' && typeof value !== 'number') return undefined;
      return canonicalQuantity(String(value));
    default:
      return isList(shape) ? shapedList(value, shape[0]) : shapedRecord(value, shape);
  }
}

const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT/.test(text) && !isNaN(Date.parse(text));

const isList = (shape: Exclude<Shape, string>): shape is readonly [Shape] => Array.isArray(shape);

function shapedList(value: JsonValue, shape: Shape): JsonValue | undefined {
  if (!Array.isArray(value)) return undefined;
  const list: JsonValue[] = [];
  for (const element of value) {
    const read = shaped(element, shape);
    if (read === undefined) return undefined;
    list.push(read);
  }
  return list;
}

function shapedRecord(
  value: JsonValue,
  shape: { readonly [name: string]: Shape },
): JsonValue | undefined {
  if (!isObject(value)) return undefined;
  const record: JsonObject = {};
  const every = shape['*'];
  for (const [key, member] of Object.entries(value)) {
    const name = every === undefined ? nameIn(shape, key) : key;
    const wanted = every ?? shape[name];
    if (wanted === undefined) continue;
    const read = shaped(member ?? null, wanted);
    if (read === undefined) return undefined;
    const isUnset = read === null || (read === '' && every === undefined);
    if (!isUnset) setMember(record, name, read);
  }
  return record;
}

const nameIn = (shape: Readonly<Record<string, Shape>>, key: string): string =>
  Object.keys(shape).find((name) => name.toLowerCase() === key.toLowerCase()) ?? '';

/** The text that Go writes: letters that mean something in HTML are escaped. */
export const annotationText = (value: JsonValue): string =>
  JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
