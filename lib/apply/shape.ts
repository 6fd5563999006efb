// How values of a type are owned and merged: as one, member by member, or element by element. Made
// of TypeInfo once a type, for built-in kinds and for types from schemas alike (specification 2,
// Merge strategy markers).
import { defaultValueOf } from '../api/default-value.ts';
import { keyLabel } from './path-element.ts';
import type { FieldInfo, JsonValue, TypeInfo, ValueInfo } from '../api/type-info.ts';
import { elementOf, isAtomicMap, valueOf } from '../api/value-info.ts';
import { sortUtf8 } from '../base/utf8-order.ts';

/** A whole: scalars, and what is marked atomic. */
export interface LeafShape {
  readonly kind: 'leaf';
}

/** Members of their own. */
export interface ObjectShape {
  readonly kind: 'object';
  /** Fields that the type declares. */
  readonly named: ReadonlyMap<string, Shape>;
  /** Any other member: the entries of a map. undefined: there are no others. */
  readonly entries: Shape | undefined;
}

/** A list of scalars, each of which is in it or not. */
export interface SetShape {
  readonly kind: 'set';
}

/** A list of objects that some of their members tell apart. */
export interface KeyedShape {
  readonly kind: 'keyed';
  /** In the order of their names. */
  readonly keys: readonly KeyField[];
  readonly element: Shape;
}

export interface KeyField {
  readonly name: string;
  /** How a step of a path begins to say its value. */
  readonly label: string;
  /** What an absent one stands for. */
  readonly byDefault: JsonValue | undefined;
}

/** Nothing is declared: objects have entries, all else is a whole. */
export interface OpenShape {
  readonly kind: 'open';
}

export type Shape = LeafShape | ObjectShape | SetShape | KeyedShape | OpenShape;
export type ListShape = SetShape | KeyedShape;

export const leafShape: LeafShape = { kind: 'leaf' };
const setShape: SetShape = { kind: 'set' };
const openShape: OpenShape = { kind: 'open' };
export const openObject: ObjectShape = { kind: 'object', named: new Map(), entries: openShape };

const ofTypes = new WeakMap<TypeInfo, ObjectShape>();
const ofValues = new WeakMap<ValueInfo, Shape>();
const ofRoots = new WeakMap<TypeInfo, Shape>();

/** Of an object of the type. */
export function shapeOf(type: TypeInfo): Shape {
  let shape = ofRoots.get(type);
  if (shape === undefined) {
    shape = shapeOfValue(valueOf(type));
    ofRoots.set(type, shape);
  }
  return shape;
}

function shapeOfValue(value: ValueInfo): Shape {
  let shape = ofValues.get(value);
  if (shape === undefined) {
    shape = makeShape(value);
    ofValues.set(value, shape);
  }
  return shape;
}

function makeShape(value: ValueInfo): Shape {
  if (isAtomicMap(value)) return leafShape;
  switch (value.cardinality) {
    case 'single':
      return shapeOfSingle(value);
    case 'map': {
      const entry = elementOf(value);
      const entries = entry === undefined ? openShape : shapeOfValue(entry);
      return { kind: 'object', named: new Map(), entries };
    }
    case 'list':
      return shapeOfList(value);
  }
}

function shapeOfSingle({ scalar, message }: ValueInfo): Shape {
  if (message === undefined) return scalar === undefined ? openShape : leafShape;
  if (message.special !== undefined) return specialShapes.get(message.special) ?? leafShape;
  const [only] = message.fields;
  if (message.isNamedList && only !== undefined) return shapeOfValue(only);
  return shapeOfMessage(message);
}

/** Forms that hold JSON of any shape; all others are texts and numbers. */
const specialShapes = new Map<string, Shape>([
  ['rawExtension', openObject],
  ['fieldsV1', openObject],
  ['json', openShape],
  ['schemaOrList', openShape],
  ['schemaOrBool', openShape],
  ['schemaOrStrings', openShape],
]);

function shapeOfMessage(message: TypeInfo): ObjectShape {
  const known = ofTypes.get(message);
  if (known !== undefined) return known;
  const named = new Map<string, Shape>();
  const entries = message.open?.unknownFields === 'keep' ? openShape : undefined;
  const shape: ObjectShape = { kind: 'object', named, entries };
  ofTypes.set(message, shape); // Before its fields: types may hold themselves.
  if (message.hasTypeMeta) named.set('kind', leafShape).set('apiVersion', leafShape);
  for (const [name, field] of message.fieldByJsonName) named.set(name, shapeOfValue(field));
  return shape;
}

function shapeOfList(list: ValueInfo): Shape {
  const { listType, listMapKeys } = list;
  if (listType === 'set') return setShape;
  if (listType === 'map') return keyedShape(list, listMapKeys);
  const { patchStrategies = [], patchMergeKey } = list as Partial<FieldInfo>;
  if (listType === 'atomic' || !patchStrategies.includes('merge')) return leafShape;
  return patchMergeKey === undefined ? setShape : keyedShape(list, [patchMergeKey]);
}

function keyedShape(list: ValueInfo, names: readonly string[]): Shape {
  const element = elementOf(list);
  if (element === undefined || names.length === 0) return leafShape;
  const keys = sortUtf8([...names]).map((name) => {
    const field = element.message?.fieldByJsonName.get(name);
    const byDefault = field === undefined ? undefined : publishedDefault(field);
    return { name, label: keyLabel(name), byDefault };
  });
  return { kind: 'keyed', keys, element: shapeOfValue(element) };
}

const publishedDefault = (field: FieldInfo): JsonValue | undefined =>
  field.options['publishesDefault'] === true ? defaultValueOf(field) : field.schema?.default;
