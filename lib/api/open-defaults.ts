// Defaults of schemas: they take the place of what is absent, and of null where null is no value.
// From the top down, so that what a default leaves open is filled in as well; never into an object
// that is absent itself. Compiled once per type.
import { cloneJson, isObject, ownMember, setMember } from './json-value.ts';
import type { JsonObject, JsonValue, TypeInfo, ValueInfo } from './type-info.ts';
import { elementOf, valueOf } from './value-info.ts';

/** Fills in what a value leaves open, in place. */
type Complete = (value: JsonValue) => void;

const compiled = new WeakMap<TypeInfo, Complete>();

/** Completes an object of an open type, in place. */
export function completeOpen(object: JsonObject, type: TypeInfo): void {
  let complete = compiled.get(type);
  if (complete === undefined) {
    complete = compile(valueOf(type)) ?? (() => undefined);
    compiled.set(type, complete);
  }
  complete(object);
}

/** undefined: neither the value's members nor anything below has a default. */
function compile(value: ValueInfo): Complete | undefined {
  const ofMembers = value.cardinality === 'single' ? completeMembers(value) : undefined;
  const ofElements = completeElements(value);
  if (ofMembers === undefined || ofElements === undefined) return ofMembers ?? ofElements;
  return (given) => {
    ofMembers(given);
    ofElements(given);
  };
}

function completeMembers({ message }: ValueInfo): Complete | undefined {
  const { open } = message ?? {};
  if (message === undefined || open === undefined) return undefined;
  const defaulted: { readonly name: string; readonly steps: Steps }[] = [];
  const nested: { readonly name: string; readonly below: Complete }[] = [];
  const members = new Map<string, ValueInfo>([
    ...message.fieldByJsonName,
    ...(open.typeMeta ?? []),
  ]);
  for (const [name, member] of members) {
    const steps = stepsOf(member);
    if (steps.default !== undefined) defaulted.push({ name, steps });
    if (steps.below !== undefined) nested.push({ name, below: steps.below });
  }
  if (defaulted.length === 0 && nested.length === 0) return undefined;
  return (object) => {
    if (!isObject(object)) return;
    for (const { name, steps } of defaulted) {
      const member = ownMember(object, name);
      if (member === undefined || isOpen(member, steps)) setMember(object, name, defaultOf(steps));
    }
    for (const { name, below } of nested) {
      const member = ownMember(object, name);
      if (member !== undefined) below(member);
    }
  };
}

function completeElements(value: ValueInfo): Complete | undefined {
  const element = elementOf(value);
  if (element === undefined) return undefined;
  const steps = stepsOf(element);
  if (steps.default === undefined && steps.below === undefined) return undefined;
  return value.cardinality === 'map'
    ? (map) => {
        if (isObject(map)) for (const key of Object.keys(map)) completeAt(map, key, steps);
      }
    : (list) => {
        if (Array.isArray(list)) for (const at of list.keys()) completeAt(list, at, steps);
      };
}

/** What is done to a member or element: first its own default, then everything below. */
interface Steps {
  readonly default: JsonValue | undefined;
  readonly isNullable: boolean;
  readonly below: Complete | undefined;
}

const stepsOf = (value: ValueInfo): Steps => ({
  default: value.schema?.default,
  isNullable: value.nullable === true,
  below: compile(value),
});

function completeAt<Key extends string | number>(
  holder: Record<Key, JsonValue | undefined>,
  key: Key,
  steps: Steps,
): void {
  if (steps.default !== undefined && isOpen(holder[key], steps)) holder[key] = defaultOf(steps);
  const value = holder[key];
  if (value !== undefined) steps.below?.(value);
}

const isOpen = (value: JsonValue | undefined, { isNullable }: Steps): boolean =>
  value === null && !isNullable;

const defaultOf = (steps: Steps): JsonValue => cloneJson(steps.default ?? null);
