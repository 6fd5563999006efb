// A live object with an applied configuration merged into it: what the configuration states is as
// it says, all else stays. Nothing is changed in place; the result shares parts with both.
import { ownMember } from '../api/json-value.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { byIdentity, elementShape, identityOf, uniqueByIdentity } from './elements.ts';
import { elementsOf, isBlank, memberShape, membersOf, partsOf } from './members.ts';
import type { Value } from './members.ts';
import type { ListShape, ObjectShape, Shape } from './shape.ts';

/**
 * undefined is absence, also in the result. Values of the wrong type come through for the schema to
 * refuse. @throws UnidentifiedElement
 */
export function mergeApplied(live: Value, applied: Value, shape: Shape): Value {
  if (applied === undefined) return live;
  const parts = partsOf(shape, live, applied);
  if (parts === undefined || live === undefined || (isBlank(live) && isBlank(applied))) {
    return applied;
  }
  if (parts.kind === 'object') return mergeMembers(live, applied, parts);
  return mergeElements(live, applied, parts);
}

/** Null states that there is nothing to say of members. */
function mergeMembers(live: Value, applied: JsonValue, shape: ObjectShape): Value {
  const old = membersOf(live);
  const stated = membersOf(applied);
  if (applied === null && old !== undefined) return live;
  if (old === undefined || stated === undefined) return applied;
  const result = Object.assign(Object.create(null), old) as JsonObject;
  for (const name in stated) {
    const value = stated[name];
    if (value === undefined) continue;
    const member = memberShape(shape, name);
    result[name] =
      member === undefined ? value : (mergeApplied(ownMember(old, name), value, member) ?? null);
  }
  return result;
}

/**
 * Elements that both have come in the order of the configuration; those of the live object alone
 * stay between them where they were, before what the configuration adds.
 */
function mergeElements(live: Value, applied: JsonValue, shape: ListShape): Value {
  const old = elementsOf(live);
  const list = elementsOf(applied);
  if (applied === null && old !== undefined) return live;
  if (old === undefined || list === undefined) return applied;
  const stated = uniqueByIdentity(list, shape);
  const known = byIdentity(old, shape);
  const element = elementShape(shape);
  const merged = (identity: string, value: JsonValue): JsonValue => {
    const twins = known.get(identity) ?? [];
    return mergeApplied(twins.length === 1 ? twins[0] : undefined, value, element) ?? null;
  };
  const result: JsonValue[] = [];
  const waiting = [...stated];
  const shared = waiting.filter(([identity]) => known.has(identity)).map(([identity]) => identity);
  let [next, nextShared] = [0, 0];
  const done = new Set<string>();
  const take = (): void => {
    const entry = waiting[next++];
    if (entry === undefined) return;
    const [identity, value] = entry;
    done.add(identity);
    result.push(merged(identity, value));
    if (shared[nextShared] === identity) nextShared += 1;
  };
  for (const item of old) {
    const identity = identityOf(item, shape);
    if (!stated.has(identity)) {
      result.push(item);
      continue;
    }
    // Its turn comes later, in the order of the configuration, or is over.
    if (done.has(identity) || shared[nextShared] !== identity) continue;
    while (!done.has(identity)) take();
  }
  while (next < waiting.length) take();
  return result;
}
