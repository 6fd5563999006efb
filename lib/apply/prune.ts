// What an applier stated last time and states no more leaves the object, unless somebody owns it
// (specification 2, Field ownership). Three walks over values, each of which keeps or drops parts;
// undefined is absence, and null what is left of an object or list that lost all it held.
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { elementShape, identityOf } from './elements.ts';
import type { FieldSet } from './field-set.ts';
import { elementsOf, memberShape, membersOf, partsOf } from './members.ts';
import type { Value } from './members.ts';
import { fieldElement } from './path-element.ts';
import type { ListShape, ObjectShape, Shape } from './shape.ts';

/** Without all that `gone` names, and what lies below. */
export function removeFields(value: Value, gone: FieldSet, shape: Shape): Value {
  if (gone.children.size === 0) return value;
  return filtered(value, shape, (part) => {
    const below = gone.children.get(part.element);
    if (below === undefined) return part.value;
    return holds(below, part) ? undefined : removeFields(part.value, below, part.shape);
  });
}

/** `pruned` with what it lost of `whole` and `owned` names, and no more of it than is named. */
export function restoreOwned(whole: Value, pruned: Value, owned: FieldSet, shape: Shape): Value {
  if (whole === pruned) return whole;
  const left = partFinder(pruned, shape);
  return filtered(whole, shape, (part) => {
    const kept = left(part.element);
    const below = owned.children.get(part.element);
    const isOwned = below !== undefined && holds(below, part);
    if (kept === undefined && !isOwned) return undefined;
    if (below === undefined) return kept;
    return restoreOwned(part.value, kept, below, part.shape);
  });
}

/** `whole` without what `pruned` lacks and `last` names: what nobody ever stated stays. */
export function dropStated(whole: Value, pruned: Value, last: FieldSet, shape: Shape): Value {
  if (whole === pruned || last.children.size === 0) return whole;
  const left = partFinder(pruned, shape);
  return filtered(whole, shape, (part) => {
    const below = last.children.get(part.element);
    if (below === undefined) return part.value;
    const kept = left(part.element);
    if (kept === undefined && holds(below, part)) return undefined;
    return dropStated(part.value, kept, below, part.shape);
  });
}

interface Part {
  readonly element: string;
  readonly value: JsonValue;
  readonly shape: Shape;
  /** A field that its type declares: it belongs to whoever owns something in it. */
  readonly isNamed: boolean;
}

const holds = (set: FieldSet, { isNamed }: Part): boolean =>
  set.isMember || (isNamed && set.children.size > 0);

/** The value with what `keep` makes of its parts. */
function filtered(value: Value, shape: Shape, keep: (part: Part) => Value): Value {
  const parts = partsOf(shape, value);
  if (parts === undefined) return value;
  return parts.kind === 'object'
    ? filteredMembers(value, parts, keep)
    : filteredElements(value, parts, keep);
}

function filteredMembers(value: Value, shape: ObjectShape, keep: (part: Part) => Value): Value {
  const members = membersOf(value);
  if (members === undefined) return value;
  const result = Object.create(null) as JsonObject;
  let [count, changedCount] = [0, 0];
  for (const name in members) {
    const member = members[name];
    const of = memberShape(shape, name);
    if (member === undefined) continue;
    const isNamed = shape.named.has(name);
    const kept =
      of === undefined
        ? member
        : keep({ element: fieldElement(name), value: member, shape: of, isNamed });
    if (kept !== member) changedCount += 1;
    if (kept === undefined) continue;
    result[name] = kept;
    count += 1;
  }
  if (changedCount === 0) return value;
  return count === 0 ? null : result;
}

function filteredElements(value: Value, shape: ListShape, keep: (part: Part) => Value): Value {
  const elements = elementsOf(value);
  if (elements === undefined) return value;
  const of = elementShape(shape);
  const result: JsonValue[] = [];
  let changedCount = 0;
  for (const item of elements) {
    const element = identityOf(item, shape);
    const kept = keep({ element, value: item, shape: of, isNamed: false });
    if (kept !== item) changedCount += 1;
    if (kept !== undefined) result.push(kept);
  }
  if (changedCount === 0) return value;
  return result.length === 0 ? null : result;
}

/** The parts of a value by their steps, found at once. */
function partFinder(value: Value, shape: Shape): (element: string) => Value {
  const parts = partsOf(shape, value);
  if (parts === undefined) return () => undefined;
  if (parts.kind === 'object') {
    const members = membersOf(value);
    if (members === undefined) return () => undefined;
    return (element) => {
      const name = element.slice(2);
      return Object.hasOwn(members, name) ? members[name] : undefined;
    };
  }
  const found = new Map<string, JsonValue>();
  for (const item of elementsOf(value) ?? []) found.set(identityOf(item, parts), item);
  return (element) => found.get(element);
}
