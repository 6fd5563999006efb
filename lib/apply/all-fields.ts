// Every field of a value as a set. New objects of one sort (the pods of a deployment) have the same
// fields with other values: what was made once is found again by a text that says which fields
// there are, and all that is known of the set (its FieldsV1) is found with it.
import type { JsonValue } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { TextMemo } from '../base/text-memo.ts';
import { byIdentity, elementShape, identityOf } from './elements.ts';
import { FieldSet } from './field-set.ts';
import { elementsOf, memberShape, membersOf, partsOf } from './members.ts';
import { fieldElement } from './path-element.ts';
import type { Shape } from './shape.ts';

const known = new TextMemo<FieldSet>({
  countMax: limits.fieldSetsKeptMax,
  lengthMax: limits.fieldSetTextLengthMax,
});

const numbers = new WeakMap<WeakKey, number>();
let numberCount = 0;

/** Texts say what fields there are only together with what they were read by: its number. */
export function numberOf(one: WeakKey): number {
  let number = numbers.get(one);
  if (number === undefined) numbers.set(one, (number = ++numberCount));
  return number;
}

/** A value with all that it holds. @throws UnidentifiedElement */
export function allFields(value: JsonValue | undefined, shape: Shape): FieldSet {
  if (partsOf(shape, value) === undefined) return FieldSet.leaf;
  const text = `${String(numberOf(shape))} ${textOf(value, shape)}`;
  return known.of(text, () => fieldsOf(value, shape));
}

/**
 * Which fields there are, in their order. Values that have one text have the same fields: names and
 * identities say how long they are, and nothing else begins with a digit.
 */
export function textOf(value: JsonValue | undefined, shape: Shape): string {
  const parts = partsOf(shape, value);
  if (parts === undefined) return '.';
  if (parts.kind !== 'object') {
    const element = elementShape(parts);
    let text = '[';
    for (const one of elementsOf(value) ?? []) {
      const identity = identityOf(one, parts);
      text += `${String(identity.length)}:${identity}${textOf(one, element)}`;
    }
    return `${text}]`;
  }
  const members = membersOf(value);
  let text = '{';
  for (const name in members) {
    const member = memberShape(parts, name);
    if (member === undefined || members[name] === undefined) continue;
    text += `${String(name.length)}:${name}${textOf(members[name], member)}`;
  }
  return `${text}}`;
}

function fieldsOf(value: JsonValue | undefined, shape: Shape): FieldSet {
  const parts = partsOf(shape, value);
  if (parts === undefined) return FieldSet.leaf;
  const children = new Map<string, FieldSet>();
  if (parts.kind !== 'object') {
    const element = elementShape(parts);
    for (const [identity, twins] of byIdentity(elementsOf(value) ?? [], parts)) {
      children.set(identity, twins.length > 1 ? FieldSet.leaf : fieldsOf(twins[0], element));
    }
    return FieldSet.of(true, children);
  }
  const members = membersOf(value);
  for (const name in members) {
    const member = memberShape(parts, name);
    if (member === undefined || members[name] === undefined) continue;
    children.set(fieldElement(name), fieldsOf(members[name], member));
  }
  return FieldSet.of(true, children);
}
