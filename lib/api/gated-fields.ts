// Fields of switched-off or retired features: dropped from what clients send, kept where the stored
// object uses them already. A walk along the type, compiled once per type and set of gates.
import { isObject } from './json-value.ts';
import { isAbsent, isUnset } from './presence.ts';
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
  const isOff = (field: FieldInfo): boolean =>
    field.options['retired'] === true || gatesOf(field).some((gate) => !isOn(gate));
  const reaching = typesReaching(type, isOff);
  if (!reaching.has(type)) return keepAll;
  const plan = planner({ reaching, isOff })(type);
  return (object, old) => {
    // Most objects set none of them: the stored one is looked at when this one does.
    let used: Set<FieldInfo> | undefined;
    visitOff(object, plan, (holder, field) => {
      used ??= usedIn(old, plan);
      if (!used.has(field)) Reflect.deleteProperty(holder, field.jsonName);
    });
  };
}

/** Every gate without which a client's value of the field is dropped, whatever its kind. */
export function gatesOf({ gates, options }: FieldInfo): readonly string[] {
  if (options['strategyDrops'] === true) return [];
  const features = options['feature'];
  return Array.isArray(features) ? [...gates, ...(features as string[])] : gates;
}

function usedIn(old: Readonly<JsonObject> | undefined, plan: Plan): Set<FieldInfo> {
  const used = new Set<FieldInfo>();
  if (old !== undefined) visitOff(old, plan, (_holder, field) => used.add(field));
  return used;
}

interface Where {
  readonly reaching: ReadonlySet<TypeInfo>;
  readonly isOff: (field: FieldInfo) => boolean;
}

/** The fields of one type that matter: disabled ones, and those below which there are some. */
interface Plan {
  readonly off: readonly FieldInfo[];
  readonly below: readonly { readonly field: FieldInfo; readonly plan: Plan }[];
}

function planner({ reaching, isOff }: Where): (type: TypeInfo) => Plan {
  const plans = new Map<TypeInfo, Plan>();
  const planOf = (type: TypeInfo): Plan => {
    const known = plans.get(type);
    if (known !== undefined) return known;
    const off: FieldInfo[] = [];
    const below: { field: FieldInfo; plan: Plan }[] = [];
    const plan = { off, below };
    plans.set(type, plan); // Before its fields: types may hold themselves.
    const add = (fields: readonly FieldInfo[]): void => {
      for (const field of fields) {
        const { message, jsonName } = field;
        if (jsonName === '-') continue;
        const reaches = message !== undefined && reaching.has(message);
        if (jsonName === '') {
          if (reaches) add(message.fields);
        } else if (isOff(field)) off.push(field);
        else if (reaches) below.push({ field, plan: planOf(message) });
      }
    };
    add(type.fields);
    return plan;
  };
  return planOf;
}

/**
 * Calls `visit` for every disabled field that is set at or below `object`. A message that may not
 * be left empty goes with what `visit` takes from it.
 */
function visitOff(object: JsonObject, { off, below }: Plan, visit: Visit): void {
  for (const field of off) {
    if (!isUnset(field, object[field.jsonName])) visit(object, field);
  }
  for (const { field, plan } of below) {
    const value = object[field.jsonName];
    if (isAbsent(value)) continue;
    if (field.cardinality === 'single') {
      if (!isObject(value)) continue;
      const canGo = field.message?.options['dropEmptied'] === true && !isBare(value);
      visitOff(value, plan, visit);
      if (canGo && isBare(value)) Reflect.deleteProperty(object, field.jsonName);
      continue;
    }
    for (const inner of recordsOf(value)) visitOff(inner, plan, visit);
  }
}

const isBare = (value: JsonObject): boolean => Object.values(value).every(isAbsent);

function recordsOf(value: JsonValue): readonly JsonObject[] {
  if (Array.isArray(value)) return value.filter(isObject);
  return isObject(value) ? Object.values(value).filter(isObject) : [];
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
