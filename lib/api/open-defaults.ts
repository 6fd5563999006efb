// Defaults of schemas: they take the place of what is absent, and of null where null is no value.
// From the top down, so that what a default leaves open is filled in as well; never into an object
// that is absent itself. Compiled once per type.
import { cloneJson, isObject, ownMember, setMember } from './json-value.ts';
import type { JsonObject, JsonValue, TypeInfo, ValueInfo } from './type-info.ts';
import { elementOf, memberOf, valueOf } from './value-info.ts';

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
  const speaksOfMetadata = [...defaulted, ...nested].some(({ name }) => name === 'metadata');
  const metadata =
    speaksOfMetadata && open.typeMeta?.has('metadata') === true
      ? message.fieldByJsonName.get('metadata')?.message
      : undefined;
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
    const made = metadata === undefined ? undefined : ownMember(object, 'metadata');
    if (made !== undefined && metadata !== undefined) dropUnknown(made, metadata);
  };
}

/** Fields that metadata has not, which only a default can have brought. */
function dropUnknown(metadata: JsonValue, { fieldByJsonName }: TypeInfo): void {
  if (!isObject(metadata)) return;
  for (const name of Object.keys(metadata)) {
    if (!fieldByJsonName.has(name)) Reflect.deleteProperty(metadata, name);
  }
}

/** A default as it is used. */
function usedDefault(value: JsonValue, info: ValueInfo): JsonValue {
  const used = cloneJson(value);
  dropBelow(used, info);
  return used;
}

/** Drops what the metadata of embedded objects in a default does not know. */
function dropBelow(value: JsonValue, info: ValueInfo): void {
  if (Array.isArray(value)) {
    const element = info.cardinality === 'map' ? undefined : elementOf(info);
    if (element !== undefined) for (const item of value) dropBelow(item, element);
    return;
  }
  if (!isObject(value)) return;
  const { message } = info;
  const metadata = ownMember(value, 'metadata');
  if (message?.open?.typeMeta !== undefined && metadata !== undefined) {
    const known = message.fieldByJsonName.get('metadata')?.message;
    if (known !== undefined) dropUnknown(metadata, known);
  }
  for (const [name, member] of Object.entries(value)) {
    const below = memberOf(info, name);
    if (below !== undefined && member !== undefined) dropBelow(member, below);
  }
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
  default:
    value.schema?.default === undefined ? undefined : usedDefault(value.schema.default, value),
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
