// Lists whose items exclude each other, by the schema: sets hold each value once, keyed lists each
// combination of keys. Compiled once per type; types without such lists are not walked.
import type { FieldError } from '../base/status.ts';
import { childPath } from './field-errors.ts';
import { isObject, ownMember } from './json-value.ts';
import { itemIdentity } from './twins.ts';
import type { JsonObject, JsonValue, ValueInfo } from './type-info.ts';
import { elementOf } from './value-info.ts';

export type ListCheck = (value: JsonValue, path: string, errors: FieldError[]) => void;

/** undefined: there is no such list at or below the value. */
export function compileListChecks(value: ValueInfo): ListCheck | undefined {
  const own = value.cardinality === 'list' ? uniquenessOf(value) : undefined;
  const below = value.cardinality === 'single' ? memberChecks(value) : undefined;
  const elements = elementChecks(value);
  const checks = [own, elements, below].filter((check) => check !== undefined);
  if (checks.length <= 1) return checks[0];
  return (given, path, errors) => {
    for (const check of checks) check(given, path, errors);
  };
}

function uniquenessOf(list: ValueInfo): ListCheck | undefined {
  const { listType } = list;
  if (listType !== 'set' && listType !== 'map') return undefined;
  return (items, path, errors) => {
    if (!Array.isArray(items)) return;
    /** How often each was seen. */
    const seen = new Map<string, number>();
    for (const [at, item] of items.entries()) {
      const field = `${path}[${String(at)}]`;
      const identity = itemIdentity(item, list);
      if (identity === undefined) {
        const detail = 'must be an object for an array of list-type map';
        errors.push({ reason: 'FieldValueInvalid', field, badValue: item, detail });
        continue;
      }
      const count = (seen.get(identity) ?? 0) + 1;
      seen.set(identity, count);
      if (count !== 2) continue;
      const badValue = isObject(item) && listType === 'map' ? keysOf(item, list) : item;
      errors.push({ reason: 'FieldValueDuplicate', field, badValue, detail: '' });
    }
  };
}

function keysOf(item: JsonObject, { listMapKeys }: ValueInfo): JsonObject {
  const keys = Object.create(null) as JsonObject;
  for (const key of listMapKeys) {
    const value = ownMember(item, key);
    if (value !== undefined) keys[key] = value;
  }
  return keys;
}

function elementChecks(value: ValueInfo): ListCheck | undefined {
  const element = elementOf(value);
  const check = element && compileListChecks(element);
  if (check === undefined) return undefined;
  if (value.cardinality !== 'map') {
    return (list, path, errors) => {
      if (!Array.isArray(list)) return;
      for (const [at, item] of list.entries()) check(item, `${path}[${String(at)}]`, errors);
    };
  }
  return (map, path, errors) => {
    if (!isObject(map)) return;
    for (const key of Object.keys(map)) check(map[key] ?? null, `${path}[${key}]`, errors);
  };
}

function memberChecks({ message }: ValueInfo): ListCheck | undefined {
  if (message?.open === undefined) return undefined;
  const checks = message.fields.flatMap((field) => {
    const check = compileListChecks(field);
    return check === undefined ? [] : [{ name: field.jsonName, check }];
  });
  if (checks.length === 0) return undefined;
  return (object, path, errors) => {
    if (!isObject(object)) return;
    for (const { name, check } of checks) {
      const member = ownMember(object, name);
      if (member !== undefined) check(member, childPath(path, name), errors);
    }
  };
}
