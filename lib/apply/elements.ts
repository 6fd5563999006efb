// Elements of lists by their identity, which is a step of a path (path-element.ts): the value in a
// set, the keys in a keyed list.
import { isRecord, ownMember } from '../api/json-value.ts';
import { parsed } from '../api/raw-json.ts';
import type { JsonValue } from '../api/type-info.ts';
import { elementText, keyElement, keyText, valueElement } from './path-element.ts';
import { leafShape } from './shape.ts';
import type { ListShape, Shape } from './shape.ts';

/** An element that cannot be told from others. */
export class UnidentifiedElement extends Error {
  readonly #why: string;
  readonly #path: string;

  constructor(why: string, path = '') {
    super(`${path}: ${why}`);
    this.#why = why;
    this.#path = path;
  }

  /** The same, found below a field or element. */
  below(element: string): UnidentifiedElement {
    return new UnidentifiedElement(this.#why, elementText(element) + this.#path);
  }
}

/** @throws UnidentifiedElement */
export function identityOf(value: JsonValue, shape: ListShape): string {
  const element = parsed(value);
  if (shape.kind === 'set') {
    if (element !== null && typeof element !== 'object') return valueElement(element);
    throw new UnidentifiedElement('an element of a set must be a text, a number or a boolean');
  }
  if (!isRecord(element)) {
    throw new UnidentifiedElement('an element of a list with keys must be an object');
  }
  let keys = '';
  for (const { name, label, byDefault } of shape.keys) {
    const key = ownMember(element, name) ?? byDefault;
    if (key === undefined) continue;
    if (typeof key === 'object' && key !== null) {
      throw new UnidentifiedElement(`the key ${name} of an element must be no object or list`);
    }
    keys += keys === '' ? keyText(label, key) : `,${keyText(label, key)}`;
  }
  if (keys !== '') return keyElement(keys);
  const names = shape.keys.map(({ name }) => name).join(', ');
  throw new UnidentifiedElement(`an element has none of its keys: ${names}`);
}

/** What elements of the list are. */
export const elementShape = (shape: ListShape): Shape =>
  shape.kind === 'keyed' ? shape.element : leafShape;

/** Elements by identity, in their order; several with one identity are a list. */
export function byIdentity(
  list: readonly JsonValue[],
  shape: ListShape,
): Map<string, readonly JsonValue[]> {
  const found = new Map<string, JsonValue[]>();
  for (const element of list) {
    const identity = identityOf(element, shape);
    const twins = found.get(identity);
    if (twins === undefined) found.set(identity, [element]);
    else twins.push(element);
  }
  return found;
}

/** The same where each identity may be there once. @throws UnidentifiedElement */
export function uniqueByIdentity(
  list: readonly JsonValue[],
  shape: ListShape,
): Map<string, JsonValue> {
  const found = new Map<string, JsonValue>();
  for (const element of list) {
    const identity = identityOf(element, shape);
    if (found.has(identity)) {
      throw new UnidentifiedElement(`duplicate entries for key ${elementText(identity)}`);
    }
    found.set(identity, element);
  }
  return found;
}
