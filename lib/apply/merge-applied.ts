// A live object with an applied configuration merged into it: what that states is as it says, all
// else stays. Nothing is changed in place: the result shares parts with both, and what says the
// same is the live object's own.
import { jsonEqual, ownMember, setMember } from '../api/json-value.ts';
import { parsed } from '../api/raw-json.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { elementShape, identityOf, uniqueByIdentity } from './elements.ts';
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
    return live !== undefined && jsonEqual(parsed(live), parsed(applied)) ? live : applied;
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
  let result: JsonObject | undefined;
  for (const name in stated) {
    const value = stated[name];
    if (value === undefined) continue;
    const member = memberShape(shape, name);
    const was = ownMember(old, name);
    const merged = member === undefined ? value : mergeApplied(was, value, member);
    if (merged === was || merged === undefined) continue;
    setMember((result ??= { ...old }), name, merged);
  }
  return result ?? live;
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
  const identities = old.map((item) => identityOf(item, shape));
  const known = new Map<string, JsonValue | undefined>();
  for (const [index, identity] of identities.entries()) {
    // What is there several times is replaced by what the configuration says, if it does.
    known.set(identity, known.has(identity) ? undefined : old[index]);
  }
  const element = elementShape(shape);
  const result: JsonValue[] = [];
  let isSame = true;
  const waiting = [...stated];
  const shared = waiting.filter(([identity]) => known.has(identity)).map(([identity]) => identity);
  let [next, nextShared] = [0, 0];
  const done = new Set<string>();
  const take = (): void => {
    const entry = waiting[next++];
    if (entry === undefined) return;
    const [identity, value] = entry;
    done.add(identity);
    const item = mergeApplied(known.get(identity), value, element) ?? null;
    if (item !== old[result.length]) isSame = false;
    result.push(item);
    if (shared[nextShared] === identity) nextShared += 1;
  };
  for (const [index, item] of old.entries()) {
    const identity = identities[index] ?? '';
    if (!stated.has(identity)) {
      if (item !== old[result.length]) isSame = false;
      result.push(item);
      continue;
    }
    // Its turn comes later, in the order of the configuration, or is over.
    if (done.has(identity) || shared[nextShared] !== identity) continue;
    while (!done.has(identity)) take();
  }
  while (next < waiting.length) take();
  return isSame && result.length === old.length ? live : result;
}
