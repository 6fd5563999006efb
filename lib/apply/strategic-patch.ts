// Strategic merge patch as pure functions: objects merge, null deletes, lists merge as their field
// says (strategic-list.ts), and directives (`$patch`, `$retainKeys`, …) say the rest. What the type
// does not know merges as JSON merge patches do. Document and patch are not changed.
import { isRecord } from '../api/json-value.ts';
import { opened, parsed } from '../api/raw-json.ts';
import { newRecord } from '../api/record.ts';
import type { FieldInfo, JsonObject, JsonValue, TypeInfo } from '../api/type-info.ts';
import { badRequest } from '../base/status.ts';
import { parseData } from '../codec/json.ts';
import type { ReadJson } from '../codec/json.ts';
import { toData } from '../codec/walk.ts';
import { mergeList, orderList, plainList, withoutValues } from './strategic-list.ts';
import type { ListRules } from './strategic-list.ts';

/** undefined where nothing is known of a value's members, as of those of maps. */
type KnownType = TypeInfo | undefined;

const orderPrefix = '$setElementOrder/';
const deletePrefix = '$deleteFromPrimitiveList/';

/**
 * `read` gives values, or raw JSON for objects whose text counts.
 * @throws StatusError 400 when the body is not a JSON object.
 */
export function parseStrategicPatch(body: Uint8Array, read: ReadJson = parseData): JsonValue {
  const patch = read(body);
  if (isRecord(opened(patch))) return patch;
  throw badRequest('a strategic merge patch must be a JSON object');
}

/**
 * The document, which is of the type, with the patch merged in.
 * @throws StatusError 400 for directives that cannot be read, 422 for lists that do not fit.
 */
export function applyStrategicPatch(
  document: JsonValue,
  patch: JsonValue,
  type: TypeInfo,
): JsonValue {
  const [before, changes] = [opened(document), opened(patch)];
  return mergeObject(isRecord(before) ? before : {}, isRecord(changes) ? changes : {}, type);
}

function mergeObject(before: JsonObject, changes: JsonObject, type: KnownType): JsonObject {
  switch (directiveOf(changes)) {
    case 'replace':
      return plainObject(changes);
    case 'delete':
      return newRecord();
    case undefined:
  }
  const result = Object.assign(newRecord(), before);
  retainKeys(result, changes);
  const ordered = orderFields(result, changes, type);
  for (const key of Object.keys(changes)) {
    const change = changes[key];
    if (change === undefined || ordered.has(key) || key === '$retainKeys') continue;
    if (key.startsWith(orderPrefix)) continue;
    if (key.startsWith(deletePrefix)) {
      deleteFrom(result, key.slice(deletePrefix.length), change);
    } else if (change === null) {
      Reflect.deleteProperty(result, key);
    } else {
      setOrDelete(result, key, mergeMember(result[key], change, type?.fieldByJsonName.get(key)));
    }
  }
  return result;
}

/** undefined: nothing is left of the member. */
function mergeMember(
  before: JsonValue | undefined,
  change: JsonValue,
  field: FieldInfo | undefined,
): JsonValue | undefined {
  const [old, now] = [opened(before ?? null), opened(change)];
  const strategies = field?.patchStrategies ?? [];
  if (isRecord(old) && isRecord(now)) {
    if (strategies.includes('replace')) return plainObject(now);
    return mergeObject(old, now, field?.cardinality === 'map' ? undefined : field?.message);
  }
  if (Array.isArray(old) && Array.isArray(now)) {
    return strategies.includes('merge') ? mergeList(old, now, listRules(field)) : now.map(whole);
  }
  return plain(change);
}

const listRules = (field: FieldInfo | undefined): ListRules => ({
  name: field?.jsonName ?? '',
  mergeKey: field?.patchMergeKey,
  merge: (before, changes) => mergeObject(before, changes, field?.message),
  directiveOf,
  plain,
});

/** Lists whose order the patch gives, merged and put into it; the fields that are done. */
function orderFields(
  result: JsonObject,
  changes: JsonObject,
  type: KnownType,
): ReadonlySet<string> {
  const done = new Set<string>();
  for (const key of Object.keys(changes)) {
    if (!key.startsWith(orderPrefix)) continue;
    const name = key.slice(orderPrefix.length);
    const order = opened(changes[key] ?? null);
    if (!Array.isArray(order)) throw badRequest(`${key} of the patch must be a list`);
    const rules = listRules(type?.fieldByJsonName.get(name));
    const [before, change] = [opened(result[name] ?? null), opened(changes[name] ?? null)];
    const old = Array.isArray(before) ? before : undefined;
    const now = Array.isArray(change) ? change : undefined;
    if (changes[name] === null || (old === undefined && now === undefined)) continue;
    result[name] = orderList(old, now, order, rules);
    done.add(name);
  }
  return done;
}

/** `$retainKeys` names all members that stay; the patch may set no other, and may delete any. */
function retainKeys(result: JsonObject, changes: JsonObject): void {
  if (changes['$retainKeys'] === undefined) return;
  const list = opened(changes['$retainKeys']);
  if (!Array.isArray(list)) throw badRequest('$retainKeys of the patch must be a list');
  const kept = new Set(list.map(parsed));
  for (const key of Object.keys(changes)) {
    if (key.startsWith('$') || kept.has(key) || changes[key] === null) continue;
    throw badRequest(`$retainKeys of the patch must name ${JSON.stringify(key)}, which it sets`);
  }
  for (const key of Object.keys(result)) if (!kept.has(key)) Reflect.deleteProperty(result, key);
}

function deleteFrom(result: JsonObject, name: string, change: JsonValue): void {
  const values = opened(change);
  if (!Array.isArray(values)) throw badRequest(`${deletePrefix}${name} must be a list of values`);
  const list = opened(result[name] ?? null);
  if (Array.isArray(list)) result[name] = withoutValues(list, values);
}

/** @throws StatusError 400 for a `$patch` that is neither `replace` nor `delete`. */
function directiveOf(changes: JsonObject): 'replace' | 'delete' | undefined {
  if (changes['$patch'] === undefined) return undefined;
  const directive = parsed(changes['$patch']);
  if (directive === 'replace' || directive === 'delete') return directive;
  throw badRequest(`unknown $patch ${JSON.stringify(directive)}: use "replace" or "delete"`);
}

/**
 * A value that meets nothing: a copy without nulls and directives. undefined: it is there for the
 * directive that it holds, whatever that says, and that meets nothing either.
 */
function plain(value: JsonValue): JsonValue | undefined {
  const inner = opened(value);
  if (Array.isArray(inner)) return plainList(inner, plain);
  if (!isRecord(inner)) return toData(value);
  return inner['$patch'] === undefined ? plainObject(inner) : undefined;
}

/** An element of a list that takes the place of another list: it stays, whatever it holds. */
function whole(element: JsonValue): JsonValue {
  const inner = opened(element);
  return (isRecord(inner) ? plainObject(inner) : plain(element)) ?? null;
}

function plainObject(value: JsonObject): JsonObject {
  const result = newRecord();
  for (const key of Object.keys(value)) {
    const member = value[key] ?? null;
    if (member !== null && !isDirective(key)) setOrDelete(result, key, plain(member));
  }
  return result;
}

const isDirective = (key: string): boolean =>
  key === '$patch' ||
  key === '$retainKeys' ||
  key.startsWith(orderPrefix) ||
  key.startsWith(deletePrefix);

/** Of objects without a prototype, where `__proto__` is a name like any other. */
function setOrDelete(object: JsonObject, key: string, value: JsonValue | undefined): void {
  if (value === undefined) Reflect.deleteProperty(object, key);
  else object[key] = value;
}
