// Lists of strategic merge patches: of objects by their merge key, of values as sets, in the order
// that the patch gives. What the patch does not name keeps its place among itself; where both could
// come first the patch's does.
import { isRecord } from '../api/json-value.ts';
import { opened, parsed } from '../api/raw-json.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { badRequest, StatusError } from '../base/status.ts';

export interface ListRules {
  /** The field's name, for failures. */
  readonly name: string;
  /** The member that identifies an object in the list. */
  readonly mergeKey: string | undefined;
  readonly merge: (before: JsonObject, changes: JsonObject) => JsonObject;
  /** @throws StatusError 400 for a directive that is not known. */
  readonly directiveOf: (element: JsonObject) => 'replace' | 'delete' | undefined;
  /** An element that meets no other. */
  readonly plain: (value: JsonValue) => JsonValue | undefined;
}

type List = readonly JsonValue[];
/** An element's identity: what its key holds, or the value itself. */
type Identify = (element: JsonValue) => string;

/** @throws StatusError 422 when elements cannot be told apart. */
export function mergeList(before: List, changes: List, rules: ListRules): JsonValue[] {
  const { list, order, identify } = merged(before, changes, rules);
  return inOrder(list, { named: order, before: before.map(identify), identify });
}

/** The list, merged with the patch's where it has one, in the order that the patch gives. */
export function orderList(
  before: List | undefined,
  changes: List | undefined,
  order: List,
  rules: ListRules,
): JsonValue[] {
  const identify = identifier([...(before ?? []), ...(changes ?? [])], rules);
  const named = order.map(identify);
  checkOrder(changes ?? [], named, { identify, rules });
  const list =
    before === undefined
      ? plainList(changes ?? [], rules.plain)
      : merged(before, changes ?? [], rules).list;
  return inOrder(list, { named, before: (before ?? []).map(identify), identify });
}

/** What is left of elements that meet no others. */
export function plainList(elements: List, plain: ListRules['plain']): JsonValue[] {
  const list: JsonValue[] = [];
  for (const element of elements) {
    const value = plain(element);
    if (value !== undefined) list.push(value);
  }
  return list;
}

/** The values of a list but those of another. */
export function withoutValues(list: List, values: List): JsonValue[] {
  const gone = new Set(values.map(valueText));
  return list.filter((value) => !gone.has(valueText(value)));
}

interface Merged {
  readonly list: JsonValue[];
  /** Identities of what the patch changes or adds, in its order. */
  readonly order: readonly string[];
  readonly identify: Identify;
}

function merged(before: List, changes: List, rules: ListRules): Merged {
  const identify = identifier([...before, ...changes], rules);
  if (identify === valueText) {
    const list = [...new Map([...before, ...changes].map((one) => [identify(one), one])).values()];
    return { list, order: changes.map(identify), identify };
  }
  const kept: JsonObject[] = [];
  const gone = new Set<string>();
  let replaces = false;
  for (const element of changes) {
    const change = opened(element) as JsonObject; // the identifier has seen that it is one
    const directive = rules.directiveOf(change);
    if (directive === undefined) kept.push(change);
    else if (directive === 'delete') gone.add(identify(change));
    else replaces = true;
  }
  if (replaces) {
    const all = plainList(kept, rules.plain);
    return { list: all, order: all.map(identify), identify };
  }
  const left = gone.size === 0 ? before : before.filter((one) => !gone.has(identify(one)));
  const list = mergedObjects(left, kept, { identify, rules });
  return { list, order: kept.map(identify), identify };
}

interface Keyed {
  readonly identify: Identify;
  readonly rules: ListRules;
}

/** Of several with one key the first is meant. */
function mergedObjects(
  before: List,
  changes: readonly JsonObject[],
  { identify, rules }: Keyed,
): JsonValue[] {
  const list = before.slice();
  const places = new Map<string, number>();
  for (const [at, one] of list.entries()) {
    const key = identify(one);
    if (!places.has(key)) places.set(key, at);
  }
  for (const change of changes) {
    const key = identify(change);
    const at = places.get(key);
    const old = at === undefined ? undefined : opened(list[at] ?? null);
    if (at !== undefined && isRecord(old)) {
      list[at] = rules.merge(old, change);
      continue;
    }
    places.set(key, list.length);
    list.push(rules.plain(change) ?? {});
  }
  return list;
}

interface Order {
  /** Identities in the order of the patch. */
  readonly named: readonly string[];
  /** Identities in the order of the document. */
  readonly before: readonly string[];
  readonly identify: Identify;
}

/** What the patch names in its order, the rest in the document's, and the two interleaved by it. */
function inOrder(list: List, { named, before, identify }: Order): JsonValue[] {
  const [wanted, stored] = [firstPlaces(named), firstPlaces(before)];
  const keyed = list.map((one) => ({ one, key: identify(one) }));
  const isNamed = ({ key }: { key: string }): boolean => wanted.has(key);
  const ofPatch = keyed.filter(isNamed);
  ofPatch.sort((a, b) => (wanted.get(a.key) ?? 0) - (wanted.get(b.key) ?? 0));
  const others = keyed.filter((one) => !isNamed(one));
  const result: JsonValue[] = [];
  let at = 0;
  for (const { one, key } of others) {
    const place = stored.get(key) ?? Infinity;
    // What is new, or was before this one, comes before it.
    for (let next = ofPatch[at]; next !== undefined; next = ofPatch[at]) {
      const old = stored.get(next.key);
      if (old !== undefined && place < old) break;
      result.push(next.one);
      at += 1;
    }
    result.push(one);
  }
  return [...result, ...ofPatch.slice(at).map(({ one }) => one)];
}

function firstPlaces(keys: readonly string[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const [at, key] of keys.entries()) if (!places.has(key)) places.set(key, at);
  return places;
}

/** What the patch sets is in its order, too, and in the same sequence. */
function checkOrder(changes: List, named: readonly string[], { identify, rules }: Keyed): void {
  let at = 0;
  for (const element of changes) {
    const change = opened(element);
    if (isRecord(change) && rules.directiveOf(change) !== undefined) continue;
    const key = identify(element);
    while (at < named.length && named[at] !== key) at += 1;
    if (at < named.length) continue;
    throw badRequest(
      `$setElementOrder/${rules.name} lists elements of ${rules.name} in another order`,
    );
  }
}

/** @throws StatusError 422 for lists of lists, of objects without a key, and of both sorts. */
function identifier(elements: List, { name, mergeKey }: ListRules): Identify {
  const objects = elements.filter((element) => isRecord(opened(element))).length;
  if (elements.some((element) => Array.isArray(opened(element)))) {
    throw misfit(`lists of lists, as in ${name}, cannot be merged`);
  }
  if (objects === 0) return valueText;
  if (objects !== elements.length) throw misfit(`${name} holds objects and other values`);
  if (mergeKey === undefined) throw misfit(`objects in ${name} have no key to merge them by`);
  return (element) => {
    const object = opened(element);
    const value = isRecord(object) ? object[mergeKey] : undefined;
    if (value !== undefined) return valueText(value);
    throw misfit(`an element of ${name} has no ${mergeKey} to merge it by`);
  };
}

const valueText = (value: JsonValue): string => {
  const plain = parsed(value);
  return typeof plain === 'bigint' ? String(plain) : JSON.stringify(plain);
};

const misfit = (why: string): StatusError =>
  new StatusError(422, 'Invalid', `the strategic merge patch does not fit the object: ${why}`);
