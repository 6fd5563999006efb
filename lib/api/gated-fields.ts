// Fields of switched-off features: dropped from what clients send, kept where the stored object
// uses them already. A walk along the type, compiled once per type and set of gates.
import { isUnset } from './json-equal.ts';
import type { FieldInfo, JsonObject, JsonValue, TypeInfo } from './type-info.ts';

/** Drops from `object` what gates switch off; `old` is undefined on create. Changes `object`. */
export type DropDisabledFields = (
  object: JsonObject,
  old: Readonly<JsonObject> | undefined,
) => void;

type Visit = (holder: JsonObject, field: FieldInfo) => void;

const keepAll: DropDisabledFields = () => undefined;

export function dropDisabledFields(
  type: TypeInfo,
  isOn: (gate: string) => boolean,
): DropDisabledFields {
  const isOff = (field: FieldInfo): boolean => field.gates.some((gate) => !isOn(gate));
  const reaching = typesReaching(type, isOff);
  if (!reaching.has(type)) return keepAll;
  return (object, old) => {
    const used = new Set<FieldInfo>();
    if (old !== undefined) {
      visitOff(old, type, { reaching, isOff }, (_holder, field) => used.add(field));
    }
    visitOff(object, type, { reaching, isOff }, (holder, field) => {
      if (!used.has(field)) Reflect.deleteProperty(holder, field.jsonName);
    });
  };
}

interface Where {
  readonly reaching: ReadonlySet<TypeInfo>;
  readonly isOff: (field: FieldInfo) => boolean;
}

/** Calls `visit` for every disabled field that is set at or below `object`. */
function visitOff(object: JsonObject, type: TypeInfo, where: Where, visit: Visit): void {
  for (const field of type.fields) {
    if (field.jsonName === '-') continue;
    const below = field.message !== undefined && where.reaching.has(field.message);
    if (field.jsonName === '') {
      if (below && field.message !== undefined) visitOff(object, field.message, where, visit);
      continue;
    }
    const value = object[field.jsonName];
    if (value === undefined || value === null) continue;
    if (where.isOff(field)) {
      if (!isUnset(value) && value !== '' && value !== false) visit(object, field);
      continue;
    }
    if (!below || field.message === undefined) continue;
    for (const inner of recordsOf(value, field)) visitOff(inner, field.message, where, visit);
  }
}

function recordsOf(value: JsonValue, field: FieldInfo): readonly JsonObject[] {
  const isRecord = (one: JsonValue | undefined): one is JsonObject =>
    typeof one === 'object' && one !== null && !Array.isArray(one);
  if (field.cardinality === 'single') return isRecord(value) ? [value] : [];
  if (Array.isArray(value)) return value.filter(isRecord);
  return isRecord(value) ? Object.values(value).filter(isRecord) : [];
}

function typesReaching(
  root: TypeInfo,
  isOff: (field: FieldInfo) => boolean,
): ReadonlySet<TypeInfo> {
  const all = new Set([root]);
  // A set's iterator also visits what is added on the way.
  for (const type of all) {
    for (const { message } of type.fields) {
      if (message !== undefined && message.special === undefined) all.add(message);
    }
  }
  const found = new Set([...all].filter((type) => type.fields.some(isOff)));
  for (let grown = true; grown;) {
    grown = false;
    for (const type of all) {
      if (found.has(type)) continue;
      if (!type.fields.some(({ message }) => message !== undefined && found.has(message))) continue;
      found.add(type);
      grown = true;
    }
  }
  return found;
}
