// What differs between two states of an object, as sets of fields. Lists with identities are
// compared element by element, whatever their order; wholes are equal or not.
import { jsonEqual, ownMember } from '../api/json-value.ts';
import { parsed } from '../api/raw-json.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { allFields } from './all-fields.ts';
import { byIdentity, elementShape } from './elements.ts';
import { FieldSet } from './field-set.ts';
import { elementsOf, isBlank, memberShape, membersOf, partsOf } from './members.ts';
import type { Value } from './members.ts';
import { fieldElement } from './path-element.ts';
import type { ListShape, ObjectShape, Shape } from './shape.ts';

/** Both begin at the compared value: it is a member itself where it came or went. */
export interface Difference {
  /** Added, or with another value. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

const changedWhole: Difference = { changed: FieldSet.leaf, removed: FieldSet.empty };

/**
 * undefined: nothing differs. Absent values are undefined. `skips`: members that are not looked at.
 * @throws UnidentifiedElement for an element without identity.
 */
export const compare = (
  before: Value,
  after: Value,
  shape: Shape,
  skips: ReadonlySet<string> = nothing,
): Difference | undefined => compareValues(before, after, shape, skips);

const nothing: ReadonlySet<string> = new Set();

/**
 * `skips`: of a whole object. Its parts, such as spec and status, are mostly as they were, which is
 * seen without their shapes. Deeper down that would read the same values again at each level.
 */
function compareValues(
  before: Value,
  after: Value,
  shape: Shape,
  skips?: ReadonlySet<string>,
): Difference | undefined {
  if (before === after) return undefined;
  if (before === undefined) return { changed: allFields(after, shape), removed: FieldSet.empty };
  if (after === undefined) return { changed: FieldSet.empty, removed: allFields(before, shape) };
  const parts = partsOf(shape, before, after);
  // Where neither holds anything, null and empty are two different things.
  if (parts === undefined || (isBlank(before) && isBlank(after))) {
    return jsonEqual(parsed(before), parsed(after)) ? undefined : changedWhole;
  }
  const result = new Differences();
  if (shape.kind === 'open') {
    const [old, now] = [before, after].map((value) => membersOf(value) === undefined);
    // From a whole to an object, or back: it is changed, and members come or go.
    if (old !== now) result.mark();
  }
  if (parts.kind === 'object') compareMembers(before, after, parts, result, skips);
  else compareElements(before, after, parts, result);
  return result.end();
}

const noMembers: Readonly<JsonObject> = {};

function compareMembers(
  before: Value,
  after: Value,
  shape: ObjectShape,
  result: Differences,
  skips: ReadonlySet<string> | undefined,
): void {
  const old = membersOf(before) ?? noMembers;
  const now = membersOf(after) ?? noMembers;
  for (const name of Object.keys(now)) {
    const value = now[name];
    if (value === undefined || skips?.has(name) === true) continue;
    const member = memberShape(shape, name);
    const was = ownMember(old, name);
    if (member !== undefined && was !== value && !(skips !== undefined && isSame(was, value))) {
      result.add(fieldElement(name), compareValues(was, value, member));
    }
  }
  for (const name of Object.keys(old)) {
    const was = old[name];
    if (was === undefined || skips?.has(name) === true) continue;
    if (ownMember(now, name) !== undefined) continue;
    const member = memberShape(shape, name);
    if (member !== undefined) {
      result.add(fieldElement(name), compareValues(was, undefined, member));
    }
  }
}

const isSame = (before: Value, after: Value): boolean =>
  before !== undefined && jsonEqual(before, after);

type Twins = readonly JsonValue[];

function compareElements(before: Value, after: Value, shape: ListShape, result: Differences): void {
  // Most lists are as they were, which takes no look at identities.
  if (jsonEqual(before, after)) return;
  const old = byIdentity(elementsOf(before) ?? [], shape);
  const now = byIdentity(elementsOf(after) ?? [], shape);
  const element = elementShape(shape);
  for (const [identity, twins] of now) {
    result.add(identity, compareTwins(old.get(identity) ?? [], twins, element));
  }
  for (const [identity, twins] of old) {
    if (!now.has(identity)) result.add(identity, compareTwins(twins, [], element));
  }
}

/** Several elements with one identity are a whole, without fields of their own. */
function compareTwins(old: Twins, now: Twins, shape: Shape): Difference | undefined {
  if (old.length < 2 && now.length < 2) return compareValues(old[0], now[0], shape);
  if (old.length > 1 && now.length > 1) return jsonEqual(old, now) ? undefined : changedWhole;
  if (old.length > 1) {
    const first = now.length === 0 ? undefined : compareValues(undefined, now[0], shape);
    return { changed: first?.changed ?? FieldSet.empty, removed: FieldSet.leaf };
  }
  const first = old.length === 0 ? undefined : compareValues(old[0], undefined, shape);
  return { changed: FieldSet.leaf, removed: first?.removed ?? FieldSet.empty };
}

/** Differences of the parts of one value. */
class Differences {
  #isChanged = false;
  #changed: Map<string, FieldSet> | undefined;
  #removed: Map<string, FieldSet> | undefined;

  mark(): void {
    this.#isChanged = true;
  }

  add(element: string, difference: Difference | undefined): void {
    if (difference === undefined) return;
    const { changed, removed } = difference;
    if (!changed.isEmpty) (this.#changed ??= new Map()).set(element, changed);
    if (!removed.isEmpty) (this.#removed ??= new Map()).set(element, removed);
  }

  end(): Difference | undefined {
    const changed = setOf(this.#isChanged, this.#changed);
    const removed = setOf(false, this.#removed);
    return changed.isEmpty && removed.isEmpty ? undefined : { changed, removed };
  }
}

const setOf = (isMember: boolean, children?: Map<string, FieldSet>): FieldSet =>
  FieldSet.of(isMember, children ?? noChildren);
const noChildren = new Map<string, FieldSet>();
