// Defaulting: values of fields that a client left unset. Defaults that stand alone are options of
// their field or part of a schema (open-defaults.ts), those that depend on other fields are rules
// of kinds. Only types that have any below them are visited; steps are compiled once per type.
import { defaultValueOf } from './default-value.ts';
import type { DefaultRule, DefaultRules, DefaultsContext } from './default-rule.ts';
import { isAbsent, isZero } from './presence.ts';
import {
  cloneAlike,
  cloneBeside,
  cloneJson,
  copyOfLevel,
  isObject,
  ownMember,
  setMember,
} from './json-value.ts';
import { roundToMilli } from './quantity.ts';
import { completeOpen } from './open-defaults.ts';
import { newRecord } from './record.ts';
import type { FieldInfo, JsonObject, JsonValue, TypeInfo } from './type-info.ts';

export interface Defaults {
  /**
   * Fills in what `object` leaves open, in place. It has the form that the codec reads: absent
   * fields are absent or null, maps and lists are never of another type.
   */
  apply(object: JsonObject, type: TypeInfo): void;
  /**
   * The same for an object that was made of `base`, which lacks no defaults: only where the two
   * differ is it looked at. Neither is changed: the result shares with `base` what it has of it,
   * and nothing with what is new in `object`.
   */
  completed(object: Readonly<JsonObject>, base: Readonly<JsonObject>, type: TypeInfo): JsonObject;
  /**
   * What beyond the options decides the defaults of a type: the versions of the rules below it and
   * the gates that they and the options' fields ask for. Changes with them.
   */
  versionOf(type: TypeInfo): string;
}

/** What is done to an object of one type; inlined messages are part of it. */
interface Plan {
  readonly values: DefaultedField[];
  /** Fields below which something has a default. */
  readonly nested: Map<string, Descend>;
  /** Of those, the plans of messages and of the elements of lists of messages. */
  readonly below: Map<string, { readonly plan: Plan; readonly isList: boolean }>;
  readonly nestedFields: { readonly name: string; readonly descend: Descend }[];
  /** Messages that are always there: they may be absent and still hold defaults. */
  readonly constant: { readonly name: string; readonly below: Plan }[];
  readonly rules: DefaultRule[];
}

type Descend = (value: JsonValue) => void;

interface DefaultedField {
  readonly name: string;
  readonly value: JsonValue;
  readonly isOpen: (value: JsonValue | undefined) => boolean;
}

/**
 * From this many fields on, the members that are there are looked up instead of all that may be.
 */
const lookupCountMin = 6;

export function createDefaults(context: DefaultsContext, rules: DefaultRules): Defaults {
  const plans = new WeakMap<TypeInfo, Plan>();
  const ruleOf: RuleOf = ({ id }) => (Object.hasOwn(rules, id) ? rules[id] : undefined);
  const hasDefaults = defaultsFinder(ruleOf);
  const planOf = (type: TypeInfo): Plan => {
    const known = plans.get(type);
    if (known !== undefined) return known;
    const plan: Plan = {
      values: [],
      nested: new Map(),
      below: new Map(),
      nestedFields: [],
      constant: [],
      rules: [],
    };
    plans.set(type, plan); // Before its fields: types may hold themselves.
    addType(plan, type, { context, planOf, ruleOf, hasDefaults });
    return plan;
  };
  return {
    apply: (object, type) => {
      if (type.open === undefined) complete(planOf(type), object, context);
      else completeOpen(object, type);
    },
    completed: (object, base, type) => {
      if (type.open === undefined) return completeBeside(planOf(type), object, base, context);
      const made = cloneAlike(object);
      completeOpen(made, type);
      return made;
    },
    versionOf: (type) => versionOf(type, context, ruleOf),
  };
}

/** Own values first, then everything below, then the rules of the type. */
function complete(plan: Plan, object: JsonObject, context: DefaultsContext): void {
  for (const { name, value, isOpen } of plan.values) {
    if (isOpen(object[name])) object[name] = cloneJson(value);
  }
  const { nested, nestedFields } = plan;
  if (nestedFields.length < lookupCountMin) {
    for (const { name, descend } of nestedFields) {
      const value = object[name];
      if (typeof value === 'object' && value !== null) descend(value);
    }
  } else {
    for (const name in object) {
      const value = object[name];
      if (typeof value === 'object' && value !== null) nested.get(name)?.(value);
    }
  }
  for (const { name, below } of plan.constant) {
    if (isAbsent(object[name])) addConstant(object, name, below, context);
  }
  for (const rule of plan.rules) rule.complete(object, context);
}

/** As `complete`, of a copy that shares with `base`, which is complete. */
function completeBeside(
  plan: Plan,
  object: Readonly<JsonObject>,
  base: Readonly<JsonObject>,
  context: DefaultsContext,
): JsonObject {
  const own = copyOfLevel(object);
  for (const { name, value, isOpen } of plan.values) {
    if (isOpen(own[name])) own[name] = cloneJson(value);
  }
  for (const name of Object.keys(own)) {
    const value = own[name];
    if (typeof value !== 'object' || value === null) continue;
    const twin = ownMember(base, name);
    if (value !== twin) setMember(own, name, memberBeside(plan, name, value, twin, context));
  }
  for (const { name, below } of plan.constant) {
    if (isAbsent(own[name])) addConstant(own, name, below, context);
  }
  let made = own;
  for (const rule of plan.rules) {
    const { parts } = rule;
    if (parts?.every((path) => memberAt(made, path) === memberAt(base, path)) === true) continue;
    made = parts === undefined ? cloneAlike(made) : ownParts(made, parts);
    rule.complete(made, context);
  }
  return made;
}

function memberBeside(
  { nested, below }: Plan,
  name: string,
  value: JsonValue,
  twin: JsonValue | undefined,
  context: DefaultsContext,
): JsonValue {
  const found = below.get(name);
  if (found?.isList === false && isObject(value) && isObject(twin)) {
    return completeBeside(found.plan, value, twin, context);
  }
  if (found?.isList === true && Array.isArray(value) && Array.isArray(twin)) {
    const known = new Set(twin);
    return value.map((element) => {
      if (!isObject(element) || known.delete(element)) return element;
      const made = cloneAlike(element);
      complete(found.plan, made, context);
      return made;
    });
  }
  const descend = nested.get(name);
  if (descend === undefined) return cloneBeside(value, twin);
  const made = cloneAlike(value);
  descend(made);
  return made;
}

function memberAt(object: Readonly<JsonObject>, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const name of path) value = isObject(value) ? ownMember(value, name) : undefined;
  return value;
}

/** Makes the parts the object's own: they may be changed. */
function ownParts(object: JsonObject, parts: readonly (readonly string[])[]): JsonObject {
  const own = new Set([object]);
  for (const path of parts) {
    let parent = object;
    for (const [at, name] of path.entries()) {
      const value = ownMember(parent, name);
      if (value === undefined) break;
      const isPart = at === path.length - 1;
      if (!isPart && !isObject(value)) break;
      if (!isPart && own.has(value as JsonObject)) {
        parent = value as JsonObject;
        continue;
      }
      const made = isPart ? cloneAlike(value) : copyOfLevel(value as JsonObject);
      setMember(parent, name, made);
      if (!isObject(made)) break;
      own.add(made);
      parent = made;
    }
  }
  return object;
}

/** What an absent message would hold is found out on an empty one. */
function addConstant(object: JsonObject, name: string, plan: Plan, context: DefaultsContext): void {
  const made = newRecord();
  complete(plan, made, context);
  for (const key in made) {
    if (made[key] !== undefined) object[name] = made;
  }
}

interface Compiling {
  readonly context: DefaultsContext;
  readonly planOf: (type: TypeInfo) => Plan;
  readonly ruleOf: RuleOf;
  readonly hasDefaults: (type: TypeInfo) => boolean;
}

/** The rule of a type by its id. */
type RuleOf = (type: TypeInfo) => DefaultRule | undefined;

function addType(plan: Plan, type: TypeInfo, compiling: Compiling): void {
  for (const field of type.fields) {
    if (field.jsonName === '') {
      if (field.message !== undefined) addType(plan, field.message, compiling);
      continue;
    }
    const value = openValue(field, compiling.context);
    if (value !== undefined) plan.values.push(value);
    const descend = descentOf(field, compiling);
    if (descend === undefined) continue;
    plan.nested.set(field.jsonName, descend);
    plan.nestedFields.push({ name: field.jsonName, descend });
    const { message, cardinality, pointer } = field;
    if (message !== undefined && cardinality !== 'map') {
      const below = { plan: compiling.planOf(message), isList: cardinality === 'list' };
      plan.below.set(field.jsonName, below);
    }
    if (message !== undefined && cardinality === 'single' && !pointer) {
      plan.constant.push({ name: field.jsonName, below: compiling.planOf(message) });
    }
  }
  const rule = compiling.ruleOf(type);
  if (rule !== undefined) plan.rules.push(rule);
}

function openValue(field: FieldInfo, { isOn }: DefaultsContext): DefaultedField | undefined {
  const value = defaultValueOf(field);
  // Without tracked presence a zero value and an absent one are the same: nothing to fill in.
  if (value === undefined || (!field.pointer && isZero(value))) return undefined;
  if (!field.gates.every(isOn)) return undefined;
  return { name: field.jsonName, value, isOpen: field.pointer ? isAbsent : isZero };
}

function descentOf(
  field: FieldInfo,
  { context, planOf, hasDefaults }: Compiling,
): Descend | undefined {
  if (isResourceList(field)) return roundAmounts;
  const { message, cardinality } = field;
  if (message === undefined || !hasDefaults(message)) return undefined;
  const plan = planOf(message);
  if (cardinality === 'single') {
    return (value) => {
      if (isObject(value)) complete(plan, value, context);
    };
  }
  return (value) => {
    const elements: readonly (JsonValue | undefined)[] = Array.isArray(value)
      ? value
      : Object.values(isObject(value) ? value : {});
    for (const element of elements) if (isObject(element)) complete(plan, element, context);
  };
}

const isResourceList = ({ options, cardinality }: FieldInfo): boolean =>
  cardinality === 'map' && options['alias'] === 'ResourceList';

/** Amounts of resources have at most three decimals, where it is the core group's own. */
function roundAmounts(amounts: JsonValue): void {
  if (!isObject(amounts)) return;
  for (const resource in amounts) {
    const amount = amounts[resource];
    if (typeof amount === 'string') amounts[resource] = roundToMilli(amount);
  }
}

/** Tells whether something at or below a type has a default. */
function defaultsFinder(ruleOf: RuleOf): (type: TypeInfo) => boolean {
  const reaching = new WeakMap<TypeInfo, boolean>();
  const hasOwnDefaults = (type: TypeInfo): boolean =>
    ruleOf(type) !== undefined ||
    type.fields.some(
      (field) => field.options['defaultValue'] !== undefined || isResourceList(field),
    );
  return (type) => {
    const known = reaching.get(type);
    if (known !== undefined) return known;
    let found = false;
    for (const below of typesBelow(type)) found ||= hasOwnDefaults(below);
    reaching.set(type, found);
    return found;
  };
}

/** Types whose JSON is no object with their fields have no defaults below. */
function typesBelow(root: TypeInfo): ReadonlySet<TypeInfo> {
  const found = new Set([root]);
  // A set's iterator also visits what is added on the way.
  for (const type of found) {
    if (type.special !== undefined || type.isNamedList) continue;
    for (const { message } of type.fields) if (message !== undefined) found.add(message);
  }
  return found;
}

function versionOf(type: TypeInfo, { isOn }: DefaultsContext, ruleOf: RuleOf): string {
  const parts: string[] = [];
  const gates = new Set<string>();
  for (const below of typesBelow(type)) {
    const rule = ruleOf(below);
    if (rule !== undefined) parts.push(`${below.id}:${String(rule.version)}`);
    for (const gate of rule?.gates ?? []) gates.add(gate);
    for (const field of below.fields) {
      if (field.options['defaultValue'] === undefined) continue;
      for (const gate of field.gates) gates.add(gate);
    }
  }
  return [...parts, ...[...gates].map((gate) => `${gate}=${String(isOn(gate))}`)].sort().join();
}
