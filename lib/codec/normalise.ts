// From any JSON-shaped value to the canonical object of a kind: checked, in schema order, with its
// omit and zero rules. Closures are compiled once per TypeInfo. A value that is canonical already
// is returned as it is, without a copy.
import { isObject, ownMember, setMember } from '../api/json-value.ts';
import { limits } from '../base/limits.ts';
import { StatusError } from '../base/status.ts';
import type { FieldInfo, JsonObject, JsonValue, TypeInfo } from '../api/type-info.ts';
import type { ApiObject, Decoded, FieldProblem } from './codec.ts';
import { omitRule } from './omit-rule.ts';
import { openFieldReader, readData } from './open-fields.ts';
import { readMap } from './read-map.ts';
import { formReader, formZero, fresh, readAny, readElements } from './scalar-readers.ts';
import { scalarReader, scalarZero } from './scalar-readers.ts';
import type { ReadField, ReadValue } from './scalar-readers.ts';
import { Walk } from './walk.ts';
import type { WalkMode } from './walk.ts';

interface Slot {
  readonly name: string;
  readonly index: number;
  readonly read: ReadField;
  /** What output holds for an unset field; undefined: nothing. */
  readonly zero: JsonValue | undefined;
}

interface Shape {
  /** What failures to read an object of the type begin with. */
  readonly intro: string;
  readonly byName: ReadonlyMap<string, Slot>;
  /** Slots that are always written, in order. */
  readonly always: readonly Slot[];
  readonly read: ReadValue;
  /** For fields that the type does not have, where it keeps them: they come last. */
  readonly unknownSlot: ((name: string) => Slot) | undefined;
  /** The canonical form of an object without fields. */
  readonly zero: JsonValue;
}

const shapes = new WeakMap<TypeInfo, Shape>();
const walk = new Walk();

/**
 * Canonical form of `value` with the problems met on the way.
 * @throws StatusError 400 that names the field, when a value has the wrong type or form.
 */
export function normalise(
  value: JsonValue,
  type: TypeInfo,
  mode: WalkMode,
): Decoded & { readonly members: number } {
  const shape = shapeOf(type);
  walk.start(shape.intro, mode);
  const object = shape.read(value ?? {}, walk) as ApiObject;
  const { problems, members } = walk;
  if (type.open !== undefined) problems.sort(byPath);
  return { object, problems, members };
}

const byPath = (one: FieldProblem, other: FieldProblem): number =>
  one.path < other.path ? -1 : Number(one.path > other.path);

/**
 * The canonical form of an object of ours: unknown fields are dropped, the given object is not
 * changed.
 */
export function canonicalObject(object: Readonly<ApiObject>, type: TypeInfo): ApiObject {
  const shape = shapeOf(type);
  walk.start(shape.intro, { owned: false, reporting: false });
  return shape.read(object, walk) as ApiObject;
}

/**
 * Reads an object that was built in memory (by a patch, an admission plugin): same checks and
 * reports as for a body. The given value is not changed. `base`: as a walk takes it.
 */
export function readObject(value: JsonValue, type: TypeInfo, base?: Readonly<ApiObject>): Decoded {
  const { object, problems } = normalise(value, type, { owned: false, reporting: true, base });
  return { object, problems };
}

/**
 * An object of an open type as somebody stored it. Whatever its metadata looks like, it can be
 * shown, and it has a generation. @throws StatusError 400 when it is no such object at all.
 */
export function readStored(value: JsonValue, type: TypeInfo): ApiObject {
  const mode = { owned: false, reporting: false, lenient: true };
  const { object } = normalise(value, type, mode);
  const { generation = 0, ...metadata } = object.metadata ?? {};
  return generation === 0 ? { ...object, metadata: { ...metadata, generation: 1 } } : object;
}

function shapeOf(type: TypeInfo): Shape {
  return shapes.get(type) ?? compile(type);
}

function compile(type: TypeInfo): Shape {
  const byName = new Map<string, Slot>();
  const always: Slot[] = [];
  let zero: JsonValue | undefined;
  const shape: Shape = {
    intro: introOf(type),
    byName,
    always,
    read: (value, walk) => readMessage(shape, value, walk),
    unknownSlot:
      type.open?.unknownFields === 'keep'
        ? (name) => ({ name, index: byName.size, read: readData, zero: undefined })
        : undefined,
    get zero() {
      zero ??= zeroOf(always);
      return zero;
    },
  };
  shapes.set(type, shape); // Before its fields: types may hold themselves.
  const add = (name: string, read: ReadField, fieldZero: JsonValue | undefined): void => {
    const slot = { name, index: byName.size, read, zero: fieldZero };
    byName.set(name, slot);
    if (fieldZero !== undefined) always.push(slot);
  };
  if (type.hasTypeMeta) {
    const read = type.open === undefined ? readTypeMeta : readOpenTypeMeta;
    add('kind', read, undefined);
    add('apiVersion', read, undefined);
  }
  for (const field of flatFields(type)) {
    if (byName.has(field.jsonName)) continue;
    if (type.open === undefined) add(field.jsonName, fieldReader(field), field.zero);
    else if (type.hasTypeMeta && field.jsonName === 'metadata') {
      add(field.jsonName, openMetadataReader(field), undefined);
    } else add(field.jsonName, openFieldReader(field, messageReader), undefined);
  }
  return shape;
}

/** Objects of open types are named as their requests do; the id of a root has its version. */
function introOf({ id, name, open }: TypeInfo): string {
  if (open === undefined) return `${name} cannot be read: `;
  const version = id.slice(id.lastIndexOf('/') + 1, -name.length - 1);
  return `${name} in version ${JSON.stringify(version)} cannot be handled as a ${name}: `;
}

function zeroOf(always: readonly Slot[]): JsonObject {
  const zero: JsonObject = {};
  for (const slot of always)
    if (slot.zero !== undefined) setMember(zero, slot.name, fresh(slot.zero));
  return zero;
}

/** Fields in output order, those of inlined messages in the place of their message. */
function* flatFields(type: TypeInfo): Generator<FieldInfo> {
  for (const field of type.fields) {
    if (field.jsonName === '-') continue;
    if (field.jsonName === '' && field.message !== undefined) yield* flatFields(field.message);
    else yield field;
  }
}

const readTypeMeta: ReadField = (value, walk) => {
  if (value === null || value === '') return undefined;
  return typeof value === 'string' ? value : walk.fail('a string', value);
};

/** Validation checks whether an embedded object names its kind. */
const readOpenTypeMeta: ReadField = (value, walk) => {
  if (value === '') return value;
  const isEmbedded = walk.depth > 1;
  if (!isEmbedded || value === null || typeof value === 'string') return readTypeMeta(value, walk);
  return walk.lenient ? undefined : walk.failInvalid(value, 'must be a string');
};

/** Metadata of a whole resource, which is of a closed type. */
function openMetadataReader(field: FieldInfo): ReadField {
  const read = openFieldReader(field, messageReader);
  return (value, walk) => {
    if (walk.lenient) return readWellFormed(value, read, walk);
    if (walk.depth === 1) return read(value, walk);
    walk.embedded = { metadata: value, depth: walk.depth };
    const metadata = read(value, walk);
    walk.embedded = undefined;
    return metadata;
  };
}

/** Without the members that cannot be read; undefined: it is no metadata at all. */
function readWellFormed(value: JsonValue, read: ReadField, walk: Walk): JsonValue | undefined {
  if (!isObject(value)) return undefined;
  const { depth } = walk;
  const top = stackTop;
  const tryRead = (metadata: JsonObject): JsonValue | undefined => {
    try {
      return read(metadata, walk);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      walk.depth = depth;
      stackTop = top;
      return undefined;
    }
  };
  const whole = tryRead(value);
  if (whole !== undefined) return whole;
  const members = Object.entries(value).filter(
    ([name, member]) => member !== undefined && tryRead({ [name]: member }) !== undefined,
  );
  return tryRead(Object.fromEntries(members));
}

function fieldReader(field: FieldInfo): ReadField {
  const read = cardinalReader(field);
  const isOmitted = omitRule(field);
  const zero = field.zero;
  return (value, walk) => {
    if (value === null) return zero === undefined ? undefined : fresh(zero);
    const result = read(value, walk);
    if (result === null) return zero === undefined ? undefined : result;
    if (!isOmitted(result)) return result;
    return zero === undefined ? undefined : fresh(zero);
  };
}

function cardinalReader(field: FieldInfo): ReadValue {
  const { read, zero } = elementReader(field);
  if (field.cardinality === 'single') return read;
  if (field.cardinality === 'map') return (value, walk) => readMap(value, read, zero(), walk);
  return (value, walk) =>
    Array.isArray(value) ? readElements(value, read, zero(), walk) : walk.fail('a list', value);
}

interface ElementReader {
  readonly read: ReadValue;
  /** What null stands for as an element of a list or map. */
  readonly zero: () => JsonValue;
}

function elementReader(field: FieldInfo): ElementReader {
  const { scalar, message } = field;
  if (scalar !== undefined) return { read: scalarReader(scalar), zero: () => scalarZero(scalar) };
  if (message === undefined) return { read: readAny, zero: () => null };
  return { read: messageReader(message), zero: messageZero(message) };
}

function messageReader(message: TypeInfo): ReadValue {
  if (message.special !== undefined) {
    const schema = message.fields.find((inner) => inner.message !== undefined)?.message;
    const readSchema: ReadValue =
      schema === undefined ? readAny : (value, walk) => shapeOf(schema).read(value, walk);
    return formReader(message.special, readSchema);
  }
  const inner = message.fields[0];
  if (message.isNamedList && inner !== undefined) return cardinalReader(inner);
  return shapeOf(message).read;
}

function messageZero(message: TypeInfo): () => JsonValue {
  const { special } = message;
  if (special !== undefined) return () => formZero(special);
  if (message.isNamedList && message.fields.length > 0) return () => null;
  const shape = shapeOf(message);
  return () => shape.zero;
}

/** Results of the message being read and of the messages around it: one stack for all. */
const stackSlots: Slot[] = [];
const stackValues: JsonValue[] = [];
let stackTop = 0;
const { decodedSlotsKeptMax } = limits;

function readMessage(shape: Shape, value: JsonValue, walk: Walk): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return walk.fail('an object', value);
  }
  const at = walk.depth;
  if (at === 0) resetStack();
  const bottom = stackTop;
  const { base } = walk;
  let last = -1;
  let alwaysCount = 0;
  let canonical = true;
  for (const key in value) {
    walk.members += 1;
    const given = value[key];
    const slot = shape.byName.get(key) ?? shape.unknownSlot?.(key);
    if (slot === undefined || given === undefined) {
      canonical = false;
      if (slot === undefined) walk.unknown(key, given);
      continue;
    }
    walk.path[at] = key;
    walk.depth = at + 1;
    const result = base === undefined ? slot.read(given, walk) : readBeside(base, slot, given);
    walk.depth = at;
    if (result === undefined) {
      canonical = false;
      continue;
    }
    if (result !== given) {
      if (walk.owned) setMember(value, key, result);
      else canonical = false;
    }
    if (slot.index < last) canonical = false;
    last = slot.index;
    if (slot.zero !== undefined) alwaysCount += 1;
    stackSlots[stackTop] = slot;
    stackValues[stackTop] = result;
    stackTop += 1;
  }
  const end = stackTop;
  stackTop = bottom;
  if (canonical && alwaysCount === shape.always.length) return value;
  return rebuild(shape, bottom, end);
}

/** A member of a message whose twin in the base of the walk is `base`. */
function readBeside(base: JsonValue, slot: Slot, given: JsonValue): JsonValue | undefined {
  const twin = isObject(base) ? ownMember(base, slot.name) : undefined;
  if (twin === given && typeof given === 'object' && given !== null) return given;
  walk.base = twin;
  const result = slot.read(given, walk);
  walk.base = base;
  return result;
}

/** After a failed walk, or one over a huge object, a new stack is made. */
function resetStack(): void {
  stackTop = 0;
  if (stackValues.length > decodedSlotsKeptMax) {
    stackSlots.length = 0;
    stackValues.length = 0;
  }
}

function rebuild(shape: Shape, base: number, end: number): JsonObject {
  sortSlots(base, end);
  const result: JsonObject = {};
  let next = 0;
  for (let position = base; position < end; position += 1) {
    const slot = stackSlots[position];
    const value = stackValues[position];
    if (slot === undefined || value === undefined) continue;
    next = addUnset(shape, next, slot.index, result);
    if (slot.zero !== undefined) next += 1;
    setMember(result, slot.name, value);
  }
  addUnset(shape, next, shape.byName.size, result);
  return result;
}

/**
 * Writes the always-written fields from the `next`th that come before field `index`; returns the
 * first that does not.
 */
function addUnset(shape: Shape, next: number, index: number, result: JsonObject): number {
  let position = next;
  for (; position < shape.always.length; position += 1) {
    const slot = shape.always[position];
    if (slot?.zero === undefined || slot.index >= index) break;
    setMember(result, slot.name, fresh(slot.zero));
  }
  return position;
}

/** Members up to this many are sorted in place, which takes the square of their number. */
const fewMembers = 64;

/** The few members of a message mostly come in order; those of open types may be many. */
function sortSlots(base: number, end: number): void {
  if (end - base > fewMembers) sortManySlots(base, end);
  else insertionSort(base, end);
}

function sortManySlots(base: number, end: number): void {
  const entries: { readonly slot: Slot | undefined; readonly value: JsonValue | undefined }[] = [];
  for (let at = base; at < end; at += 1)
    entries.push({ slot: stackSlots[at], value: stackValues[at] });
  entries.sort((one, other) => (one.slot?.index ?? 0) - (other.slot?.index ?? 0));
  for (const [at, { slot, value }] of entries.entries()) {
    if (slot === undefined || value === undefined) continue;
    stackSlots[base + at] = slot;
    stackValues[base + at] = value;
  }
}

function insertionSort(base: number, end: number): void {
  for (let position = base + 1; position < end; position += 1) {
    const slot = stackSlots[position];
    const value = stackValues[position];
    if (slot === undefined || value === undefined) continue;
    let hole = position;
    for (; hole > base; hole -= 1) {
      const before = stackSlots[hole - 1];
      const beforeValue = stackValues[hole - 1];
      if (before === undefined || beforeValue === undefined || before.index <= slot.index) break;
      stackSlots[hole] = before;
      stackValues[hole] = beforeValue;
    }
    stackSlots[hole] = slot;
    stackValues[hole] = value;
  }
}
