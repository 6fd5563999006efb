// What an applier stated last time and states no more leaves the object, unless somebody owns it
// (specification 2, Field ownership). Three walks over values, each of which keeps or drops parts;
// undefined is absence, and null what is left of a declared field that lost all it held.
import { jsonEqual } from '../api/json-value.ts';
import { newRecord } from '../api/record.ts';
import type { JsonValue } from '../api/type-info.ts';
import { byIdentity, elementShape, identityOf } from './elements.ts';
import type { FieldSet } from './field-set.ts';
import { elementsOf, memberShape, membersOf, partsOf } from './members.ts';
import type { Value } from './members.ts';
import { fieldElement } from './path-element.ts';
import { leafShape } from './shape.ts';
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
  const result = newRecord();
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
    result[name] = isNamed ? kept : emptied(member, kept);
    count += 1;
  }
  if (changedCount === 0) return value;
  return count === 0 ? null : result;
}

/** Elements with one identity are wholes: nobody owns a part of them. */
function filteredElements(value: Value, shape: ListShape, keep: (part: Part) => Value): Value {
  const elements = elementsOf(value);
  if (elements === undefined) return value;
  const result: JsonValue[] = [];
  let changedCount = 0;
  const counts = new Map<string, number>();
  const identities = elements.map((item) => identityOf(item, shape));
  for (const element of identities) counts.set(element, (counts.get(element) ?? 0) + 1);
  for (const [at, item] of elements.entries()) {
    const element = identities[at] ?? '';
    const of = counts.get(element) === 1 ? elementShape(shape) : leafShape;
    const kept = keep({ element, value: item, shape: of, isNamed: false });
    if (kept !== item) changedCount += 1;
    if (kept !== undefined) result.push(kept === item ? item : withKeys(item, kept, shape));
  }
  if (changedCount === 0) return value;
  return result.length === 0 ? null : result;
}

/** Entries and elements are there by themselves, also without members. */
function emptied(value: JsonValue, left: JsonValue): JsonValue {
  if (left !== null) return left;
  if (membersOf(value) !== undefined) return {};
  return elementsOf(value) === undefined ? null : [];
}

/** An element that stays is told apart as before, whoever owns its keys. */
function withKeys(item: JsonValue, left: JsonValue, shape: ListShape): JsonValue {
  const rest = emptied(item, left);
  const [whole, members] = [membersOf(item), membersOf(rest)];
  if (shape.kind === 'set' || whole === undefined || members === undefined) return rest;
  const lost = shape.keys.filter(
    ({ name, byDefault }) =>
      Object.hasOwn(whole, name) &&
      !Object.hasOwn(members, name) &&
      !jsonEqual(whole[name], byDefault),
  );
  if (lost.length === 0) return rest;
  const result = Object.assign(newRecord(), members);
  for (const { name } of lost) result[name] = whole[name];
  return result;
}

/**
 * The parts of a value by their steps, found at once. Elements with one identity are given one
 * after another.
 */
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
  const found = new Map<string, Iterator<JsonValue>>();
  for (const [identity, twins] of byIdentity(elementsOf(value) ?? [], parts)) {
    found.set(identity, twins.values());
  }
  return (element) => {
    const next = found.get(element)?.next();
    return next?.done === false ? next.value : undefined;
  };
}
