// The fields that an applied configuration states: what its manager owns from then on. Declared
// fields that only hold others are not members: who states a port of a service does not own `spec`.
import { elementShape, UnidentifiedElement, uniqueByIdentity } from './elements.ts';
import { FieldSet } from './field-set.ts';
import { elementsOf, isBlank, memberShape, membersOf, partsOf } from './members.ts';
import type { Value } from './members.ts';
import { fieldElement } from './path-element.ts';
import type { ListShape, ObjectShape, Shape } from './shape.ts';

/** @throws UnidentifiedElement for elements without identity, and for two with one. */
export function appliedFields(value: Value, shape: Shape): FieldSet {
  const parts = partsOf(shape, value);
  if (parts === undefined) return FieldSet.leaf;
  return parts.kind === 'object' ? fieldsOfMembers(value, parts) : fieldsOfElements(value, parts);
}

function fieldsOfMembers(value: Value, shape: ObjectShape): FieldSet {
  const members = membersOf(value);
  const children = new Map<string, FieldSet>();
  for (const name in members) {
    const member = members[name];
    const of = memberShape(shape, name);
    if (member === undefined || of === undefined) continue;
    const below = fieldsBelow(fieldElement(name), member, of);
    // An empty list owns nothing: it states no element, and cannot stand for their absence.
    const isOwned = !shape.named.has(name) || (isBlank(member) && elementsOf(member) === undefined);
    const set = isOwned ? below.asMember : below;
    if (!set.isEmpty) children.set(fieldElement(name), set);
  }
  return FieldSet.of(false, children);
}

function fieldsOfElements(value: Value, shape: ListShape): FieldSet {
  const element = elementShape(shape);
  const children = new Map<string, FieldSet>();
  for (const [identity, item] of uniqueByIdentity(elementsOf(value) ?? [], shape)) {
    children.set(identity, fieldsBelow(identity, item, element).asMember);
  }
  return FieldSet.of(false, children);
}

function fieldsBelow(element: string, value: Value, shape: Shape): FieldSet {
  try {
    return appliedFields(value, shape);
  } catch (error) {
    throw error instanceof UnidentifiedElement ? error.below(element) : error;
  }
}
