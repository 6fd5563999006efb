// Steps of a path into an object, as FieldsV1 writes them: `f:name` is the field or map entry of
// that name, `k:{"port":80}` the list element with these keys, `v:"a"` the element of a set with
// that value, `i:3` the element at a place. One step has one text: it serves as a key.
import { isObject } from '../api/json-value.ts';
import { sortUtf8 } from '../base/utf8-order.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';

export const fieldElement = (name: string): string => `f:${name}`;

/** `keys`: in the order of their names, with a value each. */
export function keyElement(keys: readonly (readonly [name: string, value: JsonValue])[]): string {
  let text = 'k:{';
  for (const [name, value] of keys) {
    if (text.length > 3) text += ',';
    text += `${JSON.stringify(name)}:${scalarText(value)}`;
  }
  return `${text}}`;
}

export const valueElement = (value: JsonValue): string => `v:${scalarText(value)}`;

const scalarText = (value: JsonValue): string =>
  typeof value === 'bigint' ? value.toString() : JSON.stringify(value);

/**
 * The one text of a step that may be written otherwise. undefined: a sort of step that nobody knows
 * today, which holds nothing for us. @throws SyntaxError for what is none.
 */
export function canonicalElement(text: string): string | undefined {
  switch (text.slice(0, 2)) {
    case 'f:':
      return text;
    case 'v:':
      return valueElement(JSON.parse(text.slice(2)) as JsonValue);
    case 'k:': {
      const keys = JSON.parse(text.slice(2)) as JsonValue;
      if (!isObject(keys)) throw new SyntaxError('the keys of a list element must be an object');
      return keyElement(sortUtf8(Object.keys(keys)).map((name) => [name, memberOf(keys, name)]));
    }
    case 'i:':
      return `i:${String(Number(text.slice(2)))}`;
    default:
      return undefined;
  }
}

const memberOf = (keys: JsonObject, name: string): JsonValue => keys[name] ?? null;

const ranks = 'fkvi';

/** The order in which FieldsV1 lists steps of one level. */
export function elementOrder(left: string, right: string): number {
  const rank = ranks.indexOf(left.charAt(0)) - ranks.indexOf(right.charAt(0));
  if (rank !== 0) return rank;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** A path as people read it: `.spec.ports[port=80,protocol="TCP"].name`. */
export const pathText = (path: readonly string[]): string => path.map(elementText).join('');

export function elementText(element: string): string {
  const rest = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'f:':
      return `.${rest}`;
    case 'v:':
      return `[=${rest}]`;
    case 'k:': {
      const keys = JSON.parse(rest) as JsonObject;
      const pairs = Object.entries(keys).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
      return `[${pairs.join()}]`;
    }
    default:
      return `[${rest}]`;
  }
}
