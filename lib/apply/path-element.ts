// Steps of a path into an object, as FieldsV1 writes them: `f:name` is the field or map entry of
// that name, `k:{"port":80}` the list element with these keys, `v:"a"` the element of a set with
// that value, `i:3` the element at a place. One step has one text: it serves as a key.
import { isObject } from '../api/json-value.ts';
import { parseExact } from '../api/parse-exact.ts';
import { sortUtf8 } from '../base/utf8-order.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';

export const fieldElement = (name: string): string => `f:${name}`;

/** `keys`: what `keyText` says of each, in the order of their names. */
export const keyElement = (keys: string): string => `k:{${keys}}`;

/** `label`: `keyLabel` of the name. */
export const keyText = (label: string, value: JsonValue): string => label + scalarText(value);

export const keyLabel = (name: string): string => `${JSON.stringify(name)}:`;

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
      return valueElement(parse(text.slice(2)));
    case 'k:': {
      if (oneKey.test(text)) return text;
      const keys = parse(text.slice(2));
      if (!isObject(keys)) throw new SyntaxError('the keys of a list element must be an object');
      const names = sortUtf8(Object.keys(keys));
      const texts = names.map((name) => keyText(keyLabel(name), keys[name] ?? null));
      return keyElement(texts.join());
    }
    case 'i:':
      if (!/^i:-?\d+$/.test(text))
        throw new SyntaxError('the place of an element must be a number');
      return `i:${String(BigInt(text.slice(2)))}`;
    default:
      return undefined;
  }
}

/** Written as we write it: most are. */
const oneKey = /^k:\{"[\w-]+":"[\w.-]*"\}$/;

/** Integers are exact: they tell elements apart. @throws SyntaxError */
const parse = (text: string): JsonValue =>
  /\d{16}/.test(text) ? parseExact(text) : (JSON.parse(text) as JsonValue);

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
      const keys = parse(rest) as JsonObject; // Our own text.
      const pairs = Object.keys(keys).map((name) => `${name}=${scalarText(keys[name] ?? null)}`);
      return `[${pairs.join()}]`;
    }
    default:
      return `[${rest}]`;
  }
}
