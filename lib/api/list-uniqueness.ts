// Lists whose items exclude each other, by the schema: sets hold each value once, keyed lists each
// combination of keys.
import { eachInTurns } from '../base/each-in-turns.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { sortedJson } from './canonical-json.ts';
import { isObject, ownMember } from './json-value.ts';
import { newRecord } from './record.ts';
import { walkTo } from './schema-walk.ts';
import type { Walk, WalkRun } from './schema-walk.ts';
import { itemIdentity } from './twins.ts';
import type { JsonObject, JsonValue, ValueInfo } from './type-info.ts';

/** undefined: there is no such list at or below the value. */
export const compileListChecks = (value: ValueInfo): Walk | undefined =>
  walkTo(value, { has: isUnique, visit: checkItems });

const isUnique = ({ cardinality, listType }: ValueInfo): boolean =>
  cardinality === 'list' && (listType === 'set' || listType === 'map');

function checkItems(
  items: JsonValue,
  list: ValueInfo,
  path: string,
  { errors, pace }: WalkRun,
): MaybePromise<void> {
  if (!Array.isArray(items)) return undefined;
  /** How often each was seen. */
  const seen = new Map<string, number>();
  return eachInTurns(
    items,
    (item, at) => {
      const identity = itemIdentity(item, list);
      if (identity === undefined) {
        const field = `${path}[${String(at)}]`;
        const detail = 'must be an object for an array of list-type map';
        errors.push({ reason: 'FieldValueInvalid', field, badValue: item, detail });
        return;
      }
      const count = (seen.get(identity) ?? 0) + 1;
      seen.set(identity, count);
      if (count !== 2) return;
      const field = `${path}[${String(at)}]`;
      const shown = isObject(item) && list.listType === 'map' ? keysOf(item, list) : item;
      const badValue = sortedJson(shown);
      errors.push({ reason: 'FieldValueDuplicate', field, badValue, detail: '' });
    },
    pace,
  );
}

function keysOf(item: JsonObject, { listMapKeys }: ValueInfo): JsonObject {
  const keys = newRecord();
  for (const key of listMapKeys) {
    const value = ownMember(item, key);
    if (value !== undefined) keys[key] = value;
  }
  return keys;
}
